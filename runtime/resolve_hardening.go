package runtime

import "slices"

// hardening takes the policy's options, adds the launch's, and drops a preferred one the host or backend cannot do, saying so.
func (r *resolver) hardening() error {
	out, asked := &r.req.Hardening, r.l.Hardening
	for _, rule := range r.p.Hardening {
		switch rule.Level {
		case LevelRequired:
			out.set(rule.Name, rule.Value)
			r.req.Required = append(r.req.Required, rule.Name)
		case LevelPreferred:
			if f := r.refusal(rule.Name); f != nil {
				r.dropped = append(r.dropped, Dropped{What: rule.Name, Why: f.Message})
			} else {
				out.set(rule.Name, rule.Value)
			}
		}
	}
	for name := range hardeningFields {
		if !asked.Has(name) {
			continue
		}
		can := r.refusal(name) == nil // what the backend cannot do is refused as that below
		if can && name == "hardening.seccomp-profile" && out.value(name) == "" {
			return denied(name, "the policy of %s names no filter, and a launch's own could be weaker than the engine's", r.d.Name).
				WithCure("name the file in policy.hardening of the spec")
		}
		if can && name == "hardening.apparmor" && asked.AppArmor == "unconfined" && out.AppArmor != asked.AppArmor {
			return denied(name, "a launch cannot take the engine's own profile away").WithCure("name a profile, or none")
		}
		if v, p := asked.value(name), out.value(name); v != "" && p != "" && v != p {
			return denied(name, "the policy of %s has %s: %s; a launch cannot change it to %s", r.d.Name, name, p, v)
		}
		out.set(name, asked.value(name))
		if !slices.Contains(r.req.Required, name) {
			r.req.Required = append(r.req.Required, name)
		}
	}
	if r.req.Hostname != "" && r.d.Kind == "process" && !r.d.Unsandboxed {
		out.UTSNamespace = true
	}
	for name := range hardeningFields {
		if out.Has(name) {
			r.ask(name)
		}
	}
	slices.Sort(r.req.Required)
	return nil
}
