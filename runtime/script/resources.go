package script

import (
	"context"
	"slices"
	"sync"

	"github.com/sbxkit/sbxkit/runtime"
)

// resources is a controller's handle on what exists of a run.
type resources struct {
	b      *Backend
	plan   *runtime.Plan // nil on a reopened handle
	player *player
	record *Invocation

	mu       sync.Mutex
	token    runtime.Token
	snapshot string
}

var _ runtime.Resources = (*resources)(nil)

// Token names the resources.
func (r *resources) Token() runtime.Token {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.token
}

func (r *resources) run() string { return r.Token().Run.ID }

// Reopen gives a handle by token alone. The run's script goes on where it was: its faults count on.
func (b *Backend) Reopen(ctx context.Context, t runtime.Token) (runtime.Resources, error) {
	r := &resources{b: b, token: t}
	r.player, r.record = b.world.recall(t.Name)
	if err := b.call(ctx, r.player, t.Run.ID, OnReopen, "", func() error { return nil }); err != nil {
		return nil, err
	}
	return r, nil
}

// recall gives what the run of that container plays and its record; new ones for a run that no backend here prepared.
func (w *World) recall(name string) (*player, *Invocation) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p, ok := w.played[name]; ok {
		return p.player, p.record
	}
	return newPlayer(nil), &Invocation{}
}

// reopened is the failure of what a handle cannot do without the driver that made it.
func (r *resources) reopened(step runtime.Step) error {
	if r.plan != nil {
		return nil
	}
	return runtime.Fail(runtime.Unsupported, "a reopened run can be killed and removed, and nothing else").At(step)
}

// Stage records what it is given.
func (r *resources) Stage(ctx context.Context, s *runtime.Stage) (string, error) {
	note := "nothing to stage"
	err := r.b.call(ctx, r.player, r.run(), OnStage, "", func() error {
		if err := r.reopened(runtime.StepStage); err != nil {
			return err
		}
		if r.b.world.find(r.token.Name) == nil {
			return runtime.Fail(runtime.Setup, "the container %s is gone", r.token.Name).At(runtime.StepStage)
		}
		r.mu.Lock()
		r.snapshot = s.Snapshot
		r.mu.Unlock()
		if s.Snapshot != "" || s.Script != nil || len(s.Credentials) > 0 {
			note = "recorded"
		}
		r.record.change(func(i *Invocation) {
			i.Staged, i.Snapshot = true, s.Snapshot
			if s.Script != nil {
				i.ScriptText = slices.Clone(s.Script.Text)
			}
			i.Credentials = slices.Clone(s.Credentials)
			for n := range i.Credentials {
				i.Credentials[n].Value = slices.Clone(i.Credentials[n].Value)
			}
		})
		return nil
	})
	if err != nil {
		return "", err
	}
	return note, nil
}

// Kill ends the command and all it left behind.
func (r *resources) Kill(ctx context.Context) error {
	return r.b.call(ctx, r.player, r.run(), OnKill, "", func() error {
		r.record.change(func(i *Invocation) { i.Kills++ })
		if err := r.b.world.kill(ctx, r.Token().Name); err != nil {
			return interrupted(OnKill, true, err)
		}
		return nil
	})
}
