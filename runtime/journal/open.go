package journal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sbxkit/sbxkit/runtime"
)

// Open opens the state directory dir, and makes it where it does not exist (its parent must). Several processes may open one at once:
// all of them get the same owner. ctx bounds the waiting for another process that is just making it.
//
// A directory that is a link, that another user owns, or that others can write to is refused: whoever can change a journal can make a
// controller remove what is not its own. Every error is a *runtime.Failure of kind Setup.
func Open(ctx context.Context, dir string) (*Journal, error) {
	j, err := open(ctx, dir, true)
	if err != nil {
		return nil, opening(err, dir)
	}
	return j, nil
}

func opening(err error, dir string) *runtime.Failure {
	f := setup(err, "opening state directory %q", dir)
	if errors.Is(err, fs.ErrNotExist) {
		f.Cure = "make its parent directory first, or pass another path"
	}
	return f
}

// OpenExisting is Open for a command that only looks: it makes nothing. A state directory that does not exist is fs.ErrNotExist.
func OpenExisting(ctx context.Context, dir string) (*Journal, error) {
	j, err := open(ctx, dir, false)
	if err != nil {
		return nil, opening(err, dir)
	}
	return j, nil
}

func open(ctx context.Context, dir string, create bool) (*Journal, error) {
	if dir == "" {
		return nil, errors.New("the path is empty")
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	j := &Journal{dir: abs}
	if create {
		for _, d := range []string{j.dir, j.runs()} {
			if err := os.Mkdir(d, dirPerm); err != nil && !errors.Is(err, fs.ErrExist) {
				return nil, err
			}
			if err := private(d); err != nil {
				return nil, err
			}
		}
	} else if err := errors.Join(private(j.dir), private(j.runs())); err != nil {
		return nil, err
	}
	j.owner, err = j.identity(ctx, create)
	return j, err
}

// private says that path is a directory, no link, of this user, and that nobody else can write to it.
func private(path string) error {
	i, err := os.Lstat(path)
	if err != nil {
		return err
	}
	switch {
	case i.Mode()&fs.ModeSymlink != 0:
		return &unsafeError{path, "it is a symbolic link", "pass the directory it leads to"}
	case !i.IsDir():
		return &unsafeError{path, "it is not a directory", "pass a directory of its own"}
	}
	return ownedAlone(path, i)
}

// unsafeError is a state directory that cannot be trusted.
type unsafeError struct{ path, why, cure string }

func (e *unsafeError) Error() string { return fmt.Sprintf("%q cannot be trusted: %s", e.path, e.why) }

// Is makes it a permission error: the directory is there, and this user must not use it.
func (e *unsafeError) Is(target error) bool { return target == fs.ErrPermission }

// setup makes err a Setup failure with what a person can do about it.
func setup(err error, format string, args ...any) *runtime.Failure {
	f := &runtime.Failure{Kind: runtime.Setup, Message: fmt.Sprintf(format, args...), Err: err}
	var unsafe *unsafeError
	switch {
	case errors.As(err, &unsafe):
		f.Cure = unsafe.cure
	case isFull(err):
		f.Cure = "free some space there, or pass another state directory"
	case isReadOnly(err):
		f.Cure = "pass a state directory on a writable file system"
	case errors.Is(err, fs.ErrPermission):
		f.Cure = "pass a state directory of your own"
	case errors.Is(err, ErrNewer):
		f.Cure = "use the newer version"
	}
	return f
}
