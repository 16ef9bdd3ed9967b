package engine

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	cerrdefs "github.com/containerd/errdefs"

	"github.com/sbxkit/sbxkit/runtime"
)

// Start attaches, waits for the next exit, starts, and attests. It is called once.
func (r *resources) Start(ctx context.Context, s *runtime.StartRequest) (runtime.Process, error) {
	if r.plan == nil {
		return nil, runtime.Fail(runtime.Unsupported, "a reopened run can be killed and removed, not started").At(runtime.StepStart)
	}
	p, err := r.start(ctx, s)
	if err != nil {
		return nil, runtime.AsFailure(err, runtime.Setup).At(runtime.StepStart)
	}
	return p, nil
}

func (r *resources) start(ctx context.Context, s *runtime.StartRequest) (*process, error) {
	if ctx.Err() != nil {
		return nil, runtime.Fail(runtime.Setup, "the start was cancelled before anything ran: %w", context.Cause(ctx))
	}
	o := startOptions{
		stdin: s.Stdin == runtime.StdinPipe || s.Stdin == runtime.StdinFile || s.Terminal != nil, terminal: s.Terminal != nil,
		stdout: sinkOf(s.Stdout), stderr: sinkOf(s.Stderr), dir: r.plan.Request.Run.Dir,
	}
	p := &process{resources: r, terminal: o.terminal}
	o.ready = func() error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		p.began = time.Now()
		if s.Started != nil {
			s.Started()
		}
		return nil
	}
	// The engine goes on starting when the caller leaves; its answer is waited for a little longer.
	asking, cancel := lingering(ctx, r.b.limit.afterwards)
	defer cancel()
	at, err := r.link.start(asking, r.token.Name, o)
	if err != nil {
		return nil, r.notStarted(ctx, err)
	}
	p.at = at
	r.mu.Lock()
	r.running = p
	r.mu.Unlock()
	if s.StdinFile != nil && at.stdin != nil {
		p.input = make(chan struct{})
		go p.feed(s.StdinFile)
	}
	if err := p.attest(asking); err != nil {
		return nil, r.stopUnattested(ctx, p, err)
	}
	if s.Terminal != nil && !ended(p.at) {
		if err := p.resize(asking, s.Terminal.Columns, s.Terminal.Rows); err != nil && p.lives(asking) {
			return nil, r.stopUnattested(ctx, p, err)
		}
	}
	// A context that ended meanwhile kills nothing: the command runs, and the driver stops it and tells why.
	return p, nil
}

func ended(a *attachment) bool {
	select {
	case <-a.ended:
		return true
	default:
		return false
	}
}

// sinkOf gives the writer of an output; a stream nobody wants is read and dropped.
func sinkOf(o runtime.Output) io.Writer {
	switch {
	case o.File != nil:
		return o.File
	case o.Writer != nil:
		return o.Writer
	}
	return io.Discard
}

// feed copies a file to the command's stdin and half-closes it. A command that closed its stdin early ends it.
func (p *process) feed(f *os.File) {
	defer close(p.input)
	_, _ = io.Copy(p.at.stdin, f) // a reader's error ends the input like its end; a closed pipe is the command's own choice
	_ = p.at.stdin.Close()
}

// notStarted says why a container did not start. An engine's word for it is not read: whether the command was there has been looked up
// before (lookup.go), so that what is left is the engine's or the host's.
func (r *resources) notStarted(ctx context.Context, err error) error {
	err = hide(err, r.plan.Request)
	var at *startError
	if errors.As(err, &at) && at.step != "start" && ctx.Err() != nil {
		return runtime.Fail(runtime.Setup, "the start was cancelled before anything ran: %w", context.Cause(ctx))
	}
	if errors.As(err, &at) && at.step != "start" {
		// Nothing was asked to run yet.
		return r.b.setup(r.link, err, "the container %s", r.token.Name)
	}
	look, cancel := detached(ctx, r.b.limit.look, "the state of the container")
	defer cancel()
	i, looked := r.link.inspect(look, r.token.Name)
	if looked == nil {
		if _, started := startedAt(i); !started && answered(err) {
			return r.b.setup(r.link, err, "%s did not start the container", r.plan.Identity)
		}
	}
	if cerrdefs.IsNotFound(looked) && answered(err) {
		return r.b.setup(r.link, err, "%s did not start the container, and no longer has it", r.plan.Identity)
	}
	f := runtime.Fail(runtime.Uncertain, "whether the container started is not known: %w", err)
	return f.WithLeft(r.b.leftContainer(r.link, r.token.Name))
}

// stopUnattested ends a started container whose guarantees do not hold or could not be looked at, and waits for its end: the Failure says
// whether the command may have run.
func (r *resources) stopUnattested(ctx context.Context, p *process, cause error) error {
	stop, cancel := detached(ctx, r.b.limit.kill, "the kill of a container that may not run")
	defer cancel()
	if err := r.Kill(stop); err != nil {
		return errors.Join(cause, err)
	}
	select {
	case <-p.at.ended:
	case <-stop.Done():
		return errors.Join(cause, context.Cause(stop))
	}
	p.close()
	return cause
}

// close gives up what the process holds: its streams, and the handle on the command.
func (p *process) close() {
	p.at.close()
	if p.watch != nil {
		p.watch.close()
	}
}
