package journal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"github.com/sbxkit/sbxkit/runtime"
)

// entry is a run under its lock. It is safe for concurrent use.
type entry struct {
	j  *Journal
	id string

	mu      sync.Mutex
	lock    *flock.Flock // nil once it was given back
	record  runtime.Record
	turn    uint64 // of the record; 0 while none was kept on disk
	synced  bool   // a record may be on disk that must not be lost
	named   bool   // the names are on disk too: the run's directory, its files
	removed bool
}

var _ runtime.JournalEntry = (*entry)(nil)

// Dir is the run's own directory.
func (e *entry) Dir() string { return e.j.RunDir(e.id) }

// Record is the last one written or read.
func (e *entry) Record() runtime.Record {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.record
}

// Update replaces the record atomically, on disk with sync and ever after. On error the old one stands. After Close or Remove it is
// os.ErrClosed.
func (e *entry) Update(r runtime.Record, sync bool) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	fail := func(err error) error { return setup(err, "updating the record of run %q", e.id) }
	if e.lock == nil {
		return fail(os.ErrClosed)
	}
	if r.Run.ID != e.id {
		return fail(fmt.Errorf("the record is of run %q: %w", r.Run.ID, fs.ErrInvalid))
	}
	if err := e.j.fits(r); err != nil {
		return fail(err)
	}
	// Once a record is on disk each later one is too: of two files that take turns, one is whole at any time.
	sync = sync || e.turn > 0
	turn := e.turn
	if sync {
		turn++
	}
	data, err := encodeTurn(r, turn)
	if err != nil {
		return fail(err)
	}
	named := e.named
	if sync {
		named, err = keep(e.Dir(), recordName, data, e.synced, e.named)
	} else {
		err = replace(e.Dir(), recordName, data, false)
	}
	if err == nil && sync && !e.named {
		err = syncDir(e.j.runs())
	}
	if err != nil {
		return fail(err)
	}
	e.record, e.turn, e.synced, e.named = e.j.placed(r), turn, e.synced || sync, named
	return nil
}

// Close gives the lock back; the record stays for whoever reconciles it. Idempotent.
func (e *entry) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.release()
}

func (e *entry) release() error {
	if e.lock == nil {
		return nil
	}
	l := e.lock
	e.lock = nil
	if err := l.Close(); err != nil {
		return fmt.Errorf("giving back the lock of run %q: %w", e.id, err)
	}
	return nil
}

// Remove deletes everything in the run's directory, then the record, then the directory, and gives the lock back. Idempotent; after an
// error the lock is still held and Remove may be called again. After Close it is os.ErrClosed: the run may be another's by then.
func (e *entry) Remove() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.removed:
		return nil
	case e.lock == nil:
		return fmt.Errorf("removing the record of run %q: %w", e.id, os.ErrClosed)
	}
	if err := clearRun(e.Dir()); err != nil {
		return fmt.Errorf("removing the directory of run %q: %w", e.id, err)
	}
	if !unlinkHeld {
		if err := e.release(); err != nil {
			return err
		}
	}
	if err := removeEmpty(e.Dir()); err != nil {
		return fmt.Errorf("removing the directory of run %q: %w", e.id, err)
	}
	e.removed = true
	return e.release()
}

// clearRun empties a run's directory but for its lock, the record last: a crash in between leaves a run that is still found.
func clearRun(dir string) error {
	list, err := os.ReadDir(dir)
	if err != nil {
		return ignoreAbsent(err)
	}
	for _, d := range list {
		if d.Name() == lockName || d.Name() == recordName {
			continue
		}
		if err := removeAll(filepath.Join(dir, d.Name())); err != nil {
			return err
		}
	}
	return ignoreAbsent(os.Remove(filepath.Join(dir, recordName)))
}

// removeEmpty removes the lock file, which the caller holds, and then the directory, for good. A listing may have made a lock file anew in
// between, to see whether the run was ever begun; then it removes the directory itself, or leaves that to this. Whoever unlinks a lock file
// holds it: an unlinked one keeps nobody out.
func removeEmpty(dir string) error {
	if err := ignoreAbsent(os.Remove(filepath.Join(dir, lockName))); err != nil {
		return err
	}
	for attempt := 0; ; attempt++ {
		err := ignoreAbsent(os.Remove(dir))
		if attempt == 1000 || !errors.Is(err, fs.ErrExist) { // ENOTEMPTY is one
			return err
		}
		l, err := takeLock(context.Background(), dir, false)
		switch {
		case err == nil:
			err = errors.Join(ignoreAbsent(os.Remove(filepath.Join(dir, lockName))), l.Close())
		case errors.Is(err, errGone), errors.Is(err, runtime.ErrBusy):
			err = nil
		}
		if err != nil {
			return err
		}
		time.Sleep(time.Millisecond)
	}
}

func ignoreAbsent(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// removeAll removes a tree, also one in which a command took its owner's permissions away. It follows no link.
func removeAll(path string) error {
	err := os.RemoveAll(path)
	if err == nil || !errors.Is(err, fs.ErrPermission) {
		return err
	}
	// The walk does not enter what it cannot read, so that a directory is made readable before it is entered.
	walked := filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() && err == nil {
			return os.Chmod(p, dirPerm)
		}
		return err
	})
	if walked != nil {
		return errors.Join(err, walked)
	}
	return os.RemoveAll(path)
}

// unfinished is the name of a record that a crash left half-written, and that never became one.
func unfinished(name string) bool { return strings.HasPrefix(name, "."+recordName) }
