package gen

import (
	"slices"
	"strings"

	"github.com/sbxkit/sbxkit/spec"
)

func (r *review) identity(old, new *spec.Backend) {
	if old.Kind != new.Kind {
		r.say(Changes, new.Pos, "is of kind %s now, not %s", new.Kind, old.Kind)
	}
	if new.Unsandboxed && !old.Unsandboxed {
		r.say(Widens, new.Pos, "isolates nothing any more")
	}
	if old.Unsandboxed && !new.Unsandboxed {
		r.say(Tightens, new.Pos, "says that it isolates now")
	}
	if o, n := programOf(old), programOf(new); o != n {
		r.say(Changes, new.Pos, "runs the program %s, not %s", given(n), given(o))
	}
}

func programOf(b *spec.Backend) string {
	if b.Program == nil {
		return ""
	}
	return b.Program.Name
}

func given(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

func (r *review) features(old, new *spec.Backend) {
	for _, n := range new.Features {
		o, ok := old.Feature(n.Name)
		switch {
		case !ok || o.How == n.How && o.By == n.By:
		case n.How == spec.HowUnsupported:
			r.say(Changes, n.Pos, "supports %s no more: %s", n.Name, n.Reason)
		case o.How == spec.HowUnsupported:
			r.say(Changes, n.Pos, "supports %s now", n.Name)
		default:
			r.say(Changes, n.Pos, "does %s by %s, not %s", n.Name, wayText(n), wayText(o))
		}
	}
}

func wayText(f spec.Feature) string {
	switch f.How {
	case spec.HowBy:
		return f.By
	case spec.HowSpelled:
		return "words"
	default:
		return "the tool itself"
	}
}

// flags compares the options that the command line may hold, each for what it stands.
func (r *review) flags(old, new *spec.Backend) {
	o, n := flagsOf(old.Words), flagsOf(new.Words)
	for _, f := range n {
		if !slices.ContainsFunc(o, f.same) {
			r.say(Changes, f.pos, "adds the word %s%s", f.flag, f.purpose())
		}
	}
	for _, f := range o {
		if slices.ContainsFunc(n, f.same) {
			continue
		}
		effect := Changes
		if strings.HasPrefix(f.name, "hardening.") || f.name == "network.none" {
			effect = Widens
		}
		r.say(effect, f.pos, "drops the word %s%s", f.flag, f.purpose())
	}
}

// useOfFlag is an option with what it stands for.
type useOfFlag struct {
	pos        spec.Position
	flag, name string
}

func (f useOfFlag) same(g useOfFlag) bool { return f.flag == g.flag && f.name == g.name }

func (f useOfFlag) purpose() string {
	if f.name == "" {
		return ""
	}
	return " for " + f.name
}

func flagsOf(entries []spec.Entry) []useOfFlag {
	var all []useOfFlag
	for _, e := range entries {
		for _, s := range e.Spell {
			all = append(all, flagsOf(s.Entries)...)
		}
		text := e.Flag + e.Word
		if text == "" {
			continue
		}
		names := e.For
		if len(names) == 0 {
			names = []string{""}
		}
		for _, name := range names {
			all = append(all, useOfFlag{e.Pos, text, name})
		}
	}
	return all
}

func (r *review) stop(old, new spec.Lifecycle) {
	text := func(rungs []spec.StopRung) string {
		var words []string
		for _, s := range rungs {
			word := s.Signal
			if s.Kill {
				word = "kill"
			}
			if s.Grace != 0 {
				word += " " + s.Grace.String()
			}
			words = append(words, word)
		}
		return strings.Join(words, ", ")
	}
	if o, n := text(old.Stop), text(new.Stop); o != n {
		r.say(Changes, new.Pos, "stops a run by %s, not by %s", given(n), given(o))
	}
	for _, step := range []struct{ name, old, new string }{
		{"prepare", old.Prepare, new.Prepare}, {"start.gate", old.Start.Gate, new.Start.Gate}, {"start.status", old.Start.Status, new.Start.Status},
		{"start.session", old.Start.Session, new.Start.Session}, {"remove", old.Remove, new.Remove}, {"export", old.Export, new.Export},
		{"reconcile", old.Reconcile, new.Reconcile},
	} {
		if step.old != step.new {
			r.say(Changes, new.Pos, "binds lifecycle.%s to %s, not %s", step.name, given(step.new), given(step.old))
		}
	}
}
