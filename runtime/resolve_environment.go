package runtime

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// matches reports whether a name is on a list of names and patterns that may end in *. An empty list matches nothing.
func matches(list []string, name string) bool {
	for _, p := range list {
		if prefix, ok := strings.CutSuffix(p, "*"); ok {
			if strings.HasPrefix(name, prefix) {
				return true
			}
		} else if p == name {
			return true
		}
	}
	return false
}

func (r *resolver) environment() error {
	p, l := r.p.Environment, r.l.Env
	vars := map[string]Variable{}
	for name, value := range r.host {
		if matches(p.Forward, name) && variableName.MatchString(name) {
			vars[name] = Variable{Name: name, Value: value, Origin: "forward"}
		}
	}
	for _, v := range p.Set {
		vars[v.Name] = Variable{Name: v.Name, Value: v.Value, Public: true, Origin: "policy"}
	}
	accepted := func(name string) bool { return matches(p.Accept, name) || matches(p.Forward, name) }
	for _, pattern := range l.Forward {
		r.ask("environment.forward")
		if !strings.HasSuffix(pattern, "*") && !accepted(pattern) {
			return denied("environment.forward", "the policy of %s does not let %s be forwarded", r.d.Name, pattern).WithCure("add it to policy.environment.accept of the spec, or leave it out")
		}
		for name, value := range r.host {
			if matches([]string{pattern}, name) && accepted(name) && variableName.MatchString(name) {
				vars[name] = Variable{Name: name, Value: value, Origin: "launch"}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(l.Set)) {
		r.ask("environment.set")
		if !variableName.MatchString(name) {
			return denied("environment.set", "%q is not a variable's name (letters, digits and underscore, no digit first)", name)
		}
		if !matches(p.Accept, name) {
			return denied("environment.set", "the policy of %s does not let a launch set %s", r.d.Name, name).WithCure("add it to policy.environment.accept of the spec, or give it as a credential by role")
		}
		if strings.IndexByte(l.Set[name], 0) >= 0 {
			return denied("environment.set", "the value of %s holds a NUL byte, which no environment can carry", name)
		}
		vars[name] = Variable{Name: name, Value: l.Set[name], Origin: "launch"}
	}
	if err := r.searchPath(vars); err != nil {
		return err
	}
	if len(l.Deny) > 0 {
		r.ask("environment.deny")
	}
	for name := range vars {
		if matches(p.Deny, name) || matches(l.Deny, name) {
			delete(vars, name)
		}
	}
	for _, v := range vars {
		r.req.Env = append(r.req.Env, v)
	}
	if len(vars) > 0 {
		r.ask("environment")
	}
	return nil
}

func (r *resolver) searchPath(vars map[string]Variable) error {
	l := r.l.Env.Path
	if l.Set == "" && len(l.Prepend) == 0 {
		return nil
	}
	r.ask("environment.path")
	value, public := l.Set, false
	if value == "" {
		value = vars["PATH"].Value
		public = vars["PATH"].Public
		if value == "" && r.in.Image != nil {
			value = environMap(r.in.Image.Env)["PATH"]
		}
	}
	for _, d := range slices.Backward(l.Prepend) {
		if !path.IsAbs(d) || strings.ContainsAny(d, ":\x00") {
			return denied("environment.path", "%q is not a directory PATH can hold (absolute, no colon)", d)
		}
		if value == "" {
			value = d
		} else {
			value = d + ":" + value
		}
		public = false
	}
	if strings.IndexByte(value, 0) >= 0 {
		return denied("environment.path", "PATH holds a NUL byte, which no environment can carry")
	}
	vars["PATH"] = Variable{Name: "PATH", Value: value, Public: public, Origin: "launch"}
	return nil
}
