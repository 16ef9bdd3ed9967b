package mounts

import (
	"io/fs"

	"github.com/sbxkit/sbxkit/runtime"
)

// standMask decides the kind of a mask by what stands at its place.
func (p *planner) standMask(r *request, s spot) error {
	dir, below := s.mode.IsDir(), s
	if r.over != nil {
		s.state, dir = present, r.over.directory(p.host.looks())
		if !p.host.looks() && r.over.fromHost() {
			s.state = unknown
		}
	}
	switch s.state {
	case missing:
		if way := p.wayToMake(s); way != nil {
			return r.fail(runtime.Denied, "nothing stands there, and through %s the command could make it appear, unmasked", way).
				WithCure("create %s before the launch, or mask a directory above it", p.hostOrPlace(s))
		}
		p.drop(r, "nothing stands there, and nothing the command may write leads there")
		return nil
	case unknown:
		if r.kind == runtime.MountMask {
			return r.fail(runtime.Unsupported, "what stands there cannot be seen from here, so that the mask's kind is not known").
				WithCure("say mask-file or mask-dir")
		}
		dir = r.kind == runtime.MountMaskDir
	}
	kind := runtime.MountMaskFile
	if dir {
		kind = runtime.MountMaskDir
	}
	if r.kind != runtime.MountMask && r.kind != kind {
		return r.fail(runtime.Setup, "there stands %s", typeName(dir)).WithCure("say mask, and the kind is chosen by what stands there")
	}
	r.kind = kind
	r.mode = 0
	if dir {
		r.mode = fs.ModeDir
	}
	if r.over != nil {
		return p.standMount(r, below) // what it hides is not in the plan, so it stands there itself
	}
	return nil
}

// wayToMake finds the writable bind, if there is one, through which a command could make something at a path of the host that the plan
// shows: the cover itself, or one that shows the same part of the host elsewhere.
func (p *planner) wayToMake(s spot) *request {
	if s.cover == nil || !s.cover.bind() {
		return nil
	}
	if s.cover.kind == runtime.MountBindRW {
		return s.cover
	}
	binds := p.bindsBySource()
	for dir := s.host; dir != "/"; {
		dir = parent(dir)
		for _, b := range binds[dir] {
			if b.kind == runtime.MountBindRW && p.coverOf(rebase(s.host, dir, b.place)) == b {
				return b
			}
		}
	}
	return nil
}

// checkMasks refuses a mask of something that another bind still shows at another place. A bind of the masked thing itself, or of a part
// of it, is a grant of its own.
func (p *planner) checkMasks() error {
	binds := p.bindsBySource()
	return p.live(func(r *request) error {
		if !r.mask() {
			return nil
		}
		hidden := ""
		if r.over != nil && r.over.bind() {
			hidden = r.over.source
		} else if c := p.coverAbove(r.place); r.over == nil && c != nil && c.bind() {
			hidden = p.shown(c, r.place)
		}
		for dir := hidden; dir != "" && dir != "/"; {
			dir = parent(dir)
			for _, b := range binds[dir] {
				place := rebase(hidden, dir, b.place)
				if place != r.place && p.coverOf(place) == b {
					return r.fail(runtime.Denied, "%s still shows what it hides, at %q", b, place).WithCure("mask %q too", place)
				}
			}
		}
		return nil
	})
}

// bindsBySource finds the binds of each path of the host. It is asked for once the binds are settled.
func (p *planner) bindsBySource() map[string][]*request {
	if p.binds == nil {
		p.binds = make(map[string][]*request)
		for _, r := range p.requests {
			if !r.gone && r.bind() {
				p.binds[r.source] = append(p.binds[r.source], r)
			}
		}
	}
	return p.binds
}
