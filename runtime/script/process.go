package script

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/sbxkit/sbxkit/runtime"
)

// stall is how long a stream that nobody holds any more waits for a sink that takes nothing, beyond what Wait's caller grants.
const stall = time.Second

// process is a started command as the controller that started it sees it.
type process struct {
	of         *resources
	cmd        *command
	identity   runtime.ProcessIdentity
	guarantees []runtime.Guarantee
	terminal   bool
	stdin      io.WriteCloser
	// never is true where Start answered as if it had started the command, and had not.
	never bool

	waiting chan struct{} // held by the one who drains
	exit    *runtime.Exit
	cut     bool
}

var _ runtime.Process = (*process)(nil)

// Identity names the process. Its pid is none a kernel gives (proc_sys_kernel(5): pid_max is at most 2^22), so that nobody can be hurt by it.
func (p *process) Identity() runtime.ProcessIdentity { return p.identity }

// Guarantees are the plan's claims: unattested, or as the script has them.
func (p *process) Guarantees() []runtime.Guarantee { return p.guarantees }

// Stdin is the writing end of the stdin pipe, or nil.
func (p *process) Stdin() io.WriteCloser { return p.stdin }

func (p *process) call(ctx context.Context, op Op, note string, work func(ctx context.Context) error) error {
	r := p.of
	ctx, cancel := r.b.until(ctx)
	defer cancel()
	return r.b.call(ctx, r.player, r.run(), op, note, func() error { return work(ctx) })
}

// Signal delivers sig.
func (p *process) Signal(ctx context.Context, sig syscall.Signal) error {
	return p.call(ctx, OnSignal, runtime.SignalName(sig), func(context.Context) error {
		if stops(sig) {
			return runtime.Fail(runtime.Unsupported, "the fake cannot stop a command with SIG%s and continue it", runtime.SignalName(sig)).At(runtime.StepCapture)
		}
		if p.never {
			return os.ErrProcessDone
		}
		return p.cmd.signal(sig)
	})
}

// Wait waits for the end of the command and of its streams.
func (p *process) Wait(ctx context.Context, drain time.Duration) (*runtime.Exit, error) {
	var exit *runtime.Exit
	err := p.call(ctx, OnWait, "", func(ctx context.Context) (err error) {
		exit, err = p.wait(ctx, drain)
		return err
	})
	if err != nil {
		return nil, err
	}
	if exit == nil { // a lost wait: it answered, and nobody saw anything
		return &runtime.Exit{Observer: "script"}, nil
	}
	return exit, nil
}

func (p *process) wait(ctx context.Context, drain time.Duration) (*runtime.Exit, error) {
	if p.never {
		return &runtime.Exit{Observer: "script"}, nil
	}
	select {
	case <-p.cmd.stopped:
	case <-ctx.Done():
		return nil, unwaited(ctx)
	}
	select {
	case p.waiting <- struct{}{}:
	case <-ctx.Done():
		return nil, unwaited(ctx)
	}
	defer func() { <-p.waiting }()
	if p.exit != nil {
		return p.exit, nil
	}
	if err := p.drain(ctx, drain); err != nil {
		return nil, err
	}
	exit, err := p.cmd.exit()
	if err != nil {
		return nil, err
	}
	exit.DrainCut = p.cut
	p.exit = exit
	return exit, nil
}

// exit is the end of a command that has ended, as far as it was witnessed.
func (c *command) exit() (*runtime.Exit, error) {
	c.mu.Lock()
	end, start := *c.end, c.start
	c.mu.Unlock()
	if end.unseen {
		return nil, runtime.Fail(runtime.Uncertain, "the container %s is gone, and nobody saw its command end", c.home.Name).
			At(runtime.StepCapture).WithCure("look at what the command did before starting it again")
	}
	exit := &runtime.Exit{Ran: true, Code: end.code, Signal: end.signal, Observer: "script", Usage: c.script.Usage}
	if exit.Usage.Wall == 0 {
		exit.Usage.Wall = c.ended().Sub(start)
	}
	if end.oom {
		exit.OOM, exit.OOMKills, exit.MemoryEvents = true, 1, "script"
	}
	return exit, nil
}

// unwaited is what a wait ends with when its context does: the run goes on. A crash is no such end.
func unwaited(ctx context.Context) error {
	cause := context.Cause(ctx)
	if errors.Is(cause, ErrCrashed) || errors.Is(cause, errWorldClosed) {
		return interrupted(OnWait, false, cause)
	}
	return fmt.Errorf("waiting for the command: %w", cause)
}

func (c *command) ended() time.Time {
	c.record.mu.Lock()
	defer c.record.mu.Unlock()
	return c.record.Ended
}

// drain waits for the streams: held open they are cut after d, and one that nobody takes anything from a stall later.
func (p *process) drain(ctx context.Context, d time.Duration) error {
	held := time.NewTimer(max(d, 0))
	defer held.Stop()
	for _, s := range p.cmd.sinks() {
		select {
		case <-s.done:
			continue
		case <-held.C:
			held.Reset(0)
			p.cut = s.pipe.shut() || p.cut
		case <-ctx.Done():
			return unwaited(ctx)
		}
		stalled := time.NewTimer(stall)
		select {
		case <-s.done:
		case <-stalled.C:
			p.cut = true
			s.pipe.closeRead()
		case <-ctx.Done():
			stalled.Stop()
			return unwaited(ctx)
		}
		stalled.Stop()
	}
	return nil
}

// Health gives the status the script has for now.
func (p *process) Health(ctx context.Context) (string, error) {
	status := ""
	err := p.call(ctx, OnHealth, "", func(context.Context) error {
		since, err := p.since()
		if err != nil {
			return nil
		}
		for _, h := range p.cmd.script.Health {
			if since >= h.From {
				status = h.Status
			}
		}
		return nil
	})
	return status, err
}

// since is how long the command has been running; os.ErrProcessDone where it is not.
func (p *process) since() (time.Duration, error) {
	if p.never {
		return 0, os.ErrProcessDone
	}
	c := p.cmd
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.end != nil {
		return 0, os.ErrProcessDone
	}
	return time.Since(c.start), nil
}

// Exec gives the next answer of the script.
func (p *process) Exec(ctx context.Context, argv []string) (int, error) {
	code := -1
	err := p.call(ctx, OnExec, fmt.Sprintf("%q", argv), func(ctx context.Context) error {
		if p.never {
			return runtime.Fail(runtime.Setup, "running a command beside the process: %w", os.ErrProcessDone)
		}
		answers := p.cmd.script.Exec
		if len(answers) == 0 {
			return runtime.Fail(runtime.Unsupported, "the script has no answer for a command beside the process").
				WithCure("give Script.Exec an answer")
		}
		n := 0
		p.cmd.record.change(func(i *Invocation) {
			n = min(len(i.Execs), len(answers)-1)
			i.Execs = append(i.Execs, append([]string(nil), argv...))
		})
		t := time.NewTimer(answers[n].Takes)
		defer t.Stop()
		select {
		case <-t.C:
		case <-p.cmd.ctx.Done():
			return runtime.Fail(runtime.Setup, "running a command beside the process: %w", os.ErrProcessDone)
		case <-ctx.Done():
			return interrupted(OnExec, false, context.Cause(ctx))
		}
		if _, err := p.since(); err != nil {
			return runtime.Fail(runtime.Setup, "running a command beside the process: %w", err)
		}
		if answers[n].Err != nil {
			return refusal(Fault{At: OnExec, Refuse: answers[n].Err})
		}
		code = answers[n].Code
		return nil
	})
	return code, err
}

// Dial connects to a port the script has open.
func (p *process) Dial(ctx context.Context, port int) (io.Closer, error) {
	err := p.call(ctx, OnDial, fmt.Sprint(port), func(context.Context) error {
		since, err := p.since()
		if err == nil {
			if from, open := p.cmd.script.Ports[port]; open && since >= from {
				return nil
			}
			err = syscall.ECONNREFUSED
		}
		return runtime.Fail(runtime.Setup, "connecting to port %d inside: %w", port, err)
	})
	if err != nil {
		return nil, err
	}
	return connection{}, nil
}

type connection struct{}

// Close does nothing: nothing is held.
func (connection) Close() error { return nil }

// Resize records the size of the terminal.
func (p *process) Resize(columns, rows uint16) error {
	return p.call(context.Background(), OnResize, fmt.Sprintf("%dx%d", columns, rows), func(context.Context) error {
		if !p.terminal {
			return runtime.Fail(runtime.Unsupported, "the run has no terminal to resize").About("terminal")
		}
		p.cmd.record.change(func(i *Invocation) { i.Sizes = append(i.Sizes, [2]uint16{columns, rows}) })
		return nil
	})
}

// stdinEnd is the controller's writing end of a command's stdin.
type stdinEnd struct {
	b   *Backend
	cmd *command
}

// Write waits for room; EPIPE where the command has ended.
func (s *stdinEnd) Write(p []byte) (int, error) {
	if err := s.b.gone(OnStart); err != nil {
		return 0, err
	}
	closed := false
	s.cmd.record.change(func(i *Invocation) { closed = i.StdinClosed })
	if closed {
		return 0, os.ErrClosed
	}
	ctx, cancel := s.b.until(context.Background())
	defer cancel()
	n, err := s.cmd.stdin.write(ctx, p)
	s.cmd.record.change(func(i *Invocation) { i.Stdin.add(p[:n]) })
	switch {
	case errors.Is(err, syscall.EPIPE):
		return n, &os.PathError{Op: "write", Path: "stdin", Err: syscall.EPIPE}
	case err != nil:
		return n, fmt.Errorf("writing to the command's stdin: %w", err)
	}
	return n, nil
}

// Close half-closes: the command reads the end of its stdin. A second call is os.ErrClosed.
func (s *stdinEnd) Close() error {
	again := false
	s.cmd.record.change(func(i *Invocation) { again, i.StdinClosed = i.StdinClosed, true })
	if again {
		return os.ErrClosed
	}
	s.cmd.stdin.closeWrite()
	return nil
}
