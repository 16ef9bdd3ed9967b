package runtime

import (
	"regexp"
	"slices"
)

// limits merges each limit: the launch may lower what the policy gives.
func (r *resolver) limits() error {
	if s := r.l.Limits.CPUSet; s != "" {
		if !cpuset.MatchString(s) {
			return denied("limits.cpuset", "%q is not a list of CPUs such as 0-3,7", s)
		}
		r.req.Limits.CPUSet = s
		r.ask("limits.cpuset")
	} else if i := slices.IndexFunc(r.p.Limits, func(x LimitRule) bool { return x.Name == "limits.cpuset" }); i >= 0 && r.p.Limits[i].Text != "" {
		r.req.Limits.CPUSet = r.p.Limits[i].Text
		r.ask("limits.cpuset")
	}
	var asked Limits = r.l.Limits
	for _, f := range limitFields {
		want := *f.of(&asked)
		var rule LimitRule
		if i := slices.IndexFunc(r.p.Limits, func(x LimitRule) bool { return x.Name == f.name }); i >= 0 {
			rule = r.p.Limits[i]
		}
		if n, ok := r.knobLimits[f.name]; ok {
			if rule.Max != nil && n > rule.Max.Hard {
				return denied(f.name, "%s: a knob sets %d, above the policy's %d", f.name, n, rule.Max.Hard).WithCure("set the knob to at most %d, or raise policy.%s in the spec with a because", rule.Max.Hard, f.name)
			}
			rule.Default = AtMost(n)
		}
		top := rule.Max
		if top == nil {
			top = rule.Default
		}
		if want == nil {
			if rule.Default == nil {
				continue
			}
			want = rule.Default
		} else {
			if want.Soft > want.Hard {
				return denied(f.name, "%s: soft %d is above hard %d", f.name, want.Soft, want.Hard)
			}
			if top != nil && want.Hard > top.Hard {
				return denied(f.name, "%s: %d is above the policy's %d; a launch may lower a limit, not raise it", f.name, want.Hard, top.Hard).WithCure("ask for at most %d, or raise policy.%s in the spec with a because", top.Hard, f.name)
			}
		}
		c := *want
		*f.of(&r.req.Limits) = &c
		r.ask(f.name)
	}
	if r.req.Limits.Swap != nil && r.req.Limits.Memory == nil {
		return denied("limits.swap", "swap is bounded together with memory, and there is no limits.memory").WithCure("set Limits.Memory too")
	}
	return nil
}

var cpuset = regexp.MustCompile(`^[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*$`)
