package spec

import (
	"fmt"
	"slices"
	"strings"
)

// Change is one difference between two specs, in a reviewer's words.
type Change struct {
	Kind ChangeKind `json:"kind"`
	Text string     `json:"text"` // "raises limits.memory from 1GiB to 2GiB"
	// Where is file:line, in the new spec where the thing is still there.
	Where string `json:"where"`
}

// String is the kind and the text.
func (c Change) String() string { return fmt.Sprintf("%-8s %s (%s)", c.Kind, c.Text, c.Where) }

// ChangeKind says which way a change goes.
type ChangeKind string

// The kinds of change.
const (
	Widens   ChangeKind = "widens"   // a run may do more, or is bound less
	Tightens ChangeKind = "tightens" // a run may do less, or is bound more
	Differs  ChangeKind = "changes"  // neither, or it cannot be told
)

// Diff gives what a reviewer of a change wants to know: what widens first, then what cannot be told, then what tightens. It is empty where
// two specs mean the same, however they are written.
func Diff(old, updated *Backend) []Change {
	d := differ{}
	d.identity(old, updated)
	d.features(old, updated)
	d.words(old, updated)
	d.hardening(old.Policy.Hardening, updated.Policy.Hardening, updated.Pos)
	d.limits(old.Policy.Limits, updated.Policy.Limits)
	d.timeouts(&old.Policy, &updated.Policy)
	d.mounts(old.Policy.Mounts, updated.Policy.Mounts)
	d.environment(&old.Policy.Environment, &updated.Policy.Environment)
	d.grants(&old.Policy, &updated.Policy)
	d.credentials(old.Policy.Credentials, updated.Policy.Credentials)
	d.knobs(old.Policy.Knobs, updated.Policy.Knobs)
	d.lifecycle(old, updated)
	order := []ChangeKind{Widens, Differs, Tightens}
	slices.SortStableFunc(d.changes, func(a, b Change) int { return slices.Index(order, a.Kind) - slices.Index(order, b.Kind) })
	return d.changes
}

type differ struct{ changes []Change }

func (d *differ) add(kind ChangeKind, at Position, format string, args ...any) {
	d.changes = append(d.changes, Change{kind, fmt.Sprintf(format, args...), at.Spec()})
}

// value reports a setting that is another one.
func (d *differ) value(at Position, what, old, updated string) {
	if old != updated {
		d.add(Differs, at, "changes %s from %s to %s", what, orNothing(old), orNothing(updated))
	}
}

func orNothing(s string) string {
	if s == "" {
		return "nothing"
	}
	return s
}

func (d *differ) identity(old, updated *Backend) {
	d.value(updated.Pos, "the backend's name", old.Name, updated.Name)
	d.value(updated.Pos, "the kind", string(old.Kind), string(updated.Kind))
	if old.Unsandboxed != updated.Unsandboxed {
		kind, text := Widens, "isolates nothing any more"
		if old.Unsandboxed {
			kind, text = Tightens, "isolates, where it did not"
		}
		d.add(kind, updated.Pos, "%s", text)
	}
	a, b := Program{}, Program{}
	at := updated.Pos
	if old.Program != nil {
		a = *old.Program
	}
	if updated.Program != nil {
		b, at = *updated.Program, updated.Program.Pos
	}
	d.value(at, "the program", a.Name, b.Name)
	d.value(at, "the variable that replaces the program", a.Override, b.Override)
	if a.Arguments == ArgumentsDescriptor && b.Arguments != a.Arguments {
		d.add(Widens, at, "puts words into the argument vector that went by descriptor")
	} else {
		d.value(at, "how words reach the program", string(a.Arguments), string(b.Arguments))
	}
	x, y := Engine{}, Engine{}
	if old.Engine != nil {
		x = *old.Engine
	}
	if updated.Engine != nil {
		y, at = *updated.Engine, updated.Engine.Pos
	}
	d.set(at, "the engine", x.Names, y.Names)
	d.value(at, "the variable that names the endpoint", x.Endpoint, y.Endpoint)
	d.value(at, "the default sockets", strings.Join(x.Default, ", "), strings.Join(y.Default, ", "))
}

// set reports what an allowlist gained and lost.
func (d *differ) set(at Position, what string, old, updated []string) {
	for _, n := range updated {
		if !slices.Contains(old, n) {
			d.add(Widens, at, "allows %s %s", what, n)
		}
	}
	for _, n := range old {
		if !slices.Contains(updated, n) {
			d.add(Tightens, at, "no longer allows %s %s", what, n)
		}
	}
}

// features reports names that are met in another way.
func (d *differ) features(old, updated *Backend) {
	for _, f := range updated.Features {
		was, _ := old.Feature(f.Name)
		protects := strings.HasPrefix(f.Name, "hardening.") || strings.HasPrefix(f.Name, "limits.") || f.Name == "network.none"
		switch {
		case was.How == f.How && was.By == f.By:
		case f.How == HowUnsupported && protects:
			d.add(Differs, f.Pos, "can no longer keep %s: %s", f.Name, f.Reason)
		case f.How == HowUnsupported:
			d.add(Tightens, f.Pos, "refuses %s: %s", f.Name, f.Reason)
		case was.How == HowUnsupported && protects:
			d.add(Tightens, f.Pos, "can keep %s", f.Name)
		case was.How == HowUnsupported:
			d.add(Widens, f.Pos, "no longer refuses %s", f.Name)
		case f.How == HowImplied && protects:
			d.add(Widens, f.Pos, "takes %s for granted instead of asking for it: %s", f.Name, f.Reason)
		default:
			d.add(Differs, f.Pos, "meets %s in another way: %s, was %s", f.Name, f.way(), was.way())
		}
	}
}

func (f Feature) way() string {
	if f.How == HowBy {
		return "by " + f.By
	}
	return string(f.How)
}

// words reports words that came, went or moved.
func (d *differ) words(old, updated *Backend) {
	a, b := lines(old), lines(updated)
	for _, l := range b {
		if !slices.ContainsFunc(a, l.same) {
			d.add(Differs, l.pos, "adds the words %s%s", l.text, l.reason())
		}
	}
	for _, l := range a {
		if !slices.ContainsFunc(b, l.same) {
			d.add(Differs, l.pos, "removes the words %s%s", l.text, l.reason())
		}
	}
	keep := func(in, other []wordLine) []wordLine {
		return slices.DeleteFunc(slices.Clone(in), func(l wordLine) bool { return !slices.ContainsFunc(other, l.same) })
	}
	a, b = keep(a, b), keep(b, a)
	if len(a) == len(b) && !slices.EqualFunc(a, b, wordLine.same) {
		for i := range b {
			if !b[i].same(a[i]) {
				d.add(Differs, b[i].pos, "changes the order of words from %s on", b[i].text)
				break
			}
		}
	}
}

type wordLine struct {
	pos       Position
	text, why string
}

func (l wordLine) same(o wordLine) bool { return l.text == o.text && l.why == o.why }

func (l wordLine) reason() string {
	if l.why == "" {
		return ""
	}
	return " for " + l.why
}

func lines(b *Backend) []wordLine {
	var out []wordLine
	add := func(e Entry, why string) {
		text := quote(e.String())
		if e.Since != "" {
			text += " (since " + e.Since + ")"
		}
		for _, api := range e.API {
			text += " = " + api.Path
		}
		out = append(out, wordLine{e.Pos, text, why})
	}
	for _, e := range b.Words {
		if e.Each == "" {
			add(e, strings.Join(e.For, ", "))
		}
		for _, s := range e.Spell {
			for _, one := range s.Entries {
				add(one, s.Name)
			}
		}
	}
	return out
}

func (d *differ) lifecycle(old, updated *Backend) {
	a, b := old.Lifecycle, updated.Lifecycle
	d.value(b.Pos, "lifecycle.prepare", a.Prepare, b.Prepare)
	d.value(b.Pos, "lifecycle.start.gate", a.Start.Gate, b.Start.Gate)
	d.value(b.Pos, "lifecycle.start.status", a.Start.Status, b.Start.Status)
	d.value(b.Pos, "lifecycle.start.session", a.Start.Session, b.Start.Session)
	d.value(b.Pos, "lifecycle.stop", ladder(a.Stop), ladder(b.Stop))
	d.value(b.Pos, "lifecycle.remove", a.Remove, b.Remove)
	d.value(b.Pos, "lifecycle.export", a.Export, b.Export)
	d.value(b.Pos, "lifecycle.reconcile", a.Reconcile, b.Reconcile)
}

func ladder(rungs []StopRung) string {
	var parts []string
	for _, r := range rungs {
		text := r.Signal
		if r.Kill {
			text = "kill"
		}
		if r.Grace != 0 {
			text += " (" + r.Grace.String() + ")"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}
