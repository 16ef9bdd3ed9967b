package engine

import (
	"context"
	"errors"
	"io/fs"
	"os/exec"
	"path"
	"strings"

	cerrdefs "github.com/containerd/errdefs"

	"github.com/sbxkit/sbxkit/runtime"
)

// Whether a command is there, and can be executed, is looked up in the created container before it is started. An engine's own answer
// cannot tell it: Docker 20.10 answers a start with 400 and an exit status of 127 or 126, also for mounts that do not fit; Podman 4.3
// answers 500 for everything; and with an init as process 1 both start well, and the init exits with 127 or 126 (tini) or 1 (catatonit),
// which the command itself could have done (all measured).

// defaultPath is the search path an engine gives a container whose image sets none (moby, oci/defaults; containers/common).
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// maxLinks bounds the symbolic links followed at the end of a path, as the kernel does (path_resolution(7)).
const maxLinks = 40

// missing says why a command cannot run; nil where it can, or where that cannot be known before the start.
type missing struct {
	name string
	err  error // exec.ErrNotFound or fs.ErrPermission
}

// lookCommand looks for the command as execvp does: a name with a slash from the working directory, another along PATH.
func lookCommand(ctx context.Context, l link, container, name, dir, searchPath string, hidden func(string) bool) (*missing, error) {
	if strings.Contains(name, "/") {
		if !path.IsAbs(name) {
			name = path.Join("/", dir, name)
		}
		ok, err := executable(ctx, l, container, name, hidden)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return &missing{name, exec.ErrNotFound}, nil
		case err != nil:
			return nil, err
		case !ok:
			return &missing{name, fs.ErrPermission}, nil
		}
		return nil, nil
	}
	if searchPath == "" {
		searchPath = defaultPath
	}
	seen := false
	for d := range strings.SplitSeq(searchPath, ":") {
		if d == "" {
			d = "."
		}
		if !path.IsAbs(d) {
			d = path.Join("/", dir, d)
		}
		p := path.Join(d, name)
		ok, err := executable(ctx, l, container, p, hidden)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, err
		case ok:
			return nil, nil
		default:
			seen = true
		}
	}
	if seen {
		return &missing{name, fs.ErrPermission}, nil
	}
	return &missing{name, exec.ErrNotFound}, nil
}

// executable reports whether a path inside is a regular file that somebody may execute, or one that cannot be looked at.
func executable(ctx context.Context, l link, container, p string, hidden func(string) bool) (bool, error) {
	for range maxLinks {
		if hidden(p) {
			return true, nil
		}
		s, err := l.stat(ctx, container, p)
		if cerrdefs.IsNotFound(err) {
			return false, fs.ErrNotExist
		}
		if err != nil {
			return false, err
		}
		if s.Mode&fs.ModeSymlink == 0 {
			return s.Mode.IsRegular() && s.Mode.Perm()&0o111 != 0, nil
		}
		// Both engines give the target with every link in it resolved, as an absolute path inside.
		if s.LinkTarget == "" || s.LinkTarget == p {
			return false, fs.ErrNotExist
		}
		if !path.IsAbs(s.LinkTarget) {
			p = path.Join(path.Dir(p), s.LinkTarget)
		} else {
			p = s.LinkTarget
		}
	}
	return false, fs.ErrNotExist
}

// command makes the Failure of a command that cannot run.
func (m *missing) failure() *runtime.Failure {
	if errors.Is(m.err, exec.ErrNotFound) {
		return runtime.Fail(runtime.Command, "the command %q is not in the image: %w", m.name, m.err).About("command").
			WithCure("name one that is there, or use an image that has it")
	}
	return runtime.Fail(runtime.Command, "the command %q cannot be executed: %w", m.name, m.err).About("command").
		WithCure("make it a regular file with execute permission in the image")
}

// hiddenBy gives the test for paths that cannot be looked at before the start, since what stands there is made by it. Bound directories
// and volumes are seen: both engines' archives go through them. A bound file is not by Podman's (measured, 4.3.1).
func hiddenBy(mounts []runtime.Mount) func(string) bool {
	return func(p string) bool {
		for _, m := range mounts {
			switch m.Kind {
			case runtime.MountBindRO, runtime.MountBindRW:
				if p == m.Target {
					return true
				}
				continue
			case runtime.MountTmpfs, runtime.MountMaskDir, runtime.MountMaskFile, runtime.MountProc, runtime.MountDev, runtime.MountSymlink:
			default:
				continue
			}
			if p == m.Target || strings.HasPrefix(p, strings.TrimSuffix(m.Target, "/")+"/") {
				return true
			}
		}
		return false
	}
}
