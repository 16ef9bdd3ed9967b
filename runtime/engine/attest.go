package engine

import (
	"context"
	"time"

	"github.com/docker/docker/api/types/container"

	"github.com/sbxkit/sbxkit/runtime"
)

// attest asks the engine for the started process and measures what the plan claims in the kernel's own record of it, where that is this
// host's. What the kernel keeps no record of, and everything of a remote engine, stays at the engine's own record. The command runs by
// now: a required guarantee that does not hold ends it, and is Uncertain, since it may have run a few instructions.
func (p *process) attest(ctx context.Context) error {
	i := p.at.described
	if state(i).Pid == 0 {
		var err error
		if i, err = p.link.inspect(ctx, p.token.Name); err != nil {
			return runtime.Fail(runtime.Uncertain, "describing the started container %s: %w", p.token.Name, err).WithLeft(p.b.leftContainer(p.link, p.token.Name))
		}
	}
	p.id = runtime.ProcessIdentity{Container: i.ID}
	p.guarantees = p.readback
	if p.plan.Identity.Remote {
		// Nobody but the engine itself vouches for what it says it did.
		for n := range p.guarantees {
			if p.guarantees[n].Measured == runtime.MeasuredReadback {
				p.guarantees[n].Measured = runtime.MeasuredClaimed
			}
		}
		return nil
	}
	measured := p.measure(ctx, i)
	var broken []runtime.Guarantee
	for n, g := range p.guarantees {
		m, ok := measured[g.Name]
		if !ok {
			continue
		}
		p.guarantees[n] = m
		if m.Required && m.Measured == runtime.MeasuredBroken {
			broken = append(broken, m)
		}
	}
	if err := refuseBroken(broken, "the container is not what %s says it is, and was killed right after its start", p.plan.Identity); err != nil {
		f := runtime.AsFailure(err, runtime.Uncertain)
		f.Kind = runtime.Uncertain
		return f
	}
	return nil
}

// watcher is an open handle on a process that tells how it ended.
type watcher interface {
	// ended gives the exit status or the signal of an ended process; known is false where the kernel does not tell (yet).
	ended() (code, signal int, known bool)
	// usage waits for the end and gives what the container's control groups told then.
	usage() groupUsage
	close()
}

// groupUsage is when a container's command ended, and what its control groups told then. The groups are the container's, so that what
// runs beside the command is in it.
type groupUsage struct {
	at           time.Time
	kills        int64  // by the memory limit
	killsFrom    string // the file, empty where it could not be read
	peak         int64  // bytes
	user, system time.Duration
}

// inspected is what the engine says of a container.
type inspected = container.InspectResponse
