package engine

import (
	"context"
	"slices"
	"strings"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/image"

	"github.com/sbxkit/sbxkit/runtime"
)

// Ensure makes an image present, as the pull policy says, and gives what planning needs to know of it.
func (b *Backend) Ensure(ctx context.Context, i runtime.Image, progress func(string)) (*runtime.ImageFacts, error) {
	facts, err := b.ensure(ctx, i, progress)
	if err != nil {
		return nil, runtime.AsFailure(err, runtime.Setup).At(runtime.StepPlan).About("image")
	}
	return facts, nil
}

func (b *Backend) ensure(ctx context.Context, i runtime.Image, progress func(string)) (*runtime.ImageFacts, error) {
	l, err := b.current()
	if err != nil {
		return nil, err
	}
	if i.Ref == "" {
		return nil, runtime.Fail(runtime.Setup, "no image is named").WithCure("set Launch.Image, or policy.image of the spec")
	}
	if i.Pull != runtime.PullAlways {
		found, err := l.image(ctx, i.Ref)
		switch {
		case err == nil:
			return b.imageFacts(l, i, found)
		case !cerrdefs.IsNotFound(err):
			return nil, b.setup(l, err, "looking for the image %s", i.Ref)
		case i.Pull != runtime.PullMissing:
			return nil, runtime.Fail(runtime.Setup, "the image %s is not there, and the policy is to pull %s", i.Ref, runtime.PullNever).
				Because(err).WithCure("run: %s", b.pullCommand(l, i))
		}
	}
	if err := l.pull(ctx, i.Ref, i.Platform, progress); err != nil {
		return nil, b.setup(l, err, "pulling the image %s", i.Ref).WithCure("run: %s", b.pullCommand(l, i))
	}
	found, err := l.image(ctx, i.Ref)
	if err != nil {
		return nil, b.setup(l, err, "looking for the image %s after pulling it", i.Ref)
	}
	return b.imageFacts(l, i, found)
}

func (b *Backend) pullCommand(l link, i runtime.Image) string {
	words := []string{"pull"}
	if i.Platform != "" {
		words = append(words, "--platform", i.Platform)
	}
	return b.command(l, append(words, i.Ref)...)
}

// imageFacts reads what planning uses. An image of another platform than asked for is refused: an engine would run it, slowly or not at
// all.
func (b *Backend) imageFacts(l link, i runtime.Image, found *image.InspectResponse) (*runtime.ImageFacts, error) {
	f := &runtime.ImageFacts{Ref: i.Ref, ID: found.ID, Platform: found.Os + "/" + found.Architecture}
	if found.Variant != "" {
		f.Platform += "/" + found.Variant
	}
	if i.Platform != "" && f.Platform != i.Platform && !strings.HasPrefix(f.Platform, i.Platform+"/") {
		return nil, runtime.Fail(runtime.Setup, "the image %s is of %s, and %s was asked for", i.Ref, f.Platform, i.Platform).
			About("image.platform").WithCure("run: %s", b.pullCommand(l, i))
	}
	// The digest of the repository the reference names, else the first.
	digests := slices.Clone(found.RepoDigests)
	slices.Sort(digests)
	name := repository(i.Ref)
	for _, d := range digests {
		at := strings.LastIndexByte(d, '@')
		if at < 0 {
			continue
		}
		if f.Digest == "" || d[:at] == name || strings.HasSuffix(d[:at], "/"+name) {
			f.Digest = d[at+1:]
		}
	}
	if c := found.Config; c != nil {
		f.User, f.Workdir, f.Env = c.User, c.WorkingDir, c.Env
		f.Health = c.Healthcheck != nil && hasTest(c.Healthcheck)
	}
	return f, nil
}

// repository is a reference without its tag and digest.
func repository(ref string) string {
	ref, _, _ = strings.Cut(ref, "@")
	if colon := strings.LastIndexByte(ref, ':'); colon > strings.LastIndexByte(ref, '/') {
		ref = ref[:colon]
	}
	return ref
}
