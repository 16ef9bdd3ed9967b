package runtime

import (
	"slices"
	"strings"
)

func (r *resolver) image() error {
	i := r.l.Image
	if i.Ref == "" {
		i.Ref = r.p.Image.Ref
		if r.knobImage != "" {
			i.Ref = r.knobImage
		}
	} else {
		f, _ := r.d.Feature("image")
		if f.How != HowUnsupported && !matches(r.p.ImageAccept, i.Ref) && i.Ref != r.p.Image.Ref && i.Ref != r.knobImage {
			return denied("image", "the policy of %s does not accept the image %q", r.d.Name, i.Ref).WithCure("add it to policy.image.accept of the spec")
		}
		r.ask("image")
	}
	if strings.HasPrefix(i.Ref, "-") || strings.ContainsAny(i.Ref, " \t\r\n\x00") {
		return denied("image", "%q is not an image reference", i.Ref)
	}
	order := []PullPolicy{PullDefault, PullNever, PullMissing, PullAlways}
	want, allowed := slices.Index(order, i.Pull), slices.Index(order, r.p.Image.Pull)
	if want < 0 {
		return denied("image.pull", "%q is not a pull policy", string(i.Pull)).WithCure("use never, missing or always")
	}
	if i.Pull == PullDefault {
		i.Pull = r.p.Image.Pull
	} else {
		r.ask("image.pull")
		if want > max(allowed, 1) {
			return denied("image.pull", "the policy of %s is pull: %s; a launch cannot widen it to %s", r.d.Name, cmpOr(string(r.p.Image.Pull), "never"), i.Pull)
		}
	}
	if i.Pull == PullDefault {
		i.Pull = PullNever
	}
	if i.Platform == "" {
		i.Platform = r.p.Image.Platform
	}
	if i.Platform != "" {
		r.ask("image.platform")
	}
	if i.Ref != "" && r.d.Kind == "engine" {
		r.ask("image")
	}
	if r.d.Kind == "engine" && i.Ref == "" {
		return denied("image", "no image: neither the launch nor the policy of %s names one", r.d.Name).WithCure("set Launch.Image, or sbxctl --image REF")
	}
	r.req.Image = i
	return nil
}
