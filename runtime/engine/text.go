package engine

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sbxkit/sbxkit/runtime"
)

// carried refuses what the engine's API cannot carry as it is. The API is JSON, which has no bytes but text: a path that is not UTF-8
// arrives with other characters in it, and Podman then makes and mounts a directory of that other name (4.3.1, measured). Podman's
// Docker API also turns each mount into one comma-separated word without quoting it (4.3.1, measured: "ma: invalid mount option" for a
// directory com,ma), so that a directory's name could be read as options.
func carried(r *runtime.Request, id runtime.Identity) error {
	text := func(feature, what, s string) error {
		if utf8.ValidString(s) {
			return nil
		}
		return runtime.Fail(runtime.Unsupported, "%s %q is not UTF-8, which the engine's API cannot carry", what, s).About(feature).
			WithCure("use another name, or a backend whose sandbox is a process")
	}
	for _, w := range r.Command {
		if err := text("command", "the word", w); err != nil {
			return err
		}
	}
	for _, v := range r.Env {
		// The value may be a secret: it is not in the message.
		if !utf8.ValidString(v.Value) {
			return runtime.Fail(runtime.Unsupported, "the value of %s is not UTF-8, which the engine's API cannot carry", v.Name).About("environment")
		}
	}
	if err := text("workdir", "the working directory", r.Dir); err != nil {
		return err
	}
	for _, l := range r.Labels {
		if err := text("labels", "the label "+l.Name, l.Value); err != nil {
			return err
		}
	}
	for _, m := range r.Mounts {
		for _, p := range []string{m.Source, m.Target} {
			if err := text("mount."+string(m.Kind), m.Origin+": the path", p); err != nil {
				return err
			}
			if id.Engine == podmanEngine && strings.ContainsAny(p, ",\"\r\n") {
				return runtime.Fail(runtime.Unsupported, "%s: the path %q holds a comma, a quote or a line break, which Podman's API reads as mount options", m.Origin, p).
					About("mount." + string(m.Kind)).WithCure("use another name, or another backend")
			}
		}
	}
	return nil
}

// masking refuses a mask over a directory that the engine would fill with what it should hide: Podman copies what stands beneath into a
// tmpfs unless its options say notmpcopyup (4.3.1, measured).
func masking(r *runtime.Request, c *CreateRequest, id runtime.Identity) error {
	if id.Engine != podmanEngine {
		return nil
	}
	for _, m := range r.Mounts {
		if m.Kind != runtime.MountMaskDir || slices.Contains(strings.Split(c.HostConfig.Tmpfs[m.Target], ","), "notmpcopyup") {
			continue
		}
		return runtime.Fail(runtime.Unsupported, "%s: Podman would fill the mask over the directory %q with what it should hide", m.Origin, m.Target).
			About("mount.mask-dir").WithCure("spell mount.mask-dir in the spec as a tmpfs with the option notmpcopyup, as the podman spec does")
	}
	return nil
}
