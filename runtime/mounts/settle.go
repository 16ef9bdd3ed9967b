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
	var restless *request
	for range maxRounds {
		p.grow()
		restless = nil
		err := p.live(func(r *request) error {
			place, err := p.placeOf(r)
			if err != nil {
				return r.fail(runtime.Setup, "finding its place inside: %w", err)
			}
			if place != r.place {
				restless = r
			}
			r.next = place
			return nil
		})
		if err != nil {
			return err
		}
		for _, r := range p.requests {
			if !r.gone {
				r.place = r.next // not before all were found: they were found in the tree of the old places
			}
		}
		if restless == nil {
			if err := p.merge(func(r *request) string { return r.place }); err != nil {
				return err
			}
			p.grow()
			return nil
		}
	}
	return restless.fail(runtime.Denied, "its place inside depends on links that other mounts move again and again").
		WithCure("name targets without links")
}

func (p *planner) placeOf(r *request) (string, error) {
	s, err := p.insideWithout(r, r.target, r.kind != runtime.MountSymlink)
	return s.path, err
}

// verify sees to it that every target, as asked for, leads in the finished tree to where its request stands: a mount can hide the very link
// that its target was found by.
func (p *planner) verify() error {
	for _, r := range p.requests {
		end := r
		for end.became != nil {
			end = end.became
		}
		if end.gone {
			continue
		}
		asked := clean(r.m.Target)
		s, err := p.inside(asked, end.kind != runtime.MountSymlink)
		if err != nil || s.path != end.place {
			other := p.coverOf(end.place)
			return r.fail(runtime.Denied, "its target %q leads to %q only by a link that %s hides", asked, end.place, other).
				WithCure("name the target %q", end.place)
		}
	}
	return nil
}

// grow makes the tree out of the places.
func (p *planner) grow() {
	clear(p.tree)
	for _, r := range p.requests {
		if r.gone {
			continue
		}
		r.depth = depth(r.place)
		r.beside = nil
		if first := p.tree[r.place]; first != nil {
			r.beside, first.beside = first.beside, r
		} else {
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
		at[path(b)] = keep
		keep.target = path(b) // it stands for both, and the way of one may have led over the other
		if keep == b {
			a.gone, a.became = true, b
		} else {
			b.gone, b.became = true, a
		}
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
