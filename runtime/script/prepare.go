package script

import (
	"context"
	"slices"

	"github.com/sbxkit/sbxkit/runtime"
)

// Prepare makes the run's container, created and not started, and its volumes.
func (b *Backend) Prepare(ctx context.Context, p *runtime.Plan) (runtime.Resources, error) {
	player := b.cast(p.Request)
	r := &resources{b: b, token: p.Token, plan: p, player: player, record: newInvocation(player.script, p)}
	b.world.enter(r)
	err := b.call(ctx, player, p.Token.Run.ID, OnPrepare, "", func() error { return b.world.create(r) })
	if err == nil {
		return r, nil
	}
	// Made, and the answer is lost or the controller refuses it: the driver has the token, and a person the command.
	f := runtime.AsFailure(err, runtime.Setup)
	if b.world.find(p.Token.Name) != nil && len(f.Left) == 0 {
		f = f.WithLeft(left("container", p.Token.Name))
	}
	return nil, f
}

func left(what, name string) runtime.Leftover {
	return runtime.Leftover{What: what, Name: name, Settle: "World.Remove " + runtime.ShellQuote(name)}
}

func newInvocation(s *Script, p *runtime.Plan) *Invocation {
	return &Invocation{
		Script: s.Name, Run: p.Token.Run, Owner: p.Token.Run.Owner, Argv: slices.Clone(p.Argv()), Command: slices.Clone(p.Request.Command),
		Env: slices.Clone(p.Request.Env), Request: p.Request, PlanDigest: p.Digest(),
	}
}

// enter remembers what the run of r plays and its record, also for handles that are reopened when nothing of it is left.
func (w *World) enter(r *resources) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.runs = append(w.runs, r.record)
	w.played[r.token.Name] = played{r.player, r.record}
}

// create makes the container of r, and its volumes, or nothing.
func (w *World) create(r *resources) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := r.token
	if w.containers[t.Name] != nil {
		return runtime.Fail(runtime.Setup, "the container name %s is taken", t.Name).At(runtime.StepPrepare)
	}
	for _, v := range t.Volumes {
		if w.volumes[v] != nil {
			return runtime.Fail(runtime.Setup, "the volume name %s is taken", v).At(runtime.StepPrepare)
		}
	}
	res := Resource{Kind: "container", Name: t.Name, Owner: t.Run.Owner, Run: t.Run.ID, Backend: t.Backend, State: Created, Labels: r.plan.Request.Labels}
	w.containers[t.Name] = &container{Resource: res, token: t}
	for _, v := range t.Volumes {
		vol := res
		vol.Kind, vol.Name, vol.State = "volume", v, ""
		w.volumes[v] = &vol
	}
	return nil
}
