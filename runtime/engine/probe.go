package engine

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/system"

	"github.com/sbxkit/sbxkit/runtime"
)

// Probe finds the engine, asks who it is, and makes it run a real minimal container of the image it is given, if that image is there; it
// never fetches one. The container is removed again, also when ctx ends early. A proof is kept for a minute, as long as the same
// engine answers; Deep asks for a new one.
func (b *Backend) Probe(ctx context.Context, r runtime.ProbeRequest) (*runtime.Identity, error) {
	lookup := r.Lookup
	if lookup == nil {
		lookup = os.LookupEnv
	}
	id, err := b.probe(ctx, r, lookup)
	if err != nil {
		return nil, runtime.AsFailure(err, runtime.Setup).At(runtime.StepProbe)
	}
	return id, nil
}

// proof is an identity with the launch that was shown for it.
type proof struct {
	identity runtime.Identity
	// looked is true where it was found out whether the engine sees this host's files.
	looked bool
	at     time.Time
}

// proofOf is what was proven: that the engine at an endpoint runs an image, by its id; empty for no launch.
type proofOf struct{ endpoint, image string }

// proofAge is how long a proof is believed of an engine that answers as the same.
const proofAge = time.Minute

func (b *Backend) probe(ctx context.Context, r runtime.ProbeRequest, lookup func(string) (string, bool)) (*runtime.Identity, error) {
	e, err := b.resolve(lookup)
	if err != nil {
		return nil, err
	}
	l, err := b.link(e, lookup)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	b.probed = e.host
	b.mu.Unlock()
	ref := b.probeImage(r, lookup)
	prove := func() (*runtime.Identity, error) { return b.prove(ctx, e, l, ref, r) }
	if r.Deep {
		return prove()
	}
	return b.together(ctx, e.host+" "+ref+" "+r.For+" "+strconv.FormatBool(r.Shows), prove)
}

// prove asks the engine who it is, and makes it show it where that is not known: by a launch of the image ref, or by a look through another.
func (b *Backend) prove(ctx context.Context, e endpoint, l link, ref string, r runtime.ProbeRequest) (*runtime.Identity, error) {
	id, err := b.greet(ctx, l)
	if err != nil {
		return nil, err
	}
	through := ""
	if r.Shows || id.Engine == podmanEngine {
		// Podman fails to create a container with an init where that is not installed.
		through = r.For
	}
	image := ""
	if ref != "" {
		i, err := l.image(ctx, ref)
		switch {
		case err == nil:
			image = i.ID
		case !cerrdefs.IsNotFound(err):
			return nil, b.unreached(ctx, e, fmt.Errorf("looking for the image %s: %w", ref, err))
		}
		// An absent image is Ensure's to report, with its cure: the engine itself answers.
	}
	b.mu.Lock()
	known, proven := b.proofs[proofOf{e.host, image}]
	b.mu.Unlock()
	if proven && !r.Deep && (known.looked || through == "") && known.identity.Engine == id.Engine && known.identity.Version == id.Version && known.identity.API == id.API && time.Since(known.at) < proofAge {
		return &known.identity, nil
	}
	info, err := b.inform(ctx, l, id)
	if err != nil {
		return nil, err
	}
	if image != "" {
		t := &trial{b: b, link: l, id: id, ref: ref, image: image, near: seemsLocal(info)}
		if err := t.run(ctx); err != nil {
			return nil, err
		}
	}
	looked := image != ""
	if !looked && through != "" {
		if looked, err = b.look(ctx, l, id, info, through); err != nil {
			return nil, err
		}
	}
	b.mu.Lock()
	b.proofs[proofOf{e.host, image}] = proof{*id, looked, time.Now()}
	b.mu.Unlock()
	return id, nil
}

// look finds out whether the engine sees this host's files, through an image that is not launched; false where the image is not there.
func (b *Backend) look(ctx context.Context, l link, id *runtime.Identity, info *system.Info, ref string) (bool, error) {
	i, err := l.image(ctx, ref)
	switch {
	case cerrdefs.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, b.unreached(ctx, l.endpoint(), fmt.Errorf("looking for the image %s: %w", ref, err))
	}
	t := &trial{b: b, link: l, id: id, ref: ref, image: i.ID, near: seemsLocal(info)}
	return true, t.look(ctx)
}

// seen refuses a plan with paths of this host whose engine turns out not to see them. The probe finds it out where it has an image to look
// through; one that was fetched after it is looked through here.
func (b *Backend) seen(ctx context.Context, l link, p *runtime.Plan) error {
	if p.Identity.Remote || !hasHostPaths(p.Request) {
		return nil
	}
	b.mu.Lock()
	looked := false
	for of, known := range b.proofs {
		looked = looked || known.looked && of.endpoint == l.endpoint().host
	}
	b.mu.Unlock()
	if looked {
		return nil
	}
	id := p.Identity
	info, err := b.inform(ctx, l, &id)
	if err != nil {
		return err
	}
	looked, err = b.look(ctx, l, &id, info, p.Request.Image.Ref)
	if err != nil {
		return err
	}
	b.mu.Lock()
	b.proofs[proofOf{endpoint: l.endpoint().host}] = proof{id, looked, time.Now()}
	b.mu.Unlock()
	return visible(p.Request, id)
}

// probeImage is the image to launch: the request's, the caller's option, a knob's, the policy's.
func (b *Backend) probeImage(r runtime.ProbeRequest, lookup func(string) (string, bool)) string {
	if r.Image != "" {
		return r.Image
	}
	if b.def.Options.Image != "" {
		return b.def.Options.Image
	}
	for _, k := range b.def.Description.Policy.Knobs {
		if k.Sets != "image" {
			continue
		}
		if k.Env != "" {
			if v, ok := lookup(k.Env); ok && v != "" {
				return v
			}
		}
		if k.Default != "" {
			return k.Default
		}
	}
	return b.def.Description.Policy.Image.Ref
}
