package script

import (
	"context"
	"slices"

	"github.com/sbxkit/sbxkit/runtime"
)

// Backend implements runtime.Backend in process. It stands for one controller: when that crashes (a Fault, or Crash) every call of the
// backend fails with ErrCrashed, and the world keeps what was there. The next controller is another Backend over the same World.
//
// It is safe for concurrent use.
type Backend struct {
	def   Definition
	world *World

	life context.Context // ends with the crash, or with the world
	end  context.CancelCauseFunc

	// Guarded by the world's mutex.
	standing *player
	queue    []*player
	hooks    []func(Op)
}

var (
	_ runtime.Backend    = (*Backend)(nil)
	_ runtime.Ensurer    = (*Backend)(nil)
	_ runtime.Reconciler = (*Backend)(nil)
)

// New makes a backend that plays scripts. It starts nothing.
func New(d Definition) (*Backend, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	w := d.World
	if w == nil {
		w = NewWorld()
	}
	b := &Backend{def: d, world: w, standing: newPlayer(d.Script)}
	b.life, b.end = context.WithCancelCause(w.life)
	return b, nil
}

// Describe gives the spec's data.
func (b *Backend) Describe() *runtime.Description { return b.def.Description }

// World gives what exists outside the controller.
func (b *Backend) World() *World { return b.world }

// Play queues scripts: each is played by one run, the first that it matches, in the order runs are prepared. A run that none of them
// matches plays Definition.Script. Calls that belong to no run yet (probe, ensure, plan) follow the first of the queue.
func (b *Backend) Play(scripts ...*Script) {
	b.world.mu.Lock()
	defer b.world.mu.Unlock()
	for _, s := range scripts {
		b.queue = append(b.queue, newPlayer(s))
	}
}

// ahead is what the next run will play.
func (b *Backend) ahead() *player {
	b.world.mu.Lock()
	defer b.world.mu.Unlock()
	if len(b.queue) > 0 {
		return b.queue[0]
	}
	return b.standing
}

// cast takes the script that r plays.
func (b *Backend) cast(r *runtime.Request) *player {
	b.world.mu.Lock()
	defer b.world.mu.Unlock()
	for n, p := range b.queue {
		if p.script.Match == nil || p.script.Match(r) {
			b.queue = slices.Delete(b.queue, n, n+1)
			return p
		}
	}
	return newPlayer(b.standing.script)
}

// OnCrash adds a hook that is called at the instant of a crash, in the goroutine that made the call: it may panic, kill the process, or
// drop what else the controller held (Journal.Crash). Hooks run in the order they were added.
func (b *Backend) OnCrash(hook func(at Op)) {
	b.world.mu.Lock()
	defer b.world.mu.Unlock()
	b.hooks = append(b.hooks, hook)
}

// Crash ends the controller now, outside of any call.
func (b *Backend) Crash() { b.crash("") }

// crash ends the controller: what it held open closes, and commands that die with it die.
func (b *Backend) crash(at Op) {
	b.end(ErrCrashed)
	b.world.mu.Lock()
	var mine []*command
	for _, c := range b.world.containers {
		if c.cmd != nil && c.cmd.starter == b {
			mine = append(mine, c.cmd)
		}
	}
	hooks := slices.Clone(b.hooks)
	b.world.mu.Unlock()
	for _, c := range mine {
		switch {
		case c.script.DiesWithController:
			c.kill()
		case c.stdinMode == runtime.StdinPipe:
			c.stdin.shut()
		}
	}
	for _, h := range hooks {
		h(at)
	}
}

// until gives a context that also ends with the controller.
func (b *Backend) until(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(b.life, func() { cancel(context.Cause(b.life)) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}
