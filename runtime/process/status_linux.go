package process

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"golang.org/x/sys/unix"
)

// launcherStatus is what a launcher tells on its status descriptor, as one JSON document a line (bwrap(1), --json-status-fd).
type launcherStatus struct {
	ChildPID *int `json:"child-pid"`
	ExitCode *int `json:"exit-code"`
}

// statusPipe is our end of a launcher's status descriptor.
type statusPipe struct {
	fd   int
	read []byte // not yet interpreted
}

// childPID waits for the line that names the first process inside. io.EOF: the launcher ended before it made one. It blocks its thread:
// the answer is a millisecond away.
func (p *statusPipe) childPID() (int, error) {
	var buf [512]byte
	for {
		if i := bytes.IndexByte(p.read, '\n'); i >= 0 {
			var s launcherStatus
			err := json.Unmarshal(p.read[:i], &s)
			p.read = p.read[i+1:]
			if err != nil {
				return 0, fmt.Errorf("reading the launcher's status: %w", err)
			}
			if s.ChildPID == nil {
				continue
			}
			if *s.ChildPID <= 1 {
				return 0, fmt.Errorf("reading the launcher's status: child-pid is %d", *s.ChildPID)
			}
			return *s.ChildPID, nil
		}
		n, err := unix.Read(p.fd, buf[:])
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return 0, fmt.Errorf("reading the launcher's status: %w", err)
		case n == 0:
			return 0, io.EOF
		default:
			p.read = append(p.read, buf[:n]...)
		}
	}
}

// exitCode takes the exit-code line out of what the launcher wrote until its end: it stands there only where the command was executed.
// Called after the launcher ended; it does not wait for somebody who inherited the descriptor.
func (p *statusPipe) exitCode() (code int, told bool, err error) {
	if err := unix.SetNonblock(p.fd, true); err != nil {
		return 0, false, fmt.Errorf("reading the launcher's status: %w", err)
	}
	p.read = append(p.read, takeFrom(p.fd, 64<<10)...)
	for line := range bytes.Lines(p.read) {
		var s launcherStatus
		if err := json.Unmarshal(line, &s); err != nil {
			return 0, false, fmt.Errorf("reading the launcher's status: %w", err)
		}
		if s.ExitCode != nil {
			return *s.ExitCode, true, nil
		}
	}
	return 0, false, nil
}

func (p *statusPipe) close() {
	if p.fd >= 0 {
		unix.Close(p.fd)
		p.fd = -1
	}
}
