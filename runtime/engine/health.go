package engine

import (
	"context"
	"errors"
	"net/url"
	"time"

	"github.com/sbxkit/sbxkit/runtime"
)

// Health is the engine's health status while the command runs. One that has ended has none: an engine stops its checks and then says
// "unhealthy" (measured on Docker 20.10), whatever they found before.
func (p *process) Health(ctx context.Context) (string, error) {
	i, err := p.link.inspect(ctx, p.token.Name)
	if err == nil && p.link.who().engine == podmanEngine && checkDue(i, time.Now()) {
		if err = p.link.checkHealth(ctx, p.token.Name); err == nil {
			i, err = p.link.inspect(ctx, p.token.Name)
		}
	}
	if err != nil {
		return "", p.b.setup(p.link, err, "asking for the health of %s", p.token.Name).At(runtime.StepStart)
	}
	s := state(i)
	if s.Health == nil || s.Health.Status == "none" || !phaseOf(i).lives() {
		return "", nil
	}
	return s.Health.Status, nil
}

// checkInterval is that of a check that says nothing else, on both engines.
const checkInterval = 30 * time.Second

// checkDue reports whether a container's health check should have been run and was not. Podman has systemd do it, and where that is not the
// init nobody does: such a container stays "starting" for ever (4.3.1, measured).
func checkDue(i *inspected, now time.Time) bool {
	last, started := startedAt(i)
	if !started || !phaseOf(i).lives() || !hasCheck(i) {
		return false
	}
	if h := state(i).Health; h != nil {
		for _, r := range h.Log {
			if r != nil && r.End.After(last) {
				last = r.End
			}
		}
	}
	every := i.Config.Healthcheck.Interval
	if every <= 0 {
		every = checkInterval
	}
	return now.Sub(last) >= every
}

// hasCheck reports whether a container has a health check: its image's, where that has one.
func hasCheck(i *inspected) bool {
	return i.Config != nil && i.Config.Healthcheck != nil && hasTest(i.Config.Healthcheck)
}

func hasTest(c *HealthConfig) bool { return len(c.Test) != 0 && c.Test[0] != "NONE" }

// checked refuses to wait for a health that nobody looks at.
func (r *resources) checked(i *inspected) error {
	if y := r.plan.Request.Ready; y == nil || !y.Health || hasCheck(i) {
		return nil
	}
	return runtime.Fail(runtime.Setup, "the image %s has no health check: the command would never be ready", r.plan.Request.Image.Ref).About("ready.health").
		WithCure("use an image with a HEALTHCHECK (in Docker's format: OCI's has none), or another kind of readiness")
}

func (a *api) checkHealth(ctx context.Context, name string) error {
	ctx, cancel := bounded(ctx, a.limit.change, "GET /libpod/containers/{name}/healthcheck")
	defer cancel()
	_, err := a.libpod(ctx, "/containers/"+url.PathEscape(name)+"/healthcheck")
	return err
}

// checkHealth tells a check that found the container unhealthy from one that was not run by the record, as its caller does.
func (c *cli) checkHealth(ctx context.Context, name string) error {
	_, err := c.call(ctx, c.limit.change, nil, "healthcheck", "run", name)
	var failed *cliError
	if errors.As(err, &failed) {
		return nil
	}
	return err
}
