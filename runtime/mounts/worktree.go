package mounts

import (
	"bytes"
	"fmt"
	"path"

	"github.com/sbxkit/sbxkit/runtime"
)

// noteWorktrees says what git needs inside and does not have. In a worktree made by git worktree (and in a submodule) .git is a file
// that names the repository's part of it ("gitdir: PATH"), and commondir there names the repository's common directory
// (gitrepository-layout(5)); both are found inside by the same paths as on the host.
func (p *planner) noteWorktrees() error {
	if !p.host.looks() {
		return nil
	}
	return p.live(func(r *request) error {
		if !r.bind() || !r.mode.IsDir() || quiet(r.source) {
			return nil
		}
		file := path.Join(r.source, ".git")
		if e := p.host.lstat(file); e.err != nil || !e.mode.IsRegular() || p.coverOf(path.Join(r.place, ".git")) != r {
			return nil
		}
		gitdir, ok := p.pathIn(file, "gitdir:")
		if !ok {
			return nil
		}
		if gitdir[0] != '/' {
			gitdir = path.Join(r.place, gitdir)
		}
		need := gitdir
		onHost := path.Join(r.source, gitdir)
		if path.IsAbs(gitdir) {
			onHost = gitdir
		}
		if common, ok := p.pathIn(path.Join(onHost, "commondir"), ""); ok {
			need = common
			if need[0] != '/' {
				need = path.Join(gitdir, common)
			}
		}
		for _, dir := range []string{gitdir, need} {
			if s, err := p.inside(dir, true); err != nil || s.state == missing {
				p.notes = append(p.notes, worktreeNote(r, need))
				return nil
			}
		}
		return nil
	})
}

func worktreeNote(r *request, need string) string {
	return fmt.Sprintf("%s: git does not work inside: it is a worktree of the repository at %q, which is not visible there; add a %s of it"+
		" at the same place to read history (a writable one also lets the command change the repository's hooks and configuration)",
		r, need, runtime.MountBindRO)
}

// pathIn reads the one path of a small file, after a prefix.
func (p *planner) pathIn(file, prefix string) (string, bool) {
	real, e, err := p.host.real(file)
	if err != nil || !e.mode.IsRegular() {
		return "", false
	}
	data, err := p.host.view.ReadFile(real)
	if err != nil {
		return "", false
	}
	data, ok := bytes.CutPrefix(data, []byte(prefix))
	line, _, _ := bytes.Cut(data, []byte("\n"))
	line = bytes.TrimSpace(line)
	if !ok || len(line) == 0 || bytes.IndexByte(line, 0) >= 0 || len(line) > longestPath {
		return "", false
	}
	return string(line), true
}
