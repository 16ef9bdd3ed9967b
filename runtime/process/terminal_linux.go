package process

import (
	"errors"
	"fmt"
	"os"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"github.com/sbxkit/sbxkit/runtime"
)

// terminal connects all three streams to a private pseudo-terminal, which the launcher's session gets as its own: what is typed into it by
// whatever way (TIOCSTI) stays in it. The host's terminal is never handed in.
func (p *process) terminal(t *table, r *runtime.StartRequest, size *runtime.Terminal) error {
	control, theirs, err := pty.Open()
	if err != nil {
		return fmt.Errorf("making a pseudo-terminal: %w", err)
	}
	t.later = append(t.later, control)
	// Kept open until the command has ended: a terminal that nobody has open reads as its end, and closing our end of it then hangs up on
	// a command that has only closed its streams.
	p.ttyInside = theirs
	// The library's file waits in the kernel; ours waits in the poller, so that a read of it can be ended.
	fd, err := unix.FcntlInt(control.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("making a pseudo-terminal: %w", err)
	}
	ours, err := ourEnd(fd, "terminal")
	if err != nil {
		return err
	}
	p.tty = ours
	if err := p.setSize(size.Columns, size.Rows); err != nil {
		return err
	}
	for n := range 3 {
		if err := t.file(n, theirs); err != nil {
			return err
		}
	}
	p.stdin = terminalInput{ours}
	p.outputs[0] = newStream(ours, r.Stdout.Writer)
	return nil
}

// terminalInput is what is typed into a terminal. Closing it types the end of file; the terminal stays open for what is written to it.
type terminalInput struct{ f *os.File }

func (t terminalInput) Write(b []byte) (int, error) { return t.f.Write(b) }

// Close types the character that a terminal reads as the end of file at the beginning of a line (termios(3), VEOF).
func (t terminalInput) Close() error {
	_, err := t.f.Write([]byte{4})
	return err
}

// Resize sets the size of the terminal; the kernel tells the foreground processes (SIGWINCH).
func (p *process) Resize(columns, rows uint16) error {
	if p.tty == nil {
		return runtime.Fail(runtime.Unsupported, "the run has no terminal").About("terminal")
	}
	p.closeMu.RLock()
	defer p.closeMu.RUnlock()
	if p.closed || ended(p.launcher.pidfd) {
		return os.ErrProcessDone
	}
	return p.setSize(columns, rows)
}

func (p *process) setSize(columns, rows uint16) error {
	conn, err := p.tty.SyscallConn()
	if err != nil {
		return fmt.Errorf("setting the terminal's size: %w", err)
	}
	cerr := conn.Control(func(fd uintptr) {
		err = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Col: columns, Row: rows})
	})
	if err := errors.Join(cerr, err); err != nil {
		return fmt.Errorf("setting the terminal's size: %w", err)
	}
	return nil
}
