package mounts

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/sbxkit/sbxkit/runtime"
)

// findSources resolves the sources on the host and drops the optional ones that are not there.
func (p *planner) findSources() error {
	return p.live(func(r *request) error {
		if !r.fromHost() {
			return nil
		}
		if !p.host.looks() {
			if r.m.Optional {
				return r.fail(runtime.Unsupported, "whether its source exists cannot be seen from here").
					WithCure("ask for it only where the source is known to exist, and not as optional")
			}
			r.source = clean(r.m.Source)
			return nil
		}
		real, e, err := p.host.real(r.m.Source)
		if err != nil {
			return p.noSource(r, err)
		}
		if pid, ok := processPath(real); ok && !strings.HasPrefix(clean(r.m.Source), pid) {
			return r.fail(runtime.Denied, "its source is %q of this very process, and another process mounts it", real)
		}
		r.source, r.mode = real, e.mode
		if own := p.host.lstat(p.ownName(r.m.Source)); own.err == nil {
			r.link = own.link
		}
		return r.checkType()
	})
}

// ownName gives the path of a source's last part with only the parts before it resolved: where a link is a link.
func (p *planner) ownName(source string) string {
	source = clean(source)
	if source == "/" {
		return "/"
	}
	dir, _, err := p.host.real(parent(source))
	if err != nil {
		return source
	}
	return rebase(source, parent(source), dir)
}

func (p *planner) noSource(r *request, err error) error {
	if !absent(err) {
		return r.fail(runtime.Setup, "looking at its source: %w", err)
	}
	if r.m.Optional {
		p.drop(r, fmt.Sprintf("its source does not exist: %v", err))
		return nil
	}
	return r.fail(runtime.Setup, "its source does not exist: %w", err).WithCure("create %q, or leave the mount out", clean(r.m.Source))
}

func (r *request) checkType() error {
	switch t := r.mode.Type(); r.kind {
	case runtime.MountSocket:
		if t != fs.ModeSocket {
			return r.fail(runtime.Setup, "its source is not a unix socket")
		}
	case runtime.MountDevice:
		if t&fs.ModeDevice == 0 && !(t.IsDir() && within(r.source, "/dev")) {
			return r.fail(runtime.Setup, "its source is neither a device nor a directory of /dev")
		}
	default:
		if t.IsRegular() || t.IsDir() || t == fs.ModeSocket || t&fs.ModeDevice != 0 || t == fs.ModeNamedPipe {
			return nil
		}
		return r.fail(runtime.Setup, "its source is of a type that cannot be mounted (%v)", t)
	}
	return nil
}

// processPath finds /proc/<pid> at the head of a path.
func processPath(path string) (string, bool) {
	rest, ok := strings.CutPrefix(path, "/proc/")
	if !ok {
		return "", false
	}
	pid, _, _ := strings.Cut(rest, "/")
	if pid == "" || strings.Trim(pid, "0123456789") != "" {
		return "", false
	}
	return "/proc/" + pid, true
}
