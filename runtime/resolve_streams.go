package runtime

import (
	"slices"
	"strconv"
	"strings"
)

// descriptors numbers what the command sees beyond its three streams, and tells it by variables of the seam's own.
func (r *resolver) descriptors() error {
	next := FirstDescriptor
	give := func(name string) int {
		fd := next
		next++
		r.req.Env = append(r.req.Env, Variable{Name: name, Value: strconv.Itoa(fd), Public: true, Origin: "seam"})
		r.ask("environment")
		return fd
	}
	if r.l.Heartbeat > 0 {
		r.req.Descriptors.Heartbeat = give("SBX_HEARTBEAT_FD")
	}
	if r.l.Ready != nil && r.l.Ready.Notify {
		r.req.Descriptors.Notify = give("SBX_NOTIFY_FD")
	}
	for i := range r.req.Credentials {
		if c := &r.req.Credentials[i]; c.Env == "" && c.File == "" {
			c.Descriptor = give("SBX_CREDENTIAL_" + strings.ToUpper(strings.NewReplacer("-", "_", ".", "_").Replace(c.Role)) + "_FD")
		}
	}
	return nil
}

func (r *resolver) streams() error {
	l := r.l
	switch l.Stdin.Mode {
	case StdinDefault, StdinNone:
		r.req.Stdin = StdinNone
		if l.Stdin.Reader != nil || l.Stdin.File != nil {
			return denied("stdin", "a stdin reader or file needs Stdin.Mode pipe or file")
		}
	case StdinPipe:
		r.req.Stdin = StdinPipe
	case StdinFile:
		if l.Stdin.File == nil {
			return denied("stdin.file", "Stdin.Mode file needs Stdin.File")
		}
		r.req.Stdin = StdinFile
	default:
		return denied("stdin", "%q is not a kind of stdin", string(l.Stdin.Mode))
	}
	r.ask("stdin." + string(r.req.Stdin))
	r.ask("streams.stdout")
	r.ask("streams.stderr")
	if same(l.Stdout, l.Stderr) {
		r.req.SameSink = true
		r.ask("streams.shared")
	}
	if t := l.Terminal; t != nil {
		switch {
		case l.Stdin.Mode != StdinDefault:
			return denied("terminal", "a terminal is its own stdin: it cannot stand beside stdin %s", l.Stdin.Mode).WithCure("write to Run.Stdin, which is the terminal's")
		case l.Stdout == Pipe || l.Stderr == Pipe:
			return denied("terminal", "a terminal changes bytes: it cannot carry a duplex stream").WithCure("leave out the terminal where framing matters")
		case l.Stderr != nil && !r.req.SameSink:
			return denied("terminal", "a terminal has one merged stream: it cannot have a separate stderr").WithCure("set Stdout alone")
		}
		c := *t
		if c.Columns == 0 {
			c.Columns = 80
		}
		if c.Rows == 0 {
			c.Rows = 24
		}
		if c.Term == "" {
			c.Term = "xterm-256color"
		}
		r.ask("terminal")
		r.req.Terminal, r.req.SameSink = &c, true
		r.req.Env = slices.DeleteFunc(r.req.Env, func(v Variable) bool { return v.Name == "TERM" })
		r.req.Env = append(r.req.Env, Variable{Name: "TERM", Value: c.Term, Public: true, Origin: "seam"})
		r.ask("environment")
	}
	return nil
}
