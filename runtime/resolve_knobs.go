package runtime

import (
	"strconv"
	"strings"
)

// knobs reads the controller's environment for the policy values a spec lets it set.
func (r *resolver) knobs() error {
	for _, k := range r.p.Knobs {
		v, ok := r.host[k.Env]
		if !ok || v == "" {
			v = k.Default
		}
		if v == "" {
			continue
		}
		switch {
		case k.Sets == "image":
			r.knobImage = v
		case k.Sets == "user":
			r.knobUser = v
		case strings.HasPrefix(k.Sets, "limits."):
			n, err := strconv.ParseUint(v, 10, 64)
			if err != nil {
				return denied(k.Sets, "%s is not a whole number", k.Env).WithCure("set %s to a number in the unit of %s, or unset it", k.Env, k.Sets)
			}
			if r.knobLimits == nil {
				r.knobLimits = map[string]uint64{}
			}
			r.knobLimits[k.Sets] = n
		}
	}
	return nil
}
