package engine

import (
	"context"

	"github.com/sbxkit/sbxkit/runtime"
)

// identify asks the engine for the started process and measures what the plan claims.
func (p *process) identify(ctx context.Context) error {
	i, err := p.link.inspect(ctx, p.token.Name)
	if err != nil {
		return p.b.setup(p.link, err, "describing the started container %s", p.token.Name)
	}
	p.id = runtime.ProcessIdentity{Container: i.ID}
	if !p.plan.Identity.Remote {
		p.id.PID = state(i).Pid
		p.id.BootID = bootID()
	}
	p.guarantees = p.readback
	return nil
}
