package gen

import (
	"fmt"
	"slices"
	"time"

	"github.com/sbxkit/sbxkit/spec"
)

// Effect says what a change does to what a run may do.
type Effect string

// The effects.
const (
	Widens   Effect = "widens"   // a run may do more, or less holds it
	Tightens Effect = "tightens" // a run may do less
	Changes  Effect = "changes"  // neither, or it cannot be told
)

// Change is one thing a reviewer of a spec cares about.
type Change struct {
	Effect Effect `json:"effect"`
	// What is a sentence without its subject: "adds a writable mount of /srv at /data".
	What string `json:"what"`
	// Where is the place in the new spec, or in the old one for what is gone; empty where there is no one place.
	Where string `json:"where,omitempty"`
}

// Review says what the change from one spec to another changes, what widens first.
func Review(old, new *spec.Backend) []Change {
	r := &review{}
	r.identity(old, new)
	r.hardening(old.Policy.Hardening, new.Policy.Hardening)
	r.environment(old.Policy.Environment, new.Policy.Environment)
	r.mounts(old.Policy.Mounts, new.Policy.Mounts)
	r.network(old.Policy.Network, new.Policy.Network)
	r.limits(old.Policy.Limits, new.Policy.Limits)
	r.timeouts(old.Policy, new.Policy)
	r.credentials(old.Policy.Credentials, new.Policy.Credentials)
	r.grants(old.Policy, new.Policy)
	r.knobs(old.Policy.Knobs, new.Policy.Knobs)
	r.features(old, new)
	r.flags(old, new)
	r.stop(old.Lifecycle, new.Lifecycle)
	order := []Effect{Widens, Tightens, Changes}
	slices.SortStableFunc(r.changes, func(a, b Change) int {
		return slices.Index(order, a.Effect) - slices.Index(order, b.Effect)
	})
	return r.changes
}

type review struct{ changes []Change }

func (r *review) say(effect Effect, where spec.Position, format string, args ...any) {
	c := Change{Effect: effect, What: fmt.Sprintf(format, args...)}
	if where.Line != 0 {
		c.Where = where.Spec()
	}
	r.changes = append(r.changes, c)
}

// list compares two lists of texts of which a longer one allows more.
func (r *review) list(old, new []spec.Text, what string, more Effect) {
	less := Widens
	if more == Widens {
		less = Tightens
	}
	for _, t := range new {
		if !hasText(old, t.Text) {
			r.say(more, t.Pos, "adds %s to %s", t.Text, what)
		}
	}
	for _, t := range old {
		if !hasText(new, t.Text) {
			r.say(less, t.Pos, "takes %s from %s", t.Text, what)
		}
	}
}

func hasText(list []spec.Text, text string) bool {
	return slices.ContainsFunc(list, func(t spec.Text) bool { return t.Text == text })
}

// words compares two lists of words without places of their own.
func (r *review) words(old, new []string, where spec.Position, what string) {
	as := func(words []string) []spec.Text {
		var out []spec.Text
		for _, w := range words {
			out = append(out, spec.Text{Pos: where, Text: w})
		}
		return out
	}
	r.list(as(old), as(new), what, Widens)
}

func (r *review) hardening(old, new []spec.HardeningRule) {
	strength := func(l spec.Level) int {
		return slices.Index([]spec.Level{spec.LevelOff, spec.LevelPreferred, spec.LevelRequired}, l)
	}
	find := func(rules []spec.HardeningRule, name string) (spec.HardeningRule, bool) {
		i := slices.IndexFunc(rules, func(h spec.HardeningRule) bool { return h.Name == name })
		if i < 0 {
			return spec.HardeningRule{Name: name, Level: spec.LevelOff}, false
		}
		return rules[i], true
	}
	for _, n := range new {
		o, _ := find(old, n.Name)
		switch {
		case strength(n.Level) > strength(o.Level):
			r.say(Tightens, n.Pos, "makes %s %s (was %s)", n.Name, n.Level, o.Level)
		case strength(n.Level) < strength(o.Level):
			r.say(Widens, n.Pos, "makes %s only %s (was %s)", n.Name, n.Level, o.Level)
		case n.Value != o.Value:
			r.say(Changes, n.Pos, "sets %s to %s, not %s", n.Name, given(n.Value), given(o.Value))
		}
	}
	for _, o := range old {
		if _, ok := find(new, o.Name); !ok && o.Level != spec.LevelOff {
			r.say(Widens, o.Pos, "drops %s (was %s)", o.Name, o.Level)
		}
	}
}

func (r *review) environment(old, new spec.EnvironmentPolicy) {
	r.list(old.Forward, new.Forward, "the variables copied from the host", Widens)
	r.list(old.Accept, new.Accept, "the variables a launch may set", Widens)
	r.list(old.Deny, new.Deny, "the variables that never reach the command", Tightens)
	value := func(vs []spec.Variable, name string) (string, bool) {
		i := slices.IndexFunc(vs, func(v spec.Variable) bool { return v.Name == name })
		if i < 0 {
			return "", false
		}
		return vs[i].Value, true
	}
	for _, n := range new.Set {
		switch o, ok := value(old.Set, n.Name); {
		case !ok:
			r.say(Changes, n.Pos, "sets the variable %s to %q", n.Name, n.Value)
		case o != n.Value:
			r.say(Changes, n.Pos, "sets the variable %s to %q, not %q", n.Name, n.Value, o)
		}
	}
	for _, o := range old.Set {
		if _, ok := value(new.Set, o.Name); !ok {
			r.say(Changes, o.Pos, "sets the variable %s no more", o.Name)
		}
	}
}

// exposing are the kinds of mount that show something of the host, and how.
var exposing = map[string]string{
	"bind-rw": "a writable mount", "bind-ro": "a read-only mount", "device": "a device", "socket": "a socket", "volume": "a volume",
}

func (r *review) mounts(old, new []spec.Mount) {
	same := func(a, b spec.Mount) bool { a.Pos, b.Pos = spec.Position{}, spec.Position{}; return a == b }
	say := func(exposed, hidden Effect, verb string, m spec.Mount) {
		if kind, ok := exposing[m.Kind]; ok {
			r.say(exposed, m.Pos, "%s %s of %s at %s", verb, kind, m.Source, m.Target)
			return
		}
		effect := Changes
		if m.Kind == "mask" {
			effect = hidden
		}
		r.say(effect, m.Pos, "%s a %s at %s", verb, m.Kind, m.Target)
	}
	for _, n := range new {
		if !slices.ContainsFunc(old, func(o spec.Mount) bool { return same(o, n) }) {
			say(Widens, Tightens, "adds", n)
		}
	}
	for _, o := range old {
		if !slices.ContainsFunc(new, func(n spec.Mount) bool { return same(o, n) }) {
			say(Tightens, Widens, "drops", o)
		}
	}
}

// reach orders networks by what they reach.
var reach = []string{"none", "egress", "session", "private", "host"}

func (r *review) network(old, new spec.NetworkPolicy) {
	if old.Default != new.Default {
		effect := Tightens
		if slices.Index(reach, new.Default) > slices.Index(reach, old.Default) {
			effect = Widens
		}
		r.say(effect, new.Pos, "makes the network %s (was %s)", given(new.Default), given(old.Default))
	}
	r.words(old.Accept, new.Accept, new.Pos, "the networks a launch may ask for")
}

func (r *review) limits(old, new []spec.LimitRule) {
	find := func(rules []spec.LimitRule, name string) spec.LimitRule {
		i := slices.IndexFunc(rules, func(l spec.LimitRule) bool { return l.Name == name })
		if i < 0 {
			return spec.LimitRule{Name: name}
		}
		return rules[i]
	}
	for _, n := range new {
		o := find(old, n.Name)
		r.bound(n.Pos, n.Name, "the default of", o.Default, n.Default)
		r.bound(n.Pos, n.Name, "the most a launch may ask for of", o.Max, n.Max)
		if o.Text != n.Text {
			r.say(Changes, n.Pos, "sets %s to %s, not %s", n.Name, given(n.Text), given(o.Text))
		}
	}
	for _, o := range old {
		if n := find(new, o.Name); n.Pos == (spec.Position{}) {
			r.say(Widens, o.Pos, "drops %s", o.Name)
		}
	}
}

func (r *review) bound(where spec.Position, name, what string, old, new *spec.Bound) {
	switch {
	case old == nil && new == nil:
	case old == nil:
		r.say(Tightens, where, "sets %s %s to %s", what, name, boundText(new))
	case new == nil:
		r.say(Widens, where, "drops %s %s (was %s)", what, name, boundText(old))
	case new.Hard > old.Hard || new.Soft > old.Soft:
		r.say(Widens, where, "raises %s %s from %s to %s", what, name, boundText(old), boundText(new))
	case *new != *old:
		r.say(Tightens, where, "lowers %s %s from %s to %s", what, name, boundText(old), boundText(new))
	}
}

func (r *review) timeouts(old, new spec.Policy) {
	o, n := old.Timeouts, new.Timeouts
	for _, t := range []struct {
		name     string
		old, new time.Duration
	}{
		{"start", o.Start, n.Start}, {"wall", o.Wall, n.Wall}, {"idle", o.Idle, n.Idle}, {"grace", o.Grace, n.Grace},
		{"liveness", o.Liveness, n.Liveness},
	} {
		switch {
		case t.old == t.new:
		case t.old == 0 || t.new != 0 && t.new < t.old:
			r.say(Tightens, new.Pos, "lowers timeouts.%s to %s", t.name, t.new)
		case t.new == 0:
			r.say(Widens, new.Pos, "drops timeouts.%s (was %s)", t.name, t.old)
		default:
			r.say(Widens, new.Pos, "raises timeouts.%s from %s to %s", t.name, t.old, t.new)
		}
	}
}
