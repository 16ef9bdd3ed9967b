package spec

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
)

func (c *checker) policy() {
	d := &c.doc.Policy
	if d.At.Line == 0 {
		return
	}
	p := &c.b.Policy
	p.Pos = d.At
	c.environment(&d.Environment)
	c.limits(d.Limits)
	c.timeouts(&d.Timeouts)
	c.hardening(d.Hardening)
	for _, m := range d.Mounts {
		c.mount(m)
	}
	c.network(&d.Network)
	c.credentials(d.Credentials)
	c.user(&d.User)
	c.image(&d.Image)
	c.workspace(&d.Workspace)
	c.artifacts(&d.Artifacts)
	c.sockets(d.Sockets)
	if d.Workdir.given() {
		c.path(d.Workdir, "policy.workdir")
		p.Workdir = d.Workdir
	}
	c.knobs(d.Knobs)
}

func (c *checker) path(t Text, what string) string {
	if t.given() {
		if bad := badPath(t.Text); bad != "" {
			c.errorf(t.Pos, "", "%s %s %s", what, quote(t.Text), bad)
		}
	}
	return t.Text
}

func (c *checker) environment(d *environmentDoc) {
	if d.At.Line == 0 {
		return
	}
	e, base := &c.b.Policy.Environment, EnvironmentPolicy{}
	if c.base != nil {
		base = c.base.Policy.Environment
	}
	c.sentence(d.Because, "because")
	c.sentence(d.Set.Because, "because")
	for _, l := range []struct {
		name string
		list texts
		out  *[]Text
		base []Text
	}{{"forward", d.Forward, &e.Forward, base.Forward}, {"accept", d.Accept, &e.Accept, base.Accept}, {"deny", d.Deny, &e.Deny, nil}} {
		what := "policy.environment." + l.name
		for i, t := range l.list {
			if !variablePat.MatchString(t.Text) {
				c.errorf(t.Pos, "", "%s: %s is no name of an environment variable, nor one that ends in *", what, quote(t.Text))
			}
			if slices.ContainsFunc(l.list[:i], func(o Text) bool { return o.Text == t.Text }) {
				c.errorf(t.Pos, "", "%s: %s stands twice", what, quote(t.Text))
			}
		}
		switch {
		case l.list == nil:
		case l.name == "deny": // what a base denies stays denied
			for _, t := range l.list {
				if !slices.ContainsFunc(e.Deny, func(o Text) bool { return o.Text == t.Text }) {
					e.Deny = append(e.Deny, t)
				}
			}
		default:
			c.widerList(slices.DeleteFunc(slices.Clone(l.list), func(t Text) bool { return !variablePat.MatchString(t.Text) }), l.base, what, d.Because)
			*l.out = l.list
		}
	}
	for _, r := range d.Set.Entries {
		if !variableName.MatchString(r.Key) {
			c.errorf(r.Pos, "", "policy.environment.set: %s is no name of an environment variable", quote(r.Key))
		}
		v := Variable{r.Pos, r.Key, r.Value.Text}
		if i := slices.IndexFunc(e.Set, func(o Variable) bool { return o.Name == r.Key }); i >= 0 {
			e.Set[i] = v
			continue
		}
		c.needs(r.Pos, "policy.environment.set", "the base does not set "+r.Key, d.Because, d.Set.Because)
		e.Set = append(e.Set, v)
	}
	sort.Slice(e.Set, func(i, j int) bool { return e.Set[i].Name < e.Set[j].Name })
	c.reason(d.Because, "policy.environment")
	c.reason(d.Set.Because, "policy.environment.set")
}

func (c *checker) limits(t section[limitDoc]) {
	p := &c.b.Policy
	c.sentence(t.Because, "because")
	for _, r := range t.Entries {
		term, ok := Lookup("limits." + r.Key)
		if !ok {
			c.errorf(r.Pos, suggest(r.Key, below("limits")), "there is no limit %s", quote(r.Key))
			continue
		}
		what := "policy.limits." + r.Key
		before := len(c.list)
		rule := c.limit(term, r, what)
		if len(c.list) > before {
			continue
		}
		i := slices.IndexFunc(p.Limits, func(l LimitRule) bool { return l.Name == term.Name })
		if i < 0 {
			p.Limits = append(p.Limits, rule)
		} else {
			c.raise(rule, p.Limits[i], what, r.Value.Because, t.Because)
			p.Limits[i] = rule
		}
		c.reason(r.Value.Because, what)
	}
	sort.Slice(p.Limits, func(i, j int) bool { return p.Limits[i].Name < p.Limits[j].Name })
	c.reason(t.Because, "policy.limits")
}

func (c *checker) raise(rule, base LimitRule, what string, because ...Text) {
	switch {
	case base.Text != "" && rule.Text != base.Text:
		c.needs(rule.Pos, what, "it is not the base's "+base.Text, because...)
	case raised(rule.Default, base.Default) || raised(rule.Max, base.Max):
		c.needs(rule.Pos, what, "it is raised above the base's "+base.words(), because...)
	}
}

func (c *checker) limit(term Term, r row[limitDoc], what string) LimitRule {
	d := r.Value
	rule := LimitRule{Pos: d.At, Name: term.Name}
	c.sentence(d.Because, "because")
	if term.Name == "limits.cpuset" {
		if d.Max.given() || d.Soft.given() || d.Hard.given() {
			c.errorf(d.At, "", "%s is a list of CPUs; it has a default alone", what)
		}
		if d.Default.given() && !cpuList.MatchString(d.Default.Text) {
			c.errorf(d.Default.Pos, "", "%s %s is no list of CPUs such as 0-3,7", what, quote(d.Default.Text))
		}
		rule.Text = d.Default.Text
		return rule
	}
	_, soft := term.Value("soft")
	if !soft && (d.Soft.given() || d.Hard.given()) {
		c.errorf(d.At, "write default", "%s is no kernel resource limit; it has no soft and hard value", what)
	}
	if d.Default.given() && (d.Soft.given() || d.Hard.given()) {
		c.errorf(d.At, "", "%s has a default, and soft or hard beside it; one of them", what)
	}
	if d.At.Line > 0 && !d.Default.given() && !d.Soft.given() && !d.Hard.given() && !d.Max.given() {
		c.errorf(d.At, "write default, or max", "%s bounds nothing", what)
	}
	if n, ok := c.amount(d.Default, term, what); ok {
		rule.Default = &Bound{n, n}
	}
	hard, hardGiven := c.amount(d.Hard, term, what)
	low, softGiven := c.amount(d.Soft, term, what)
	if hardGiven || softGiven {
		if !hardGiven {
			hard = low
		}
		if !softGiven {
			low = hard
		}
		rule.Default = &Bound{low, hard}
		if low > hard {
			c.errorf(d.At, "", "%s: soft is above hard", what)
		}
	}
	if n, ok := c.amount(d.Max, term, what); ok {
		rule.Max = &Bound{n, n}
		if rule.Default != nil && rule.Default.Hard > n {
			c.errorf(d.At, "", "%s: the default is above max", what)
		}
	} else if rule.Default != nil {
		rule.Max = &Bound{rule.Default.Hard, rule.Default.Hard}
	}
	return rule
}

// amount reads a bound in the unit of its limit.
func (c *checker) amount(r raw, term Term, what string) (uint64, bool) {
	if !r.given() {
		return 0, false
	}
	n, want, ok := readAmount(term.Values[0].Format, r.Text)
	if !ok {
		c.errorf(r.Pos, "", "%s: %s is not %s", what, quote(r.Text), want)
	}
	return n, ok
}

func (c *checker) timeouts(d *timeoutsDoc) {
	if d.At.Line == 0 {
		return
	}
	t, base := &c.b.Policy.Timeouts, Timeouts{}
	if c.base != nil {
		base = c.base.Policy.Timeouts
	}
	c.sentence(d.Because, "because")
	for _, f := range []struct {
		name string
		r    raw
		out  *time.Duration
		base time.Duration
	}{{"start", d.Start, &t.Start, base.Start}, {"wall", d.Wall, &t.Wall, base.Wall}, {"idle", d.Idle, &t.Idle, base.Idle},
		{"grace", d.Grace, &t.Grace, base.Grace}, {"liveness", d.Liveness, &t.Liveness, base.Liveness}} {
		v, ok := c.duration(f.r, "policy.timeouts."+f.name)
		if !ok {
			continue
		}
		if f.base != 0 && (v == 0 || v > f.base) {
			c.needs(f.r.Pos, "policy.timeouts."+f.name, "it is raised above the base's "+f.base.String(), d.Because)
		}
		*f.out = v
	}
	c.reason(d.Because, "policy.timeouts")
}

func (c *checker) duration(r raw, what string) (time.Duration, bool) {
	if !r.given() {
		return 0, false
	}
	v, ok := parseDuration(r.Text)
	if !ok {
		c.errorf(r.Pos, "", "%s: %s is no duration such as 90s or 10m", what, quote(r.Text))
	}
	return v, ok
}

func (c *checker) hardening(t section[hardeningDoc]) {
	p := &c.b.Policy
	c.sentence(t.Because, "because")
	for _, r := range t.Entries {
		term, ok := Lookup("hardening." + r.Key)
		if !ok {
			c.errorf(r.Pos, suggest(r.Key, below("hardening")), "there is no hardening option %s", quote(r.Key))
			continue
		}
		d, what := r.Value, "policy.hardening."+r.Key
		c.sentence(d.Because, "because")
		level := d.Level.Text
		if d.At.Line > 0 && !d.Level.given() {
			level = string(LevelRequired)
		}
		rule := HardeningRule{r.Pos, term.Name, Level(level), d.Value.Text}
		if d.At.Line > 0 && !slices.Contains(levelRank, rule.Level) {
			c.errorf(d.Level.Pos, suggest(level, levelSet), "%s cannot be %s", what, quote(level))
			continue
		}
		switch valued := term.Shape == ShapeValue; {
		case d.Value.given() && !valued:
			c.errorf(d.Value.Pos, "", "%s has no value", what)
			rule.Value = ""
		case d.Value.given() && !roleName.MatchString(d.Value.Text):
			c.errorf(d.Value.Pos, "", "%s: %s is no name of lower-case letters, digits and dashes", what, quote(d.Value.Text))
		case valued && !d.Value.given() && rule.Level != LevelOff:
			rule.Value = "default"
		}
		i := slices.IndexFunc(p.Hardening, func(h HardeningRule) bool { return h.Name == term.Name })
		if i < 0 {
			p.Hardening = append(p.Hardening, rule)
		} else {
			old := p.Hardening[i]
			switch {
			case slices.Index(levelRank, rule.Level) < slices.Index(levelRank, old.Level):
				c.needs(r.Pos, what, "it is "+string(rule.Level)+" where the base has "+string(old.Level), d.Because, t.Because)
			case rule.Value != old.Value && old.Level != LevelOff:
				c.needs(r.Pos, what, "its value is not the base's "+quote(old.Value), d.Because, t.Because)
			}
			p.Hardening[i] = rule
		}
		c.reason(d.Because, what)
	}
	sort.Slice(p.Hardening, func(i, j int) bool { return p.Hardening[i].Name < p.Hardening[j].Name })
	c.reason(t.Because, "policy.hardening")
}

// words gives a limit's rule as a person reads it.
func (l LimitRule) words() string {
	switch {
	case l.Text != "":
		return l.Text
	case l.Default != nil:
		return l.amount(l.Default.Hard)
	case l.Max != nil:
		return l.amount(l.Max.Hard)
	}
	return "none"
}

func (l LimitRule) amount(n uint64) string {
	term, _ := Lookup(l.Name)
	switch term.Values[0].Format {
	case FormatBytes:
		return formatSize(n)
	case FormatSeconds:
		return (time.Duration(min(n, 1<<32)) * time.Second).String()
	case FormatCPUs:
		return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%d.%09d", n/1e9, n%1e9), "0"), ".")
	}
	return strconv.FormatUint(n, 10)
}
