package stage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/sbxkit/sbxkit/runtime"
)

// Stager makes snapshots of workspaces: a runtime.Stager. Safe for concurrent use.
type Stager struct{}

var _ runtime.Stager = (*Stager)(nil)

// New makes a Stager.
func New() *Stager { return &Stager{} }

// Snapshot copies w.Source, or the tree w.Treeish of the git repository there, to dir, which does not exist yet; its parent does. What is copied
// are directories, regular files with their permission bits, and symbolic links that stay in the tree. A repository's own state (every
// entry named .git) is left out, and so are submodules of a tree; the note says so.
//
// It is bounded by w.Files entries and w.Bytes of content (zero: this package's defaults) and by ctx. The tree is written beside dir and
// renamed when it is whole; on error nothing is left at dir nor beside it, or the Failure says what. Errors are Denied for what the tree holds
// and Setup for everything else, of step Stage.
func (*Stager) Snapshot(ctx context.Context, w runtime.Workspace, dir string) (note string, err error) {
	note, err = snapshot(ctx, w, dir)
	if err != nil {
		what := fmt.Sprintf("copying the workspace %q", w.Source)
		if w.Treeish != "" {
			what = fmt.Sprintf("copying %q of the repository %q", w.Treeish, w.Source)
		}
		return "", stageFailure(err, what)
	}
	return note, nil
}

func stageFailure(err error, what string) error {
	var left *leftError
	f := failure(runtime.StepStage, "workspace.copy", err, "%s", what).(*runtime.Failure)
	if errors.As(err, &left) {
		f.Kind = runtime.Uncertain
		f.Left = []runtime.Leftover{{What: "directory", Name: left.dir, Settle: "rm -r -- " + runtime.ShellQuote(left.dir)}}
	}
	return f
}

// leftError says that a partial snapshot could not be removed.
type leftError struct {
	dir string
	err error
}

func (e *leftError) Error() string {
	return fmt.Sprintf("a partial copy is left at %q: %v", e.dir, e.err)
}
func (e *leftError) Unwrap() error { return e.err }

func snapshot(ctx context.Context, w runtime.Workspace, dir string) (note string, err error) {
	if _, err := os.Lstat(dir); err == nil {
		return "", fmt.Errorf("%q: %w", dir, fs.ErrExist)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	partial, err := os.MkdirTemp(filepath.Dir(dir), filepath.Base(dir)+".partial-")
	if err != nil {
		return "", err
	}
	defer func() {
		if err == nil {
			return
		}
		if rerr := os.RemoveAll(partial); rerr != nil {
			err = errors.Join(err, &leftError{partial, rerr})
		}
	}()
	root, err := os.OpenRoot(partial)
	if err != nil {
		return "", err
	}
	s := newSink(root, newBounds(w.Files, w.Bytes, 0), false)
	var left []string
	if w.Treeish != "" {
		left, err = copyTreeish(ctx, s, w.Source, w.Treeish)
	} else {
		left, err = copyDirectory(ctx, s, w.Source)
	}
	if err == nil {
		err = s.finish()
	}
	if closed := root.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return "", err
	}
	if err := os.Chmod(partial, 0o755); err != nil {
		return "", err
	}
	if err := os.Rename(partial, dir); err != nil {
		return "", err
	}
	note = fmt.Sprintf("%d entries with %d bytes copied", s.bounds.haveFiles, s.bounds.haveBytes)
	if len(left) > 0 {
		note += "; left out: " + strings.Join(left, ", ")
	}
	return note, nil
}

// mostLeft bounds how many left-out entries a note names.
const mostLeft = 8

// leave adds an entry to those a note names.
func leave(left []string, what string) []string {
	switch {
	case len(left) < mostLeft:
		return append(left, what)
	case len(left) == mostLeft:
		return append(left, "and more")
	}
	return left
}

// repositoryState reports whether a name is that of a repository's own state; file systems that ignore case or drop trailing dots and spaces
// would take variants for it.
func repositoryState(name string) bool {
	return strings.EqualFold(strings.TrimRight(name, ". "), ".git")
}
