package spec

import (
	"fmt"
	"slices"
	"strings"
)

// Explanation is all that a spec says of one vocabulary name.
type Explanation struct {
	Name     string `json:"name"`
	Sentence string `json:"sentence"`
	// Launch is the field of runtime.Launch that asks for it; empty for the seam's own names.
	Launch string `json:"launch,omitempty"`
	How    How    `json:"how"`
	By     string `json:"by,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Where is file:line of what says how.
	Where string           `json:"where"`
	Lines []ExplainedEntry `json:"lines,omitempty"`
	// Policy is what is asked for by default, and what a launch may ask for.
	Policy []ExplainedPolicy `json:"policy,omitempty"`
}

// ExplainedEntry is one line of the dialect.
type ExplainedEntry struct {
	Where string `json:"where"`
	// Words as Entry.String gives them.
	Words string `json:"words,omitempty"`
	Since string `json:"since,omitempty"`
	// Fields are engine fields.
	Fields []string `json:"fields,omitempty"`
}

// ExplainedPolicy is one line of the policy.
type ExplainedPolicy struct {
	Where string `json:"where"`
	Says  string `json:"says"`
}

// Explain gives what the spec says of a vocabulary name, of all names in a group ("limits", "limits.*"), of all names that a flag spells
// ("--unshare-net"), or, for "", of every name. The order is the vocabulary's. Another name is an error that suggests one.
func Explain(b *Backend, name string) ([]Explanation, error) {
	var out []Explanation
	for _, t := range terms {
		f, ok := b.Feature(t.Name)
		if !ok || !asked(name, t, f) {
			continue
		}
		x := Explanation{Name: t.Name, Sentence: t.Sentence, Launch: t.Field, How: f.How, By: f.By, Reason: f.Reason, Where: f.Pos.Spec()}
		for _, e := range b.Words {
			if slices.Contains(e.For, t.Name) {
				x.Lines = append(x.Lines, explained(e))
			}
			for _, s := range e.Spell {
				for _, one := range s.Entries {
					if s.Name == t.Name {
						x.Lines = append(x.Lines, explained(one))
					}
				}
			}
		}
		x.Policy = b.policyOf(t)
		out = append(out, x)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("explaining %q: neither a name of the vocabulary nor a flag of %s; %s", name, b.Name,
			suggest(name, append(termNames(), b.flags()...)))
	}
	return out, nil
}

func asked(name string, t Term, f Feature) bool {
	if name == "" || t.Name == name || t.Group() == strings.TrimSuffix(name, ".*") {
		return true
	}
	return slices.ContainsFunc(f.Flags, func(flag Flag) bool { return flag.Name == name })
}

func (b *Backend) flags() []string {
	var names []string
	for _, f := range b.Features {
		for _, flag := range f.Flags {
			names = append(names, flag.Name)
		}
	}
	return names
}

func explained(e Entry) ExplainedEntry {
	x := ExplainedEntry{Where: e.Pos.Spec(), Words: e.String(), Since: e.Since}
	for _, b := range e.API {
		x.Fields = append(x.Fields, b.Path)
	}
	return x
}

// policyOf gives the lines of the policy that speak of a term.
func (b *Backend) policyOf(t Term) []ExplainedPolicy {
	p := &b.Policy
	var out []ExplainedPolicy
	add := func(pos Position, format string, args ...any) {
		out = append(out, ExplainedPolicy{pos.Spec(), fmt.Sprintf(format, args...)})
	}
	short := strings.TrimPrefix(t.Name, t.Group()+".")
	switch t.Group() {
	case "limits":
		for _, l := range p.Limits {
			if l.Name == t.Name {
				add(l.Pos, "%s", l.says())
			}
		}
	case "hardening":
		for _, h := range p.Hardening {
			if h.Name == t.Name {
				add(h.Pos, "%s", h.says())
			}
		}
	case "timeouts":
		if d, ok := p.Timeouts.named()[short]; ok && d != 0 {
			add(p.Pos, "%s by default", d)
		}
	case "mount":
		for _, m := range p.Mounts {
			if m.Kind == short || m.Kind == "mask" && strings.HasPrefix(short, "mask-") {
				add(m.Pos, "every run gets %s", m.says())
			}
		}
	case "network":
		if p.Network.Default == short {
			add(p.Network.Pos, "the default")
		}
		if slices.Contains(p.Network.Accept, short) {
			add(p.Network.Pos, "a launch may ask for it")
		}
	case "user":
		if p.User.Default == short {
			add(p.User.Pos, "the default")
		}
		if slices.Contains(p.User.Accept, short) {
			add(p.User.Pos, "a launch may ask for it")
		}
	case "workspace":
		if slices.Contains(p.Workspace.Accept, short) {
			add(p.Workspace.Pos, "a launch may ask for it")
		}
	case "environment":
		b.environmentOf(t, add)
	case "credentials":
		for _, c := range p.Credentials {
			if c.how() == t.Name {
				add(c.Pos, "role %s as %s", c.Role, c.place())
			}
		}
	case "image":
		if t.Name == "image.pull" && p.Image.Pull != "" {
			add(p.Image.Pos, "%s", p.Image.Pull)
		}
		if t.Name == "image" && p.Image.Default != "" {
			add(p.Image.Pos, "%s by default", p.Image.Default)
		}
	}
	return out
}

func (b *Backend) environmentOf(t Term, add func(Position, string, ...any)) {
	e := &b.Policy.Environment
	for _, l := range []struct {
		name, says string
		list       []Text
	}{
		{"environment.set", "a launch may set %s", e.Accept}, {"environment.forward", "%s is copied from the host", e.Forward},
		{"environment.deny", "%s never reaches the command", e.Deny},
	} {
		for _, n := range l.list {
			if t.Name == l.name {
				add(n.Pos, l.says, n.Text)
			}
		}
	}
	for _, v := range e.Set {
		if t.Name == "environment" || t.Name == "environment.path" && v.Name == "PATH" {
			add(v.Pos, "%s=%s", v.Name, v.Value)
		}
	}
}

// String is the explanation as lines of text.
func (x Explanation) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", x.Name, x.Sentence)
	if x.Launch != "" {
		fmt.Fprintf(&b, "  asked for by   Launch.%s\n", x.Launch)
	}
	switch x.How {
	case HowSpelled:
		for _, l := range x.Lines {
			words := l.Words
			if words == "" {
				words = "(no word)"
			}
			fmt.Fprintf(&b, "  spelled        %s", words)
			if len(l.Fields) > 0 {
				fmt.Fprintf(&b, "  = %s", strings.Join(l.Fields, ", "))
			}
			if l.Since != "" {
				fmt.Fprintf(&b, "  since %s", l.Since)
			}
			fmt.Fprintf(&b, "  (%s)\n", l.Where)
		}
	case HowBy:
		p, _ := findPrimitive(x.By)
		fmt.Fprintf(&b, "  done by        %s, %s  (%s)\n", x.By, p.sentence, x.Where)
	default:
		fmt.Fprintf(&b, "  %-14s %s  (%s)\n", x.How, x.Reason, x.Where)
	}
	for _, p := range x.Policy {
		fmt.Fprintf(&b, "  policy         %s  (%s)\n", p.Says, p.Where)
	}
	return b.String()
}
