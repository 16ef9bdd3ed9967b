package script

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/sbxkit/sbxkit/runtime"
)

// Command is what an action can do: the command's own view of its sandbox. It is used by the goroutine that plays the script alone.
type Command struct {
	run *command
	ctx context.Context
}

// Context ends when the command ends, or when a trap takes over.
func (c *Command) Context() context.Context { return c.ctx }

// Request is the launch after policy: command, environment, mounts.
func (c *Command) Request() *runtime.Request { return c.run.request }

// Workspace is the host directory that stands for the workspace: the snapshot where there is one, else the workspace's source; empty
// without one. The fake writes nothing there by itself.
func (c *Command) Workspace() string {
	if c.run.snapshot != "" {
		return c.run.snapshot
	}
	if w := c.run.request.Workspace; w != nil {
		return w.Source
	}
	return ""
}

// Sleep waits for so long, or for the end of the command.
func (c *Command) Sleep(d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-c.ctx.Done():
		return context.Cause(c.ctx)
	}
}

// Stdin reads what was written to the command.
func (c *Command) Stdin() io.Reader { return commandStdin{c} }

// Stdout is the command's standard output.
func (c *Command) Stdout() io.Writer {
	return commandOutput{c, c.run.stdout, func(i *Invocation, p []byte) { i.Stdout.add(p) }}
}

// Stderr is the command's standard error: stdout's own stream where the launch gave the same sink twice.
func (c *Command) Stderr() io.Writer {
	return commandOutput{c, c.run.stderr, func(i *Invocation, p []byte) { i.Stderr.add(p) }}
}

// ending is how a command ended; it is an error so that an action can return it.
type ending struct {
	code       int
	signal     syscall.Signal
	oom        bool
	unseen     bool // nobody saw an exit status
	removed    bool // with the container
	fromScript bool
}

func (e ending) Error() string { return "the command has ended" }

// Exit ends the command with code; an action returns it.
func (c *Command) Exit(code int) error { return ending{code: code, fromScript: true} }

// Die ends the command by signal; an action returns it.
func (c *Command) Die(s syscall.Signal) error { return ending{code: -1, signal: s, fromScript: true} }

// OutOfMemory ends the command by the memory limit's kill; an action returns it.
func (c *Command) OutOfMemory() error {
	return ending{code: -1, signal: syscall.SIGKILL, oom: true, fromScript: true}
}

// Vanish makes the command and its container disappear; an action returns it.
func (c *Command) Vanish() error { return ending{unseen: true, removed: true, fromScript: true} }

// errTrapped ends what the command was doing when a trap takes over.
var errTrapped = errors.New("a trap took over")

// command is a command of the world: its goroutine, its streams, and how it ended.
type command struct {
	world    *World
	home     *container
	script   *Script
	record   *Invocation
	request  *runtime.Request
	snapshot string
	starter  *Backend // the controller that started it

	stdinMode         runtime.StdinMode
	stdin             *pipe // nil without one
	stdinFile         *os.File
	fileOnce          sync.Once
	stdout, stderr    *sink // the same where they are one stream
	heartbeat, notify io.Writer

	ctx  context.Context
	stop context.CancelCauseFunc

	mu    sync.Mutex
	end   *ending
	next  []Action // a trap's
	trap  context.CancelCauseFunc
	start time.Time // zero while held

	stopped chan struct{} // the goroutine has ended, or never began
	killed  chan struct{} // ended from outside with all it left behind
	killing sync.Once
}

// release lets a held command go. It fails where the command was killed meanwhile.
func (c *command) release(started func()) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.end != nil {
		return errors.New("the held command was killed before it was let go")
	}
	if started != nil {
		started()
	}
	c.start = time.Now()
	c.record.change(func(i *Invocation) { i.Started = c.start })
	c.world.running.Add(1)
	go c.main()
	for _, s := range c.sinks() {
		c.world.running.Add(1)
		go s.pump(c)
	}
	return nil
}

func (c *command) sinks() []*sink {
	if c.stderr == nil || c.stderr == c.stdout {
		return []*sink{c.stdout}
	}
	return []*sink{c.stdout, c.stderr}
}

// main plays the script and then leaves the streams.
func (c *command) main() {
	defer c.world.running.Done()
	defer close(c.stopped)
	c.finish(c.playAll())
	if c.stdin != nil {
		c.stdin.closeRead()
	}
	if c.stdinFile != nil {
		// A reader that waits for the caller's file ends with the command; a file without deadlines (a regular one) does not wait.
		_ = c.stdinFile.SetReadDeadline(time.Now())
	}
	c.leaveStreams()
}

func (c *command) playAll() ending {
	actions := c.script.Do
	for {
		ctx, cancel := context.WithCancelCause(c.ctx)
		c.mu.Lock()
		c.trap = cancel
		c.mu.Unlock()
		err := (&Command{run: c, ctx: ctx}).play(actions)
		cancel(nil)

		c.mu.Lock()
		actions, c.next = c.next, nil
		end := c.end
		c.mu.Unlock()
		switch {
		case end != nil:
			return *end
		case actions == nil:
			return c.judge(err)
		}
	}
}

// judge turns what the actions came to into an end.
func (c *command) judge(err error) ending {
	var e ending
	switch {
	case err == nil:
		return ending{fromScript: true}
	case errors.As(err, &e):
		return e
	case errors.Is(err, syscall.EPIPE):
		// The default action of SIGPIPE, which writing to a pipe without a reader raises (pipe(7)).
		return ending{code: -1, signal: syscall.SIGPIPE, fromScript: true}
	}
	c.record.problem("%w", err)
	return ending{code: 70}
}

func (c *Command) play(actions []Action) error {
	for _, a := range actions {
		if err := c.ctx.Err(); err != nil {
			return context.Cause(c.ctx)
		}
		if err := a.Play(c); err != nil {
			return err
		}
	}
	return nil
}

// finish makes e the end of the command, unless it has one.
func (c *command) finish(e ending) {
	c.mu.Lock()
	if c.end != nil {
		c.mu.Unlock()
		return
	}
	c.end = &e
	held := c.start.IsZero()
	c.mu.Unlock()

	c.record.change(func(i *Invocation) {
		i.Ended = time.Now()
		i.Finished = e.fromScript
	})
	c.world.mu.Lock()
	c.home.State = Exited
	if e.removed && c.world.containers[c.home.Name] == c.home {
		delete(c.world.containers, c.home.Name)
	}
	c.world.mu.Unlock()
	c.stop(e)
	if held {
		close(c.stopped)
	}
}

// kill ends the command and all it left behind.
func (c *command) kill() {
	c.finish(ending{code: -1, signal: syscall.SIGKILL})
	c.killing.Do(func() { close(c.killed) })
}

// leaveStreams closes the command's ends of its output streams, after what a process it left behind holds them for.
func (c *command) leaveStreams() {
	c.mu.Lock()
	unseen := c.end.unseen
	c.mu.Unlock()
	hold := c.script.HoldStreams
	if hold == 0 || unseen {
		c.closeStreams()
		return
	}
	if hold < 0 {
		hold = Forever
	}
	c.world.running.Add(1)
	go func() {
		defer c.world.running.Done()
		defer c.closeStreams()
		t := time.NewTimer(hold)
		defer t.Stop()
		select {
		case <-t.C:
		case <-c.killed:
		}
	}()
}

func (c *command) closeStreams() {
	for _, s := range c.sinks() {
		s.pipe.closeWrite()
	}
}

// signal delivers s.
func (c *command) signal(s syscall.Signal) error {
	c.mu.Lock()
	if c.end != nil {
		c.mu.Unlock()
		return os.ErrProcessDone
	}
	c.record.change(func(i *Invocation) { i.Signals = append(i.Signals, s) })
	actions, trapped := c.script.Traps[s]
	switch {
	case s == syscall.SIGKILL:
	case slices.Contains(c.script.Ignore, s), ignoredByDefault(s):
		c.mu.Unlock()
		return nil
	case trapped && !c.start.IsZero():
		c.next = append([]Action{}, actions...)
		c.trap(errTrapped)
		c.mu.Unlock()
		return nil
	}
	c.mu.Unlock()
	c.finish(ending{code: -1, signal: s})
	return nil
}

// ignoredByDefault: CHLD, CONT, URG and WINCH (signal(7)), by Linux's numbers.
func ignoredByDefault(s syscall.Signal) bool { return s == 17 || s == 18 || s == 23 || s == 28 }

// stops: STOP, TSTP, TTIN and TTOU (signal(7)), by Linux's numbers.
func stops(s syscall.Signal) bool { return s >= 19 && s <= 22 }

// orphan says whether the controller that started the command is gone.
func (c *command) orphan() bool { return c.starter.life.Err() != nil }
