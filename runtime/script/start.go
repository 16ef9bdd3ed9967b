package script

import (
	"context"
	"fmt"

	"github.com/sbxkit/sbxkit/runtime"
)

// Start holds a new command, records its identity, looks at what the script says was measured, and lets the command go.
func (r *resources) Start(ctx context.Context, q *runtime.StartRequest) (runtime.Process, error) {
	var p *process
	err := r.b.call(ctx, r.player, r.run(), OnStart, "", func() (err error) {
		p, err = r.start(ctx, q)
		return err
	})
	if err != nil {
		return nil, err
	}
	if p == nil { // lost: it answers, and started nothing
		p = &process{of: r, never: true}
	}
	return p, nil
}

func (r *resources) start(ctx context.Context, q *runtime.StartRequest) (*process, error) {
	if err := r.reopened(runtime.StepStart); err != nil {
		return nil, err
	}
	cmd, err := r.newCommand(q)
	if err != nil {
		return nil, runtime.AsFailure(err, runtime.Setup).At(runtime.StepStart)
	}
	p := &process{of: r, cmd: cmd, terminal: q.Terminal != nil, waiting: make(chan struct{}, 1), guarantees: r.measure()}
	if cmd.stdinMode == runtime.StdinPipe {
		p.stdin = &stdinEnd{b: r.b, cmd: cmd}
	}
	if p.identity, err = r.b.world.attach(r.token.Name, cmd); err != nil {
		return nil, err
	}
	if err := r.held(ctx, q, p); err != nil {
		r.b.world.detach(cmd)
		return nil, err
	}
	if err := cmd.release(q.Started); err != nil {
		return nil, runtime.AsFailure(err, runtime.Setup).At(runtime.StepStart)
	}
	if err := r.b.call(ctx, r.player, r.run(), OnReleased, "", func() error { return nil }); err != nil {
		return nil, err
	}
	return p, nil
}

// held is what is done while the command stands at its gate.
func (r *resources) held(ctx context.Context, q *runtime.StartRequest, p *process) error {
	r.mu.Lock()
	r.token.Processes = append(r.token.Processes, p.identity)
	t := r.token
	r.mu.Unlock()
	r.b.world.retoken(t)
	if q.Record != nil {
		if err := q.Record(t); err != nil {
			return (&runtime.Failure{Kind: runtime.Setup, Message: "the run's record could not be written", Err: err}).At(runtime.StepStart)
		}
	}
	if err := r.b.call(ctx, r.player, r.run(), OnHeld, "", func() error { return nil }); err != nil {
		return err
	}
	for _, g := range p.guarantees {
		if g.Required && g.Measured == runtime.MeasuredBroken {
			return runtime.Fail(runtime.Setup, "%s does not hold: claimed %s, measured %s", g.Name, g.Claimed, g.Evidence).
				About(g.Name).At(runtime.StepStart)
		}
	}
	return nil
}

// measure gives each claim with what the script has for it.
func (r *resources) measure() []runtime.Guarantee {
	var list []runtime.Guarantee
	for _, c := range r.plan.Claims {
		g := runtime.Guarantee{
			Name: c.Name, Claimed: c.Value, Required: c.Required, Measured: runtime.MeasuredClaimed, When: runtime.WhenHeld,
			Evidence: "the fake isolates nothing",
		}
		for _, s := range r.player.script.Guarantees {
			if s.Name == c.Name {
				g.Measured, g.Evidence = s.Measured, s.Evidence
			}
		}
		list = append(list, g)
	}
	return list
}

func (r *resources) newCommand(q *runtime.StartRequest) (*command, error) {
	req := r.plan.Request
	c := &command{
		world: r.b.world, script: r.player.script, record: r.record, request: req, snapshot: r.snapshot, starter: r.b,
		heartbeat: q.Heartbeat, notify: q.Notify, stdinMode: q.Stdin,
		stopped: make(chan struct{}), killed: make(chan struct{}),
	}
	switch {
	case q.Stdin == runtime.StdinFile && q.StdinFile == nil:
		return nil, runtime.Fail(runtime.Setup, "stdin is a file, and there is none")
	case q.Stdin == runtime.StdinFile:
		c.stdinFile = q.StdinFile
	case q.Terminal != nil:
		c.stdinMode = runtime.StdinPipe
	}
	if c.stdinMode == runtime.StdinPipe {
		c.stdin = newPipe()
	}
	var err error
	if c.stdout, err = newSink(q.Stdout); err != nil {
		return nil, fmt.Errorf("taking stdout: %w", err)
	}
	c.stderr = c.stdout
	if !req.SameSink && q.Terminal == nil {
		if c.stderr, err = newSink(q.Stderr); err != nil {
			return nil, fmt.Errorf("taking stderr: %w", err)
		}
	}
	c.ctx, c.stop = context.WithCancelCause(context.Background())
	return c, nil
}

// attach puts a held command into the container.
func (w *World) attach(name string, cmd *command) (runtime.ProcessIdentity, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.containers[name]
	switch {
	case c == nil:
		return runtime.ProcessIdentity{}, runtime.Fail(runtime.Setup, "the container %s is gone", name).At(runtime.StepStart)
	case c.cmd != nil:
		return runtime.ProcessIdentity{}, runtime.Fail(runtime.Setup, "the container %s was started before", name).At(runtime.StepStart)
	}
	w.pids++
	c.cmd, cmd.home = cmd, c
	c.State = Running
	return runtime.ProcessIdentity{PID: 1<<30 + w.pids, StartTime: uint64(w.pids), BootID: w.bootID(), Container: name}, nil
}

// detach takes a held command out again: it never ran.
func (w *World) detach(cmd *command) {
	cmd.kill()
	w.mu.Lock()
	defer w.mu.Unlock()
	cmd.home.cmd = nil
	cmd.home.State = Created
	cmd.record.change(func(i *Invocation) { i.Ended = i.Started })
}

// retoken keeps the token of a container as it grew.
func (w *World) retoken(t runtime.Token) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if c := w.containers[t.Name]; c != nil {
		c.token = t
	}
}
