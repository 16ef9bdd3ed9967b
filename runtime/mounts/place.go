package mounts

import (
	"io/fs"

	"github.com/sbxkit/sbxkit/runtime"
)

// Place is what a plan shows at a path inside.
type Place struct {
	// Path is the path without links.
	Path string
	// Mount is the index in Result.Mounts of the operation at or nearest above it, -1 for none.
	Mount int
	// Host is the path of the host that is shown; empty where it is none.
	Host string
	// Known is false where it cannot be told from here what stands there (an image, a volume, a host that cannot be looked at); Exists
	// and Mode are then not set.
	Known  bool
	Exists bool
	// Mode is the type of what stands there; its permission bits where the host shows it.
	Mode fs.FileMode
	// Writable is true where a writable bind or a file system of the sandbox's own stands there.
	Writable bool
}

// At finds what the plan shows at an absolute path inside, every link followed: whether a working directory will be there, which
// program of the host a word names. An error means that the path leads in a circle. It looks at the host again for what planning did not
// look at, and is not safe for concurrent use.
func (r *Result) At(path string) (Place, error) {
	p := r.planner
	s, err := p.inside(clean(path), true)
	if err != nil {
		return Place{}, asPlanFailure(err)
	}
	place := Place{Path: s.path, Mount: -1, Host: s.host, Known: s.state != unknown, Exists: s.state == present, Mode: s.mode, Writable: true}
	for i, m := range r.Mounts {
		if s.cover != nil && m.Target == s.cover.place {
			place.Mount = i
		}
		if s.state == missing && m.Target != s.path && within(m.Target, s.path) {
			place.Exists, place.Mode = true, fs.ModeDir // made as the parent of a target
		}
	}
	if s.cover != nil {
		switch s.cover.kind {
		case runtime.MountBindRO, runtime.MountFile, runtime.MountMaskFile, runtime.MountProc:
			place.Writable = false
		}
	}
	return place, nil
}
