package gen

import (
	"fmt"
	"slices"

	"github.com/sbxkit/sbxkit/spec"
)

func (r *review) credentials(old, new []spec.CredentialRule) {
	how := func(c spec.CredentialRule) string {
		switch {
		case c.Env != "":
			return "the variable " + c.Env
		case c.File != "":
			return fmt.Sprintf("the file %s of mode %04o", c.File, c.Mode)
		default:
			return "a descriptor"
		}
	}
	find := func(rules []spec.CredentialRule, role string) (spec.CredentialRule, bool) {
		i := slices.IndexFunc(rules, func(c spec.CredentialRule) bool { return c.Role == role })
		if i < 0 {
			return spec.CredentialRule{}, false
		}
		return rules[i], true
	}
	for _, n := range new {
		switch o, ok := find(old, n.Role); {
		case !ok:
			r.say(Widens, n.Pos, "lets a credential of role %s in, as %s", n.Role, how(n))
		case how(o) != how(n):
			r.say(Changes, n.Pos, "gives the credential of role %s as %s, not %s", n.Role, how(n), how(o))
		}
	}
	for _, o := range old {
		if _, ok := find(new, o.Role); !ok {
			r.say(Tightens, o.Pos, "lets no credential of role %s in any more", o.Role)
		}
	}
}

func (r *review) grants(old, new spec.Policy) {
	if o, n := userText(old.User), userText(new.User); o != n {
		r.say(Changes, new.User.Pos, "runs as %s, not %s", n, o)
	}
	r.words(old.User.Accept, new.User.Accept, new.User.Pos, "the users a launch may ask for")
	if o, n := old.Image.Default, new.Image.Default; o != n {
		r.say(Changes, new.Image.Pos, "uses the image %s, not %s", given(n), given(o))
	}
	if o, n := old.Image.Pull, new.Image.Pull; o != n {
		effect := Widens
		if n == "" || n == "never" {
			effect = Tightens
		}
		r.say(effect, new.Image.Pos, "pulls images %s, not %s", given(n), given(o))
	}
	r.list(old.Image.Accept, new.Image.Accept, "the images a launch may name", Widens)
	if o, n := old.Workspace.Default, new.Workspace.Default; o != n {
		r.say(Changes, new.Workspace.Pos, "brings the workspace in by %s, not by %s, where a launch does not say", given(n), given(o))
	}
	r.words(old.Workspace.Accept, new.Workspace.Accept, new.Workspace.Pos, "the workspaces a launch may ask for")
	r.most(new.Workspace.Pos, "the files of a workspace", old.Workspace.Files, new.Workspace.Files)
	r.most(new.Workspace.Pos, "the bytes of a workspace", old.Workspace.Bytes, new.Workspace.Bytes)
	r.most(new.Artifacts.Pos, "the files of an export", old.Artifacts.Files, new.Artifacts.Files)
	r.most(new.Artifacts.Pos, "the bytes of an export", old.Artifacts.Bytes, new.Artifacts.Bytes)
	r.list(old.Sockets, new.Sockets, "the unix sockets a mount may expose", Widens)
	if old.Workdir.Text != new.Workdir.Text {
		r.say(Changes, new.Workdir.Pos, "works in %s, not %s", given(new.Workdir.Text), given(old.Workdir.Text))
	}
}

func userText(u spec.UserPolicy) string {
	if u.Default == "id" {
		return fmt.Sprintf("%d:%d", u.UID, u.GID)
	}
	return given(u.Default)
}

// most compares two bounds of which zero is none.
func (r *review) most(where spec.Position, what string, old, new int64) {
	switch {
	case old == new:
	case new == 0:
		r.say(Widens, where, "bounds %s no more (was %d)", what, old)
	case old == 0 || new < old:
		r.say(Tightens, where, "bounds %s by %d", what, new)
	default:
		r.say(Widens, where, "raises the bound of %s from %d to %d", what, old, new)
	}
}

func (r *review) knobs(old, new []spec.Knob) {
	find := func(knobs []spec.Knob, sets string) (spec.Knob, bool) {
		i := slices.IndexFunc(knobs, func(k spec.Knob) bool { return k.Sets == sets })
		if i < 0 {
			return spec.Knob{}, false
		}
		return knobs[i], true
	}
	for _, n := range new {
		switch o, ok := find(old, n.Sets); {
		case !ok:
			r.say(Widens, n.Pos, "lets the variable %s set %s", n.Env, n.Sets)
		case o.Env != n.Env || o.Default != n.Default:
			r.say(Changes, n.Pos, "lets the variable %s set %s, by default %s (was %s, %s)", n.Env, n.Sets, given(n.Default), o.Env, given(o.Default))
		}
	}
	for _, o := range old {
		if _, ok := find(new, o.Sets); !ok {
			r.say(Tightens, o.Pos, "lets no variable set %s any more (was %s)", o.Sets, o.Env)
		}
	}
}
