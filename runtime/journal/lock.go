package journal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
	"github.com/sbxkit/sbxkit/runtime"
)

// errGone is a run whose directory or lock is not there, or was removed while its lock was being taken.
var errGone = fmt.Errorf("the run is gone: %w", fs.ErrNotExist)

// probing is how long a lock may be held by somebody who only looks (List) before it counts as held.
const probing = 100 * time.Millisecond

func lockOptions(create bool) []flock.Option {
	flag := os.O_RDWR | guarded
	if create {
		flag |= os.O_CREATE
	}
	return []flock.Option{flock.SetFlag(flag), flock.SetPermissions(filePerm)}
}

// takeLock takes the lock of the run in dir; runtime.ErrBusy where somebody holds it, errGone where there is none.
//
// Whoever removes a run removes its lock file while holding it. So a lock got on a file that is no longer the one at its name is a lock on
// nothing, and the run it was of is gone.
func takeLock(ctx context.Context, dir string, create bool) (*flock.Flock, error) {
	path := filepath.Join(dir, lockName)
	short, cancel := context.WithTimeout(ctx, probing)
	defer cancel()
	l := flock.New(path, lockOptions(create)...)
	locked, err := l.TryLockContext(short, 2*time.Millisecond)
	switch {
	case ctx.Err() != nil:
		return nil, errors.Join(fmt.Errorf("locking %q: %w", path, context.Cause(ctx)), l.Close())
	case errors.Is(err, context.DeadlineExceeded):
		return nil, runtime.ErrBusy
	case errors.Is(err, fs.ErrNotExist):
		return nil, errGone
	case err != nil:
		return nil, fmt.Errorf("locking %q: %w", path, err)
	case !locked:
		return nil, runtime.ErrBusy
	}
	if err := current(l, path); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// current says that the lock file at path is the one that l has open.
func current(l *flock.Flock, path string) error {
	there, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return errGone
	}
	if err != nil {
		return err
	}
	mine, err := l.Stat()
	if err != nil {
		return err
	}
	if !os.SameFile(mine, there) {
		return errGone
	}
	if !there.Mode().IsRegular() {
		return &unsafeError{path, "it is not a regular file", "look at what put it there"}
	}
	return nil
}

// held says whether somebody holds the lock of the run in dir. It takes the lock for an instant, shared, so that those who look do not see
// each other.
func held(dir string) (bool, error) {
	path := filepath.Join(dir, lockName)
	l := flock.New(path, flock.SetFlag(os.O_RDONLY|guarded)) // also on a file system that is read-only
	free, err := l.TryRLock()
	if errors.Is(err, fs.ErrNotExist) {
		return false, errGone
	}
	if err != nil {
		return false, fmt.Errorf("looking at lock %q: %w", path, err)
	}
	if err := l.Close(); err != nil {
		return false, fmt.Errorf("looking at lock %q: %w", path, err)
	}
	return !free, nil
}
