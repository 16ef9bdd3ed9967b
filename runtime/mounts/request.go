package mounts

import (
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"github.com/sbxkit/sbxkit/runtime"
)

// request is one mount on its way into the plan.
type request struct {
	// m is the mount as asked for; kind, source and place are what it became.
	m      runtime.Mount
	kind   runtime.MountKind
	target string // as asked for, cleaned
	place  string // target with every link on the way resolved inside
	next   string // place, while places are being found
	depth  int    // of place
	source string // of a bind, device or socket: on the host, without links; of a symlink: its text
	// mode is the type of the source; of a mask, what it hides.
	mode fs.FileMode
	// link is the text of the source where the source itself is a link on the host.
	link string
	// over is what a mask at the same place hides.
	over *request
	// beside is another request at the same place, while places are being found.
	beside *request
	// became is the request at the same place that stands for this one too.
	became *request
	gone   bool
}

// String names the request the way its owner knows it: origin, kind and paths.
func (r *request) String() string {
	switch r.m.Kind {
	case runtime.MountBindRO, runtime.MountBindRW, runtime.MountDevice, runtime.MountSocket, runtime.MountSymlink, runtime.MountVolume:
		return fmt.Sprintf("%s (%s %q at %q)", r.m.Origin, r.m.Kind, r.m.Source, r.m.Target)
	}
	return fmt.Sprintf("%s (%s at %q)", r.m.Origin, r.m.Kind, r.m.Target)
}

// fail makes a failure about the request; a %w is its cause.
func (r *request) fail(kind runtime.Kind, format string, args ...any) *runtime.Failure {
	f := runtime.Fail(kind, format, args...).About("mount." + string(r.m.Kind))
	f.Message = r.String() + ": " + f.Message
	return f
}

// bind reports whether the request shows a part of the host's file system.
func (r *request) bind() bool {
	return r.kind == runtime.MountBindRO || r.kind == runtime.MountBindRW
}

// fromHost reports whether the source is a path of the host.
func (r *request) fromHost() bool {
	return r.bind() || r.kind == runtime.MountDevice || r.kind == runtime.MountSocket
}

func (r *request) mask() bool {
	return r.kind == runtime.MountMask || r.kind == runtime.MountMaskFile || r.kind == runtime.MountMaskDir
}

// directory reports whether something can stand below the request. A source nobody has looked at is taken for a directory.
func (r *request) directory(looked bool) bool {
	switch r.kind {
	case runtime.MountBindRO, runtime.MountBindRW, runtime.MountDevice:
		return !looked || r.mode.IsDir()
	case runtime.MountFile, runtime.MountSymlink, runtime.MountMaskFile, runtime.MountSocket:
		return false
	}
	return true
}

// read takes the requests over and refuses what no tool should ever be given.
func (p *planner) read() error {
	p.requests = make([]*request, 0, len(p.in.Mounts))
	backing := make([]request, len(p.in.Mounts))
	for i, m := range p.in.Mounts {
		r := &backing[i]
		*r = request{m: m, kind: m.Kind}
		if m.Origin == "" {
			r.m.Origin = fmt.Sprintf("mounts[%d]", i)
		}
		if err := p.check(r); err != nil {
			return err
		}
		r.target = clean(m.Target)
		r.place = r.target
		p.requests = append(p.requests, r)
	}
	return nil
}

// check looks at the words of a request alone.
func (p *planner) check(r *request) error {
	m := r.m
	switch m.Kind {
	case runtime.MountBindRO, runtime.MountBindRW, runtime.MountDevice, runtime.MountSocket:
		if why := badPath(m.Source); why != "" {
			return r.fail(runtime.Denied, "its source %s", why).WithCure("name the source by an absolute path without ..")
		}
	case runtime.MountSymlink:
		if m.Source == "" || strings.IndexByte(m.Source, 0) >= 0 {
			return r.fail(runtime.Denied, "the text of a link is neither empty nor holds a NUL")
		}
		if len(m.Source) > longestPath {
			return r.fail(runtime.Setup, "its text has %d bytes: %w", len(m.Source), syscall.ENAMETOOLONG)
		}
		r.source = m.Source
	case runtime.MountVolume:
		if m.Source == "" || strings.ContainsAny(m.Source, "\x00/") {
			return r.fail(runtime.Denied, "the name of a volume is neither empty nor holds a slash or NUL")
		}
	case runtime.MountTmpfs, runtime.MountFile, runtime.MountMask, runtime.MountMaskFile, runtime.MountMaskDir, runtime.MountProc,
		runtime.MountDev, runtime.MountDir:
	default:
		return r.fail(runtime.Unsupported, "there is no such kind of mount")
	}
	if why := badPath(m.Target); why != "" {
		return r.fail(runtime.Denied, "its target %s", why).WithCure("name the place inside by an absolute path without ..")
	}
	if clean(m.Target) == "/" && !r.bind() && m.Kind != runtime.MountTmpfs {
		return r.fail(runtime.Denied, "only a bind or a tmpfs can be the root")
	}
	if m.Optional && m.Kind != runtime.MountBindRO {
		return r.fail(runtime.Denied, "only a read-only bind may be optional: skipping this one would change what the command may do without a word").
			WithCure("leave optional out, or ask for the mount only where its source exists")
	}
	if m.Size < 0 {
		return r.fail(runtime.Denied, "its size %d is negative", m.Size)
	}
	if m.Size != 0 && m.Kind != runtime.MountTmpfs {
		return r.fail(runtime.Denied, "only a tmpfs has a size")
	}
	return nil
}

// longestPath is what stays of PATH_MAX (4096 with the ending NUL, path_resolution(7)) for a place inside while it is being made below
// a prefix such as bubblewrap's "/newroot".
const longestPath = 4096 - 1 - 64

// badPath says what is wrong with a path; empty for nothing.
func badPath(path string) string {
	switch {
	case path == "":
		return "is empty"
	case strings.IndexByte(path, 0) >= 0:
		return "holds a NUL"
	case path[0] != '/':
		return "is relative"
	case len(path) > longestPath:
		return fmt.Sprintf("has %d bytes, more than %d", len(path), longestPath)
	}
	for rest := path; rest != ""; {
		var part string
		part, rest, _ = strings.Cut(rest, "/")
		if part == ".." {
			return `contains ".."`
		}
	}
	return ""
}
