package spec

import (
	"fmt"
	"slices"
	"sort"
	"strings"
)

func (d *differ) hardening(old, updated []HardeningRule, top Position) {
	find := func(rules []HardeningRule, name string) HardeningRule {
		if i := slices.IndexFunc(rules, func(r HardeningRule) bool { return r.Name == name }); i >= 0 {
			return rules[i]
		}
		return HardeningRule{Name: name, Level: LevelOff, Pos: top}
	}
	for _, name := range eitherName(old, updated, func(r HardeningRule) string { return r.Name }) {
		a, b := find(old, name), find(updated, name)
		short := strings.TrimPrefix(name, "hardening.")
		switch was, is := slices.Index(levelRank, a.Level), slices.Index(levelRank, b.Level); {
		case is < was && b.Level == LevelOff:
			d.add(Widens, b.Pos, "drops %s, which was %s", short, a.Level)
		case is < was:
			d.add(Widens, b.Pos, "only prefers %s, which was %s", short, a.Level)
		case is > was && b.Level == LevelRequired:
			d.add(Tightens, b.Pos, "requires %s", short)
		case is > was:
			d.add(Tightens, b.Pos, "prefers %s", short)
		case b.Level != LevelOff:
			d.value(b.Pos, "the value of "+short, a.Value, b.Value)
		}
	}
}

// eitherName gives the names in either list, sorted.
func eitherName[T any](a, b []T, name func(T) string) []string {
	var out []string
	for _, v := range append(slices.Clone(a), b...) {
		out = append(out, name(v))
	}
	sort.Strings(out)
	return slices.Compact(out)
}

func (d *differ) limits(old, updated []LimitRule) {
	find := func(rules []LimitRule, name string) *LimitRule {
		if i := slices.IndexFunc(rules, func(r LimitRule) bool { return r.Name == name }); i >= 0 {
			return &rules[i]
		}
		return nil
	}
	for _, name := range eitherName(old, updated, func(r LimitRule) string { return r.Name }) {
		a, b := find(old, name), find(updated, name)
		switch {
		case a == nil:
			d.add(Tightens, b.Pos, "adds %s: %s", name, b.says())
		case b == nil:
			d.add(Widens, a.Pos, "removes %s, which was %s", name, a.says())
		default:
			d.value(b.Pos, name, a.Text, b.Text)
			d.bound(b.Pos, name, a, a.Default, b.Default)
			if !sameBound(a.Default, a.Max) || !sameBound(b.Default, b.Max) {
				d.bound(b.Pos, "the most a launch may ask of "+name, a, a.Max, b.Max)
			}
		}
	}
}

func sameBound(a, b *Bound) bool {
	return (a == nil) == (b == nil) && (a == nil || *a == *b)
}

func (d *differ) bound(at Position, what string, l *LimitRule, old, updated *Bound) {
	switch {
	case sameBound(old, updated):
	case old == nil:
		d.add(Tightens, at, "sets %s to %s", what, l.amount(updated.Hard))
	case updated == nil:
		d.add(Widens, at, "takes the bound off %s, which was %s", what, l.amount(old.Hard))
	case updated.Hard == old.Hard:
		d.add(Differs, at, "changes the soft value of %s from %s to %s", what, l.amount(old.Soft), l.amount(updated.Soft))
	case updated.Hard > old.Hard:
		d.add(Widens, at, "raises %s from %s to %s", what, l.amount(old.Hard), l.amount(updated.Hard))
	default:
		d.add(Tightens, at, "lowers %s from %s to %s", what, l.amount(old.Hard), l.amount(updated.Hard))
	}
}

func (d *differ) timeouts(old, updated *Policy) {
	a, b := old.Timeouts.named(), updated.Timeouts.named()
	for _, name := range []string{"start", "wall", "idle", "grace", "liveness"} {
		switch was, is := a[name], b[name]; {
		case was == is:
		case was == 0:
			d.add(Tightens, updated.Pos, "sets timeouts.%s to %s", name, is)
		case is == 0:
			d.add(Widens, updated.Pos, "takes the bound off timeouts.%s, which was %s", name, was)
		case is > was:
			d.add(Widens, updated.Pos, "raises timeouts.%s from %s to %s", name, was, is)
		default:
			d.add(Tightens, updated.Pos, "lowers timeouts.%s from %s to %s", name, was, is)
		}
	}
}

func (d *differ) mounts(old, updated []Mount) {
	at := func(ms []Mount, target string) *Mount {
		if i := slices.IndexFunc(ms, func(m Mount) bool { return m.Target == target }); i >= 0 {
			return &ms[i]
		}
		return nil
	}
	for i := range updated {
		b := &updated[i]
		a := at(old, b.Target)
		switch {
		case a == nil && (b.Kind == "mask" || b.Kind == "proc" || b.Kind == "dev" || b.Kind == "dir" || b.Kind == "symlink" || b.Kind == "file"):
			d.add(Differs, b.Pos, "adds %s", b.says())
		case a == nil:
			d.add(Widens, b.Pos, "adds %s", b.says())
		case a.Kind != b.Kind || a.Source != b.Source:
			d.add(mountChange(a, b), b.Pos, "makes %s %s; it was %s", b.Target, b.says(), a.says())
		case a.Size != b.Size:
			kind := Tightens
			if b.Size == 0 || a.Size != 0 && b.Size > a.Size {
				kind = Widens
			}
			d.add(kind, b.Pos, "changes the size of %s from %s to %s", b.Target, sizeOrNone(a.Size), sizeOrNone(b.Size))
		case a.Mode != b.Mode || a.Scope != b.Scope || a.Optional != b.Optional || a.Data != b.Data:
			d.add(Differs, b.Pos, "changes mode, scope, content or optional of the mount at %s", b.Target)
		}
	}
	for i := range old {
		if a := &old[i]; at(updated, a.Target) == nil {
			kind := Tightens
			if a.Kind == "mask" {
				kind = Widens
			}
			d.add(kind, a.Pos, "removes %s", a.says())
		}
	}
}

func mountChange(old, updated *Mount) ChangeKind {
	switch {
	case slices.Contains(wideMounts, updated.Kind) || old.Kind == "mask":
		return Widens
	case slices.Contains(wideMounts, old.Kind) || updated.Kind == "mask":
		return Tightens
	}
	return Differs
}

func sizeOrNone(n int64) string {
	if n == 0 {
		return "no bound"
	}
	return formatSize(uint64(n))
}

func (d *differ) environment(old, updated *EnvironmentPolicy) {
	for _, l := range []struct {
		does, stops string
		gain, lose  ChangeKind
		old, new    []Text
	}{
		{"forwards %s from the host", "no longer forwards %s", Widens, Tightens, old.Forward, updated.Forward},
		{"lets a launch set %s", "no longer lets a launch set %s", Widens, Tightens, old.Accept, updated.Accept},
		{"denies %s", "no longer denies %s", Tightens, Widens, old.Deny, updated.Deny},
	} {
		has := func(ts []Text, t Text) bool {
			return slices.ContainsFunc(ts, func(o Text) bool { return o.Text == t.Text })
		}
		for _, t := range l.new {
			if !has(l.old, t) {
				d.add(l.gain, t.Pos, l.does, t.Text)
			}
		}
		for _, t := range l.old {
			if !has(l.new, t) {
				d.add(l.lose, t.Pos, l.stops, t.Text)
			}
		}
	}
	find := func(vs []Variable, name string) *Variable {
		if i := slices.IndexFunc(vs, func(v Variable) bool { return v.Name == name }); i >= 0 {
			return &vs[i]
		}
		return nil
	}
	for _, name := range eitherName(old.Set, updated.Set, func(v Variable) string { return v.Name }) {
		switch a, b := find(old.Set, name), find(updated.Set, name); {
		case a == nil:
			d.add(Widens, b.Pos, "sets %s to %s", name, quote(b.Value))
		case b == nil:
			d.add(Tightens, a.Pos, "no longer sets %s", name)
		case a.Value != b.Value:
			d.add(Differs, b.Pos, "sets %s to %s, which was %s", name, quote(b.Value), quote(a.Value))
		}
	}
}

// grants compares the network, user, image, workspace, artifacts and sockets.
func (d *differ) grants(old, updated *Policy) {
	at := func(p Position) Position {
		if p.Line == 0 {
			return updated.Pos
		}
		return p
	}
	n := at(updated.Network.Pos)
	if a, b := slices.Index(networkRank, old.Network.Default), slices.Index(networkRank, updated.Network.Default); a != b {
		kind := Tightens
		if b > a {
			kind = Widens
		}
		d.add(kind, n, "makes %s the default network, which was %s", updated.Network.Default, orNothing(old.Network.Default))
	}
	d.set(n, "the network", old.Network.Accept, updated.Network.Accept)
	u := at(updated.User.Pos)
	d.value(u, "the default user", old.User.says(), updated.User.says())
	d.set(u, "the user", old.User.Accept, updated.User.Accept)
	i := at(updated.Image.Pos)
	d.value(i, "the default image", old.Image.Default, updated.Image.Default)
	d.value(i, "the image's platform", old.Image.Platform, updated.Image.Platform)
	if a, b := max(slices.Index(pullRank, old.Image.Pull), 0), max(slices.Index(pullRank, updated.Image.Pull), 0); a != b {
		kind := Tightens
		if b > a {
			kind = Widens
		}
		d.add(kind, i, "fetches images %s, which was %s", pullRank[b], pullRank[a])
	}
	d.set(i, "the image", plainTexts(old.Image.Accept), plainTexts(updated.Image.Accept))
	w := at(updated.Workspace.Pos)
	d.value(w, "the workspace's place", old.Workspace.Target, updated.Workspace.Target)
	d.value(w, "the workspace's own mode", old.Workspace.Default, updated.Workspace.Default)
	d.set(w, "the workspace mode", old.Workspace.Accept, updated.Workspace.Accept)
	d.amount(w, "workspace.files", old.Workspace.Files, updated.Workspace.Files)
	d.amount(w, "workspace.bytes", old.Workspace.Bytes, updated.Workspace.Bytes)
	r := at(updated.Artifacts.Pos)
	d.amount(r, "artifacts.bytes", old.Artifacts.Bytes, updated.Artifacts.Bytes)
	d.amount(r, "artifacts.files", old.Artifacts.Files, updated.Artifacts.Files)
	d.amount(r, "artifacts.depth", int64(old.Artifacts.Depth), int64(updated.Artifacts.Depth))
	d.value(r, "artifacts.timeout", old.Artifacts.Timeout.String(), updated.Artifacts.Timeout.String())
	d.set(updated.Pos, "a mount of the host's socket", plainTexts(old.Sockets), plainTexts(updated.Sockets))
	d.value(updated.Pos, "the working directory", old.Workdir.Text, updated.Workdir.Text)
}

func (u UserPolicy) says() string {
	if u.Default == "id" {
		return fmt.Sprintf("id %d:%d", u.UID, u.GID)
	}
	return u.Default
}

// amount compares bounds of which zero is none.
func (d *differ) amount(at Position, what string, old, updated int64) {
	if old == updated {
		return
	}
	kind := Tightens
	if updated == 0 || old != 0 && updated > old {
		kind = Widens
	}
	d.add(kind, at, "changes %s from %s to %s", what, sizeOrNone(old), sizeOrNone(updated))
}

func (d *differ) credentials(old, updated []CredentialRule) {
	find := func(rules []CredentialRule, role string) *CredentialRule {
		if i := slices.IndexFunc(rules, func(r CredentialRule) bool { return r.Role == role }); i >= 0 {
			return &rules[i]
		}
		return nil
	}
	for _, role := range eitherName(old, updated, func(r CredentialRule) string { return r.Role }) {
		switch a, b := find(old, role), find(updated, role); {
		case a == nil:
			d.add(Widens, b.Pos, "delivers the credential %s as %s", role, b.place())
		case b == nil:
			d.add(Tightens, a.Pos, "no longer delivers the credential %s", role)
		case a.place() != b.place():
			d.add(Differs, b.Pos, "delivers the credential %s as %s, which was %s", role, b.place(), a.place())
		}
	}
}

func (d *differ) knobs(old, updated []Knob) {
	find := func(ks []Knob, env string) *Knob {
		if i := slices.IndexFunc(ks, func(k Knob) bool { return k.Env == env }); i >= 0 {
			return &ks[i]
		}
		return nil
	}
	for _, env := range eitherName(old, updated, func(k Knob) string { return k.Env }) {
		switch a, b := find(old, env), find(updated, env); {
		case a == nil:
			d.add(Widens, b.Pos, "lets %s set %s", env, b.Sets)
		case b == nil:
			d.add(Tightens, a.Pos, "no longer lets %s set %s", env, a.Sets)
		case a.Sets != b.Sets:
			d.add(Differs, b.Pos, "lets %s set %s, which was %s", env, b.Sets, a.Sets)
		case a.Default != b.Default:
			d.add(Differs, b.Pos, "changes the default of %s from %s to %s", env, orNothing(a.Default), orNothing(b.Default))
		}
	}
}
