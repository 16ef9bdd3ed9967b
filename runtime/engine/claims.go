package engine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sbxkit/sbxkit/runtime"
)

// claims lists what a plan claims, so that each can be measured: in the engine's own record of the created container, and in the
// kernel's of the started process.
func (b *Backend) claims(r *runtime.Request, image *runtime.ImageFacts) []runtime.Claim {
	var out []runtime.Claim
	add := func(name, value string, required bool) {
		out = append(out, runtime.Claim{Name: name, Value: value, Required: required})
	}
	d := b.def.Description
	for _, f := range d.Features {
		switch {
		case strings.HasPrefix(f.Name, "hardening.") && r.Hardening.Has(f.Name):
			value := "on"
			switch f.Name {
			case "hardening.seccomp":
				value = r.Hardening.Seccomp
			case "hardening.seccomp-profile":
				value = seccompClaim(r)
			case "hardening.apparmor":
				value = r.Hardening.AppArmor
			}
			add(f.Name, value, slices.Contains(r.Required, f.Name))
		case f.By == "driver":
			// Kept outside the sandbox: no record of the engine or kernel shows it.
		case f.Name == "limits.cpuset" && r.Limits.CPUSet != "":
			add(f.Name, r.Limits.CPUSet, true)
		case strings.HasPrefix(f.Name, "limits."):
			if l := r.Limits.Get(f.Name); l != nil {
				value := strconv.FormatUint(l.Hard, 10)
				if l.Soft != l.Hard {
					value = fmt.Sprintf("%d:%d", l.Soft, l.Hard)
				}
				add(f.Name, value, true)
			}
		}
	}
	add("network."+string(r.Network.Mode), string(r.Network.Mode), true)
	if r.User.Kind == runtime.UserCaller || r.User.Kind == runtime.UserID {
		add("user."+string(r.User.Kind), fmt.Sprintf("%d:%d", r.User.UID, r.User.GID), true)
	}
	add("image", image.ID, true)
	names := make([]string, len(r.Env))
	for i, v := range r.Env {
		names[i] = v.Name
	}
	slices.Sort(names)
	// Not required: by the time it is read the command may have given itself another.
	add("environment", fmt.Sprintf("%s beside the image's and the engine's own: %s", plural(len(names), "variable"), strings.Join(names, " ")), false)
	return out
}
