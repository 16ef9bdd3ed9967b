package runtime

import (
	"maps"
	"slices"
)

func (r *resolver) credentials() error {
	for _, role := range slices.Sorted(maps.Keys(r.l.Credentials)) {
		i := slices.IndexFunc(r.p.Credentials, func(c CredentialRule) bool { return c.Role == role })
		if i < 0 {
			return denied("credentials", "the policy of %s declares no credential role %q", r.d.Name, role).WithCure("declare it under policy.credentials of the spec")
		}
		rule, value := r.p.Credentials[i], slices.Clone(r.l.Credentials[role].Value)
		g := CredentialGrant{Role: role, Env: rule.Env, File: rule.File, Mode: rule.Mode, Value: value}
		switch {
		case rule.Env != "":
			r.ask("credentials.env")
			if slices.Contains(value, 0) {
				return denied("credentials.env", "the credential of role %q holds a NUL byte, which no environment can carry", role)
			}
			if slices.ContainsFunc(r.req.Env, func(v Variable) bool { return v.Name == rule.Env }) {
				return denied("credentials.env", "%s is both a variable and the credential of role %q", rule.Env, role)
			}
			r.req.Env = append(r.req.Env, Variable{Name: rule.Env, Value: string(value), Origin: "credential " + role})
			r.ask("environment")
		case rule.File != "":
			r.ask("credentials.file")
			if g.Mode == 0 {
				g.Mode = 0o400
			}
		default:
			r.ask("credentials.descriptor")
		}
		r.req.Credentials = append(r.req.Credentials, g)
	}
	return nil
}
