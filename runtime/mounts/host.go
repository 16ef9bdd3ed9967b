package mounts

import (
	"errors"
	"io/fs"
	"syscall"

	"github.com/sbxkit/sbxkit/runtime"
)

// host is the host's file system with everything remembered that was looked at: one lstat a path, however often it is asked for.
type host struct {
	view runtime.HostView
	seen map[string]entry
}

// entry is what stands at a path of the host.
type entry struct {
	mode fs.FileMode
	size int64
	link string // text of a link
	err  error  // wraps fs.ErrNotExist where nothing stands there
}

func newHost(view runtime.HostView) *host {
	return &host{view: view, seen: make(map[string]entry)}
}

// looks reports whether the host can be looked at.
func (h *host) looks() bool { return h.view != nil }

// lstat describes path, whose parts before the last are no links.
func (h *host) lstat(path string) entry {
	if e, ok := h.seen[path]; ok {
		return e
	}
	var e entry
	info, err := h.view.Lstat(path)
	switch {
	case err != nil:
		e.err = err
	case info.Mode()&fs.ModeSymlink != 0:
		e.mode = info.Mode()
		e.link, e.err = h.view.Readlink(path)
		if e.err == nil && e.link == "" {
			e.err = &fs.PathError{Op: "readlink", Path: path, Err: fs.ErrInvalid}
		}
	default:
		e.mode, e.size = info.Mode(), info.Size()
	}
	h.seen[path] = e
	return e
}

// real resolves every link on path; the entry is of what it ends at. err wraps fs.ErrNotExist where there is no such thing.
func (h *host) real(path string) (string, entry, error) {
	var last entry
	resolved, err := walk(path, true, func(prefix string) (string, error) {
		if prefix != "/" && last.mode.Type() != fs.ModeDir {
			return "", &fs.PathError{Op: "lstat", Path: prefix, Err: syscall.ENOTDIR}
		}
		if prefix == "/" {
			last = entry{mode: fs.ModeDir}
			return "", nil
		}
		e := h.lstat(prefix)
		if e.err != nil {
			return "", e.err
		}
		if e.link == "" {
			last = e
		}
		return e.link, nil
	})
	if errors.Is(err, syscall.ELOOP) {
		err = &fs.PathError{Op: "resolve", Path: path, Err: syscall.ELOOP}
	}
	if err != nil {
		return "", entry{}, err
	}
	return resolved, last, nil
}

// absent reports whether err says that nothing stands at a path: no such entry, or a part before it that is no directory.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
