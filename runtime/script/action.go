package script

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"
)

// Action is one thing a command does. Play returns nil to go on with the next one; what Command.Exit and its siblings return ends the
// command; any other error is a problem of the script, and the command exits 70. Play returns when the command's context ends.
type Action interface {
	Play(c *Command) error
}

// Func is an action written as a function.
type Func func(c *Command) error

// Play calls f.
func (f Func) Play(c *Command) error { return f(c) }

// Stdout writes text to stdout.
func Stdout(text string) Action {
	return Func(func(c *Command) error { return c.print(c.Stdout(), text) })
}

// Stderr writes text to stderr.
func Stderr(text string) Action {
	return Func(func(c *Command) error { return c.print(c.Stderr(), text) })
}

func (c *Command) print(w io.Writer, text string) error {
	_, err := io.WriteString(w, text)
	return err
}

// Sleep does nothing for so long.
func Sleep(d time.Duration) Action {
	return Func(func(c *Command) error { return c.Sleep(d) })
}

// Hang does nothing until a signal or a kill ends the command.
func Hang() Action {
	return Func(func(c *Command) error {
		<-c.ctx.Done()
		return context.Cause(c.ctx)
	})
}

// Read waits for exactly text on stdin. Other bytes, or the end of stdin before, are a problem.
func Read(text string) Action {
	return Func(func(c *Command) error {
		got := make([]byte, len(text))
		n, err := io.ReadFull(c.Stdin(), got)
		switch {
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			return fmt.Errorf("stdin ended after %q, where the script reads %q", got[:n], text)
		case err != nil:
			return err
		case string(got) != text:
			return fmt.Errorf("read %q from stdin, where the script reads %q", got, text)
		}
		return nil
	})
}

// ReadEOF waits for the end of stdin: that the writing end was half-closed. Bytes before it are a problem.
func ReadEOF() Action {
	return Func(func(c *Command) error {
		got := make([]byte, 64)
		n, err := c.Stdin().Read(got)
		switch {
		case n > 0:
			return fmt.Errorf("read %q from stdin, where the script reads its end", got[:n])
		case errors.Is(err, io.EOF):
			return nil
		}
		return err
	})
}

// Echo copies stdin to stdout until its end, as cat does.
func Echo() Action {
	return Func(func(c *Command) error {
		_, err := io.Copy(c.Stdout(), c.Stdin())
		return err
	})
}

// Beat writes to the heartbeat descriptor. Without one it is a problem.
func Beat() Action {
	return Func(func(c *Command) error { return c.tell(c.run.heartbeat, "heartbeat", "\n") })
}

// Notify writes message ("READY=1") to the notify descriptor. Without one it is a problem.
func Notify(message string) Action {
	return Func(func(c *Command) error { return c.tell(c.run.notify, "notify", message) })
}

func (c *Command) tell(w io.Writer, name, message string) error {
	if w == nil {
		return fmt.Errorf("the command has no %s descriptor", name)
	}
	if c.run.orphan() {
		return nil
	}
	if _, err := io.WriteString(w, message); err != nil {
		return fmt.Errorf("writing to the %s descriptor: %w", name, err)
	}
	return c.ctx.Err()
}

// Repeat plays the actions n times.
func Repeat(n int, actions ...Action) Action {
	return Func(func(c *Command) error {
		for range n {
			if err := c.play(actions); err != nil {
				return err
			}
		}
		return nil
	})
}

// Exit ends the command with code.
func Exit(code int) Action { return Func(func(c *Command) error { return c.Exit(code) }) }

// Die ends the command by signal, as if it had sent that to itself.
func Die(s syscall.Signal) Action { return Func(func(c *Command) error { return c.Die(s) }) }

// OutOfMemory ends the command by the memory limit's kill.
func OutOfMemory() Action { return Func(func(c *Command) error { return c.OutOfMemory() }) }

// Vanish makes the command and its container disappear with nobody having seen an end.
func Vanish() Action { return Func(func(c *Command) error { return c.Vanish() }) }
