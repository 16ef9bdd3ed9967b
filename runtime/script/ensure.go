package script

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/sbxkit/sbxkit/runtime"
)

// Ensure finds an image of the world (World.AddImage), or fetches it where the policy permits that.
func (b *Backend) Ensure(ctx context.Context, i runtime.Image, progress func(string)) (*runtime.ImageFacts, error) {
	var facts *runtime.ImageFacts
	err := b.call(ctx, b.ahead(), "", OnEnsure, i.Ref, func() error {
		known, closed := b.world.image(i.Ref)
		fetch := i.Pull == runtime.PullAlways || known == nil && i.Pull == runtime.PullMissing
		switch {
		case known == nil && closed && fetch:
			return runtime.Fail(runtime.Setup, "no registry of the scripted world has image %q", i.Ref).About("image").At(runtime.StepPlan)
		case known == nil && closed:
			return runtime.Fail(runtime.Setup, "image %q is not in the scripted world", i.Ref).About("image").At(runtime.StepPlan).
				WithCure("add it with World.AddImage")
		case known == nil:
			sum := sha256.Sum256([]byte(i.Ref))
			known = &runtime.ImageFacts{Ref: i.Ref, ID: fmt.Sprintf("sha256:%x", sum), Platform: i.Platform}
		}
		if fetch && progress != nil {
			progress("fetched " + i.Ref)
		}
		facts = known
		return nil
	})
	if err != nil {
		return nil, err
	}
	if facts == nil {
		facts = &runtime.ImageFacts{Ref: i.Ref}
	}
	return facts, nil
}

// image gives an image's facts, and whether the world has only the images that were added to it.
func (w *World) image(ref string) (*runtime.ImageFacts, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f := w.images[ref]
	if f == nil {
		return nil, w.images != nil
	}
	c := *f
	return &c, true
}
