package mounts

import (
	"errors"
	"io/fs"
	"syscall"

	"github.com/sbxkit/sbxkit/runtime"
)

// spot is what the plan shows at a path inside.
type spot struct {
	path  string   // without links
	cover *request // the request at or nearest above it; nil where none is
	state state
	host  string // the path of the host that is shown, "" where it is none
	mode  fs.FileMode
	// wall is the request above path that is no directory, where there is one.
	wall *request
	err  error // the host's own word, where nothing stands there or it could not be looked at
}

// state says whether something stands at a spot.
type state int

const (
	missing state = iota
	present
	unknown // an image's, a volume's, or a host's that cannot be looked at
)

// inside finds what the plan shows at an absolute path. With follow, a link at the last part is followed too.
func (p *planner) inside(path string, follow bool) (spot, error) {
	return p.insideWithout(nil, path, follow)
}

// insideWithout finds what the plan shows at an absolute path if one request were not part of it.
func (p *planner) insideWithout(without *request, path string, follow bool) (spot, error) {
	var s spot
	resolved, err := walk(path, follow, func(prefix string) (string, error) {
		if prefix == "/" {
			s = spot{state: present, mode: fs.ModeDir}
			if p.in.Tool.Image {
				s.state = unknown
			}
			if r := p.requestAt("/", without); r != nil {
				s.enter(p, r)
			}
			return "", nil
		}
		r := p.requestAt(prefix, without)
		if r == nil {
			return s.down(p, prefix), nil
		}
		if s.wall == nil && s.cover != nil && !s.cover.directory(p.host.looks()) {
			s.wall = s.cover
		}
		if r.kind == runtime.MountSymlink {
			s = spot{cover: r, state: present, mode: fs.ModeSymlink, wall: s.wall}
			return r.source, nil
		}
		s.enter(p, r)
		return "", nil
	})
	if errors.Is(err, syscall.ELOOP) {
		return spot{}, &fs.PathError{Op: "resolve inside", Path: path, Err: err}
	}
	s.path = resolved
	return s, err
}

// requestAt finds the first request at a place that is not without.
func (p *planner) requestAt(place string, without *request) *request {
	r := p.tree[place]
	if r == without && r != nil {
		return r.beside
	}
	return r
}

// enter makes s the place of r.
func (s *spot) enter(p *planner, r *request) {
	s.cover, s.state, s.host, s.err = r, present, "", nil
	switch {
	case r.bind() || r.kind == runtime.MountDevice:
		s.host, s.mode = r.source, r.mode
		if !p.host.looks() {
			s.state, s.mode = unknown, 0
		}
	case r.directory(true):
		s.mode = fs.ModeDir
	default:
		s.mode = 0
	}
}

// down moves s to prefix, one part below, where no request stands; it gives the text of a link that the cover shows there.
func (s *spot) down(p *planner, prefix string) string {
	c := s.cover
	s.mode, s.err = 0, nil
	switch {
	case c == nil:
		if !p.in.Tool.Image {
			s.state = missing
		}
	case !c.directory(p.host.looks()):
		s.state, s.host = missing, ""
		if s.wall == nil {
			s.wall = c
		}
	case c.bind() || c.kind == runtime.MountDevice || c.kind == runtime.MountProc:
		s.host = p.shown(c, prefix)
		if !p.host.looks() {
			s.state = unknown
			return ""
		}
		e := p.host.lstat(s.host)
		switch {
		case e.err == nil:
			s.state, s.mode = present, e.mode
			return e.link
		case absent(e.err):
			s.state, s.err = missing, e.err
		default:
			s.state, s.err = unknown, e.err
		}
	case c.kind == runtime.MountVolume:
		s.state = unknown
	case c.kind == runtime.MountDev:
		s.state, s.mode = devEntry(rebase(prefix, c.place, "/"))
	default:
		s.state = missing
	}
	return ""
}

// shown gives the path of the host that c shows at place, which is at or below its own. A new proc file system is taken to hold the
// files that the host's holds.
func (p *planner) shown(c *request, place string) string {
	if c.kind == runtime.MountProc {
		return rebase(place, c.place, "/proc")
	}
	return rebase(place, c.place, c.source)
}

// coverAbove finds the request nearest above a place, and not at it.
func (p *planner) coverAbove(place string) *request {
	for place != "/" {
		place = parent(place)
		if r := p.tree[place]; r != nil {
			return r
		}
	}
	return nil
}

// coverOf finds the request at or nearest above a place.
func (p *planner) coverOf(place string) *request {
	if r := p.tree[place]; r != nil {
		return r
	}
	return p.coverAbove(place)
}

// devEntry says what a new /dev holds, in bubblewrap's manner (setup_newroot, SETUP_MOUNT_DEV): a tmpfs with these entries.
func devEntry(path string) (state, fs.FileMode) {
	switch path {
	case "/null", "/zero", "/full", "/random", "/urandom", "/tty", "/ptmx":
		return present, fs.ModeDevice | fs.ModeCharDevice
	case "/pts", "/shm":
		return present, fs.ModeDir
	}
	return missing, 0
}
