package engine

import (
	"context"
	"sync"

	"github.com/sbxkit/sbxkit/runtime"
)

// resources is what exists of one run on an engine: a container, volumes, a network. A reopened one has a token and nothing else.
type resources struct {
	b     *Backend
	link  link
	token runtime.Token
	plan  *runtime.Plan // nil for a reopened run
	// unsure is true where the engine did not answer whether it made something.
	unsure bool

	mu sync.Mutex
	// readback is what the engine's record of the created container says of the plan's claims.
	readback []runtime.Guarantee
	running  *process
}

var (
	_ runtime.Resources = (*resources)(nil)
	_ runtime.Witness   = (*resources)(nil)
)

// Token names the run's resources.
func (r *resources) Token() runtime.Token { return r.token }

// Reopen gives a handle by the token alone. It does not talk to the engine.
func (b *Backend) Reopen(_ context.Context, t runtime.Token) (runtime.Resources, error) {
	if t.Name == "" || t.Run.ID == "" {
		return nil, runtime.Fail(runtime.Setup, "a token of %s without a container's name or a run", b.def.Description.Name).At(runtime.StepReconcile)
	}
	l, err := b.linkTo(t.Endpoint)
	if err != nil {
		return nil, runtime.AsFailure(err, runtime.Setup).At(runtime.StepReconcile)
	}
	return &resources{b: b, link: l, token: t}, nil
}
