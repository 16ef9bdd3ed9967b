package engine

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	cerrdefs "github.com/containerd/errdefs"

	"github.com/sbxkit/sbxkit/runtime"
)

// Prepare makes the run's volumes, network and container, and reads back what the engine accepted. On error what was made is removed
// again; where that could not be seen the Failure is Uncertain and says what is left.
func (b *Backend) Prepare(ctx context.Context, p *runtime.Plan) (runtime.Resources, error) {
	req, ok := p.Create.(*CreateRequest)
	if !ok || req == nil {
		return nil, runtime.Fail(runtime.Setup, "the plan was not made by the backend %s", b.def.Description.Name).At(runtime.StepPrepare)
	}
	l, err := b.linkTo(p.Token.Endpoint)
	if err != nil {
		return nil, runtime.AsFailure(err, runtime.Setup).At(runtime.StepPrepare)
	}
	if err := b.seen(ctx, l, p); err != nil {
		return nil, runtime.AsFailure(err, runtime.Setup).At(runtime.StepPrepare)
	}
	r := &resources{b: b, link: l, token: p.Token, plan: p}
	// A copy: the plan is not changed after it is made.
	c := *req
	config := *req.Config
	c.Config = &config
	labels := ownership(p, time.Now())
	config.Labels = maps.Clone(config.Labels)
	if config.Labels == nil {
		config.Labels = map[string]string{}
	}
	maps.Copy(config.Labels, labels)
	if err := r.make(ctx, &c, labels); err != nil {
		return nil, r.undo(ctx, runtime.AsFailure(err, runtime.Setup)).At(runtime.StepPrepare)
	}
	return r, nil
}

// make makes what the plan names. What an engine was asked to make is waited for a little longer than the caller does: it goes on
// making it, and only its answer says that it is there to be removed.
func (r *resources) make(ctx context.Context, c *CreateRequest, labels map[string]string) error {
	ctx, cancel := lingering(ctx, r.b.limit.afterwards)
	defer cancel()
	for _, v := range r.token.Volumes {
		if err := r.link.createVolume(ctx, v, labels); err != nil {
			return r.refusal(err, "making the volume %s", v)
		}
	}
	for _, n := range r.token.Networks {
		if err := r.link.createNetwork(ctx, n, labels); err != nil {
			return r.refusal(err, "making the network %s", n)
		}
		if err := r.named(ctx, n); err != nil {
			return err
		}
	}
	warnings, err := r.link.create(ctx, c, r.plan.Argv())
	if err != nil {
		return r.refusal(err, "making the container %s", r.token.Name)
	}
	if len(warnings) != 0 {
		// A warning says that something asked for is not done; the engine made the container all the same.
		return runtime.Fail(runtime.Setup, "the engine made the container with a warning: %s", strings.Join(warnings, "; ")).
			WithCure("leave out what the engine cannot do, or mend the host")
	}
	return r.readBack(ctx)
}

// named refuses aliases in a network without names: Podman makes one where its name service is not installed, and says nothing.
func (r *resources) named(ctx context.Context, network string) error {
	if len(r.plan.Request.Network.Aliases) == 0 {
		return nil
	}
	ok, err := r.link.resolves(ctx, network)
	switch {
	case err != nil:
		return r.refusal(err, "asking whether the network %s has names", network)
	case !ok:
		return runtime.Fail(runtime.Unsupported, "the networks of %s have no names: no alias would be found", r.plan.Identity).About("network.aliases").
			WithCure("install aardvark-dns, or the CNI plugin dnsname where networks are CNI's, or leave the aliases out")
	}
	return nil
}

// refusal is the Failure of something the engine did not make, private values hidden.
func (r *resources) refusal(err error, format string, args ...any) error {
	what := fmt.Sprintf(format, args...)
	r.unsure = r.unsure || !answered(err)
	f := r.b.setup(r.link, hide(err, r.plan.Request), "%s", what)
	if cerrdefs.IsNotFound(err) && strings.HasPrefix(what, "making the container") {
		// The one thing create looks for by name beside networks is the image.
		f.About("image").WithCure("see whether the image is still there: %s", r.b.command(r.link, "image", "inspect", r.plan.Request.Image.Ref))
	}
	return f
}

// undo removes what a failed Prepare made, and says what it could not. Where a call got no answer the engine may still be making what it
// was asked for: its absence now proves nothing.
func (r *resources) undo(ctx context.Context, f *runtime.Failure) *runtime.Failure {
	cleanup, cancel := detached(ctx, r.b.limit.remove, "the removal of what was made")
	defer cancel()
	_, err := r.Remove(cleanup)
	switch {
	case err != nil:
		return runtime.Fail(runtime.Uncertain, "%s; and what was made could not be seen gone: %w", f.Message, err).
			WithLeft(runtime.AsFailure(err, runtime.Uncertain).Left...)
	case r.unsure:
		return runtime.Fail(runtime.Uncertain, "%s; it may still be made", f.Message).Because(f.Err).WithLeft(r.b.leftContainer(r.link, r.token.Name))
	}
	return f
}
