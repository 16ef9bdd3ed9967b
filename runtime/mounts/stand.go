package mounts

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/sbxkit/sbxkit/runtime"
)

// stand checks that each operation can be done on what the ones before it made, and decides the kind of each mask. It goes in the
// planned order, so that what is above a place is decided first.
func (p *planner) stand() error {
	for _, r := range p.ordered() {
		s := p.under(r)
		switch {
		case s.wall != nil:
			return r.fail(runtime.Denied, "%s is no directory, so nothing can stand below it", s.wall)
		case s.state == missing && errors.Is(s.err, syscall.ENOTDIR):
			return r.fail(runtime.Setup, "a part of its target is no directory in %s: %w", s.cover, s.err)
		case s.state == unknown && s.err != nil:
			return r.fail(runtime.Setup, "looking at what stands at its target in %s: %w", s.cover, s.err)
		}
		if pid, ok := processPath(s.host); ok && s.cover.kind == runtime.MountProc {
			return r.fail(runtime.Denied, "its target is %q of this very process, and inside that is none or another", pid)
		}
		var err error
		switch {
		case r.mask():
			err = p.standMask(r, s)
		case r.kind == runtime.MountSymlink:
			err = p.standLink(r, s)
		default:
			err = p.standMount(r, s)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// under finds what stands at r's place without r.
func (p *planner) under(r *request) spot {
	if r.place == "/" {
		return spot{path: "/", state: present, mode: fs.ModeDir}
	}
	s := spot{path: r.place, state: missing}
	if p.in.Tool.Image {
		s.state = unknown
	}
	if c := p.coverAbove(r.place); c != nil {
		s.enter(p, c)
		s.down(p, r.place)
	}
	return s
}

func (p *planner) standMount(r *request, s spot) error {
	dir := r.directory(p.host.looks())
	switch s.state {
	case present:
		if dir != s.mode.IsDir() && (p.host.looks() || !r.fromHost()) {
			return r.fail(runtime.Setup, "it is %s, and at its target stands %s of %s", typeName(dir), typeName(s.mode.IsDir()), p.coverName(s))
		}
	case missing:
		switch {
		case s.cover == nil:
		case s.cover.kind == runtime.MountBindRO, s.cover.kind == runtime.MountDevice, s.cover.kind == runtime.MountProc:
			return r.fail(runtime.Setup, "nothing stands at its target, and nothing can be made there below %s: %w", s.cover, s.err).
				WithCure("create %s on the host, or choose a target elsewhere", p.hostOrPlace(s))
		case s.cover.kind == runtime.MountBindRW:
			p.notes = append(p.notes, fmt.Sprintf("%s: nothing stands at its target, so that mounting it leaves an empty %s at %s of the host",
				r, plainTypeName(dir), p.hostOrPlace(s)))
		}
	}
	return nil
}

// standLink keeps a link off the host's own tree.
func (p *planner) standLink(r *request, s spot) error {
	switch {
	case s.state == present && s.mode.Type() == fs.ModeSymlink && p.host.lstat(s.host).link == r.source:
		p.giveUp(r) // the very same link stands there already
	case s.state == present:
		return r.fail(runtime.Setup, "something stands there already, in %s", p.coverName(s))
	case s.state == missing && s.cover != nil && s.cover.kind == runtime.MountBindRW:
		return r.fail(runtime.Denied, "the link would be made on the host, below %s", s.cover).
			WithCure("create it there before, or choose a target elsewhere")
	case s.state == missing && s.cover != nil && (s.cover.kind == runtime.MountBindRO || s.cover.kind == runtime.MountProc):
		return r.fail(runtime.Setup, "no link can be made below %s", s.cover)
	}
	return nil
}

func (p *planner) coverName(s spot) string {
	if s.cover == nil {
		return "the root"
	}
	return s.cover.String()
}

func (p *planner) hostOrPlace(s spot) string {
	if s.host != "" {
		return fmt.Sprintf("%q", s.host)
	}
	return fmt.Sprintf("%q", s.path)
}

func typeName(dir bool) string {
	if dir {
		return "a directory"
	}
	return "no directory"
}

func plainTypeName(dir bool) string {
	if dir {
		return "directory"
	}
	return "file"
}
