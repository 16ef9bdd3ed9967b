package mounts

import (
	"github.com/sbxkit/sbxkit/runtime"
)

// maxRounds bounds how often targets are resolved anew because a link of another request moved them.
const maxRounds = 16

// settle finds each request's place: its target with every link on the way resolved in the tree that the requests themselves make. A
// place depends on the places of other requests, so all are resolved until none moves. Two requests for the same place become one or are
// Denied.
func (p *planner) settle() error {
	if err := p.merge(func(r *request) string { return r.target }); err != nil {
		return err
	}
	for range maxRounds {
		p.grow()
		moved := false
		err := p.live(func(r *request) error {
			place, err := p.placeOf(r)
			if err != nil {
				return r.fail(runtime.Setup, "finding its place inside: %w", err)
			}
			moved = moved || place != r.place
			r.place = place
			return nil
		})
		if err != nil {
			return err
		}
		if !moved {
			if err := p.merge(func(r *request) string { return r.place }); err != nil {
				return err
			}
			p.grow()
			return nil
		}
	}
	return p.live(func(r *request) error {
		if place, err := p.placeOf(r); err != nil || place != r.place {
			return r.fail(runtime.Denied, "its place inside depends on links that other mounts move again and again").
				WithCure("name targets without links")
		}
		return nil
	})
}

func (p *planner) placeOf(r *request) (string, error) {
	s, err := p.insideWithout(r, r.target, r.kind != runtime.MountSymlink)
	return s.path, err
}

// grow makes the tree out of the places.
func (p *planner) grow() {
	clear(p.tree)
	for _, r := range p.requests {
		if r.gone {
			continue
		}
		r.depth = depth(r.place)
		if _, taken := p.tree[r.place]; !taken {
			p.tree[r.place] = r
		}
	}
}

// merge makes one request of those with the same path, or refuses.
func (p *planner) merge(path func(*request) string) error {
	at := make(map[string]*request, len(p.requests))
	return p.live(func(b *request) error {
		a := at[path(b)]
		if a == nil {
			at[path(b)] = b
			return nil
		}
		keep := refine(a, b)
		if keep == nil {
			return b.fail(runtime.Denied, "it stands at the same place as %s", a).
				WithCure("leave one of them out; only an equal request, a read-only bind of the same source, or a mask may follow another at its place")
		}
		if keep == b {
			a.gone = true
		} else {
			b.gone = true
		}
		at[path(b)] = keep
		return nil
	})
}

// refine gives the one of two requests at the same place that stands for both, or nil where they exclude each other. b was declared
// later: it may repeat a, make it read-only or mask it, and nothing else.
func refine(a, b *request) *request {
	switch {
	case a.mask() && b.mask():
		if a.kind == runtime.MountMask || a.kind == b.kind {
			b.over = a.over
			return b
		}
		if b.kind == runtime.MountMask {
			return a
		}
		return nil
	case b.mask():
		if a.kind == runtime.MountSymlink {
			return nil
		}
		b.over = a
		return b
	case a.mask():
		return nil
	case a.link != "" && b.kind == runtime.MountSymlink && a.link == b.source:
		return b
	case b.link != "" && a.kind == runtime.MountSymlink && b.link == a.source:
		return a
	}
	same := a.source == b.source && a.m.Size == b.m.Size && a.m.Mode == b.m.Mode && a.m.Scope == b.m.Scope && string(a.m.Data) == string(b.m.Data)
	if a.kind == runtime.MountVolume {
		same = same && a.m.Source == b.m.Source
	}
	switch {
	case !same:
		return nil
	case a.kind == b.kind:
		return a
	case a.kind == runtime.MountBindRW && b.kind == runtime.MountBindRO:
		return b
	}
	return nil
}
