package spec

import (
	"fmt"
	"time"
)

// says gives a limit's rule in words.
func (l LimitRule) says() string {
	switch {
	case l.Text != "":
		return l.Text
	case l.Default == nil && l.Max != nil:
		return "no default, at most " + l.amount(l.Max.Hard)
	case l.Default == nil:
		return "no bound"
	}
	text := l.amount(l.Default.Hard)
	if l.Default.Soft != l.Default.Hard {
		text = l.amount(l.Default.Soft) + " soft, " + text + " hard"
	}
	text += " by default"
	if l.Max != nil && l.Max.Hard != l.Default.Hard {
		text += ", at most " + l.amount(l.Max.Hard)
	}
	return text
}

func (h HardeningRule) says() string {
	if h.Value != "" {
		return fmt.Sprintf("%s, %s", h.Level, h.Value)
	}
	return string(h.Level)
}

// says gives a mount in a reviewer's words.
func (m Mount) says() string {
	at := ""
	if m.Source != "" && m.Source != m.Target {
		at = m.Source + " at "
	}
	size := ""
	if m.Size != 0 {
		size = " of " + formatSize(uint64(m.Size))
	}
	switch m.Kind {
	case "bind-ro":
		return "a read-only mount: " + at + m.Target
	case "bind-rw":
		return "a writable mount: " + at + m.Target
	case "tmpfs":
		return "a tmpfs" + size + ": " + m.Target
	case "device":
		return "a device: " + at + m.Target
	case "socket":
		return "a socket of the host: " + at + m.Target
	case "volume":
		return "a volume: " + at + m.Target
	case "mask":
		return "a mask: " + m.Target
	}
	return "a " + m.Kind + ": " + at + m.Target
}

// named gives the timeouts by their vocabulary names without the group.
func (t Timeouts) named() map[string]time.Duration {
	return map[string]time.Duration{"start": t.Start, "wall": t.Wall, "idle": t.Idle, "grace": t.Grace, "liveness": t.Liveness}
}

// how gives the vocabulary name of the delivery.
func (c CredentialRule) how() string {
	switch {
	case c.Env != "":
		return "credentials.env"
	case c.File != "":
		return "credentials.file"
	}
	return "credentials.descriptor"
}

// place says where the credential is found inside.
func (c CredentialRule) place() string {
	switch {
	case c.Env != "":
		return "variable " + c.Env
	case c.File != "":
		return fmt.Sprintf("file %s (%04o)", c.File, c.Mode)
	}
	return "a descriptor"
}
