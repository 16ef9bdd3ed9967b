package mountstest

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
	"syscall"

	"github.com/sbxkit/sbxkit/runtime"
)

// World is a model of a tool that carries out mount operations strictly in order, as bubblewrap does: the root is an empty tmpfs, missing
// parents of a target are made where the file system above is writable, a later operation hides all that stood at and below its target,
// and a source or target that needs a link followed is an error, because a plan has none.
type World struct {
	host *FS
	ops  []runtime.Mount
	// made are entries made on the way, by the operation they were made on (-1: the root) and path.
	made map[made]fs.FileMode
	// Left are paths of the host that an operation made there.
	Left []string
}

type made struct {
	op   int
	path string
}

// Seen is what a path shows.
type Seen struct {
	// Path is the path without links.
	Path string
	// Op is the operation that shows it, -1 for the root.
	Op int
	// Host is the path of the host that is shown; empty where the host shows nothing there.
	Host   string
	Exists bool
	Mode   fs.FileMode
	Link   string
}

// NewWorld makes an empty sandbox on a host.
func NewWorld(host *FS) *World { return &World{host: host, made: map[made]fs.FileMode{}} }

// At describes one path whose parents hold no links: the last operation at or above it shows it.
func (w *World) At(p string) Seen {
	s := Seen{Path: p, Op: -1}
	for i, m := range w.ops {
		if below(p, m.Target) {
			s.Op = i
		}
	}
	if mode, ok := w.made[made{s.Op, p}]; ok {
		s.Exists, s.Mode = true, mode
		return s
	}
	if s.Op < 0 {
		s.Exists, s.Mode = p == "/", fs.ModeDir
		return s
	}
	m := w.ops[s.Op]
	switch m.Kind {
	case runtime.MountBindRO, runtime.MountBindRW, runtime.MountDevice, runtime.MountSocket:
		h := path.Join(m.Source, strings.TrimPrefix(p[len(strings.TrimSuffix(m.Target, "/")):], "/"))
		if n := w.host.nodes[h]; n != nil {
			s.Exists, s.Mode, s.Host = true, n.mode, h
			if n.mode&fs.ModeSymlink != 0 {
				s.Link = n.text
			}
		}
	case runtime.MountProc, runtime.MountDev:
		s.Exists, s.Mode = p == m.Target, fs.ModeDir
		content, dir := w.host, "/proc"
		if m.Kind == runtime.MountDev {
			content, dir = newDev, "/dev"
		}
		if n := content.nodes[dir+p[len(m.Target):]]; n != nil {
			s.Exists, s.Mode = true, n.mode
		}
	case runtime.MountSymlink:
		s.Exists, s.Mode, s.Link = p == m.Target, fs.ModeSymlink, m.Source
	case runtime.MountFile, runtime.MountMaskFile:
		s.Exists = p == m.Target
	default:
		s.Exists, s.Mode = p == m.Target, fs.ModeDir
	}
	return s
}

// newDev is what a new /dev holds; a new /proc is taken to hold what the host's does.
var newDev = Parse("/dev/null %\n/dev/zero %\n/dev/full %\n/dev/random %\n/dev/urandom %\n/dev/tty %\n/dev/ptmx %\n/dev/pts/\n/dev/shm/\n")

func below(p, dir string) bool {
	return dir == "/" || p == dir || strings.HasPrefix(p, dir+"/")
}

// Look follows a path as a program inside would.
func (w *World) Look(p string) (Seen, error) { return w.look(p, 0) }

func (w *World) look(p string, links int) (Seen, error) {
	s := w.At("/")
	parts := strings.FieldsFunc(p, func(r rune) bool { return r == '/' })
	for i, part := range parts {
		switch {
		case part == ".":
			continue
		case part == "..":
			s = w.At(path.Dir(s.Path))
			continue
		case s.Exists && !s.Mode.IsDir():
			return Seen{}, fmt.Errorf("%q: %w", s.Path, syscall.ENOTDIR)
		}
		next := w.At(path.Join(s.Path, part))
		if next.Link != "" {
			if links++; links > 40 {
				return Seen{}, syscall.ELOOP
			}
			to := next.Link
			if to[0] != '/' {
				to = s.Path + "/" + to
			}
			return w.look(to+"/"+strings.Join(parts[i+1:], "/"), links)
		}
		s = next
	}
	return s, nil
}

// Apply carries out one operation or says why the tool would fail.
func (w *World) Apply(m runtime.Mount) error {
	dir := true
	switch m.Kind {
	case runtime.MountBindRO, runtime.MountBindRW, runtime.MountDevice, runtime.MountSocket:
		real, err := w.host.Real(m.Source)
		if err != nil {
			return fmt.Errorf("source %q: %w", m.Source, err)
		}
		if real != m.Source {
			return fmt.Errorf("source %q is not resolved: it is %q", m.Source, real)
		}
		dir = w.host.nodes[real].mode.IsDir()
	case runtime.MountFile, runtime.MountMaskFile:
		dir = false
	case runtime.MountSymlink:
		if err := w.parents(m.Target); err != nil {
			return err
		}
		if w.At(m.Target).Exists {
			return fmt.Errorf("link %q: %w", m.Target, syscall.EEXIST)
		}
		if err := w.writable(w.At(m.Target)); err != nil {
			return err
		}
		w.ops = append(w.ops, m)
		return nil
	case runtime.MountMask:
		return fmt.Errorf("%q: a mask without a kind", m.Target)
	}
	if err := w.parents(m.Target); err != nil {
		return err
	}
	s := w.At(m.Target)
	switch {
	case s.Link != "":
		return fmt.Errorf("target %q is a link", m.Target)
	case s.Exists && s.Mode.IsDir() != dir:
		return fmt.Errorf("target %q: directory %v onto directory %v", m.Target, dir, s.Mode.IsDir())
	case !s.Exists:
		if err := w.create(s, dir); err != nil {
			return err
		}
	}
	w.ops = append(w.ops, m)
	return nil
}

func (w *World) parents(target string) error {
	for i := 1; i < len(target); i++ {
		if target[i] != '/' {
			continue
		}
		s := w.At(target[:i])
		switch {
		case s.Link != "":
			return fmt.Errorf("target %q goes through the link %q", target, s.Path)
		case s.Exists && !s.Mode.IsDir():
			return fmt.Errorf("target %q: %q: %w", target, s.Path, syscall.ENOTDIR)
		case !s.Exists:
			if err := w.create(s, true); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *World) writable(s Seen) error {
	if s.Op < 0 {
		return nil
	}
	switch w.ops[s.Op].Kind {
	case runtime.MountBindRO, runtime.MountProc, runtime.MountDevice:
		return fmt.Errorf("making %q: %w", s.Path, syscall.EROFS)
	}
	return nil
}

func (w *World) create(s Seen, dir bool) error {
	if err := w.writable(s); err != nil {
		return err
	}
	mode := fs.FileMode(0)
	if dir {
		mode = fs.ModeDir
	}
	w.made[made{s.Op, s.Path}] = mode
	if s.Op >= 0 && w.ops[s.Op].Kind == runtime.MountBindRW {
		w.Left = append(w.Left, s.Path)
	}
	return nil
}
