package journal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sbxkit/sbxkit/runtime"
)

// listed is how many names of runs are held at a time.
const listed = 256

// List calls f for each run, in no order; live says whether its lock is held. What is not a whole record of this version is passed to bad
// with its path, and is not touched. Runs that come and go meanwhile may or may not be seen. f and bad may use the journal; an error of f
// ends the listing and is returned as it is.
//
// A directory that holds no record and nobody's lock is a run that its controller did not live to begin: nothing of it exists, and it is
// removed.
func (j *Journal) List(ctx context.Context, f func(r runtime.Record, live bool) error, bad func(path string, err error)) error {
	if err := private(j.runs()); err != nil {
		return setup(err, "listing the runs of state directory %q", j.dir)
	}
	d, err := os.Open(j.runs())
	if err != nil {
		return setup(err, "listing the runs of state directory %q", j.dir)
	}
	defer d.Close()
	for {
		list, err := d.ReadDir(listed)
		for _, de := range list {
			if ctx.Err() != nil {
				return fmt.Errorf("listing the runs of state directory %q: %w", j.dir, context.Cause(ctx))
			}
			r, live, err := j.look(ctx, de)
			switch {
			case err == nil:
				if err := f(r, live); err != nil {
					return err
				}
			case !errors.Is(err, fs.ErrNotExist):
				bad(j.unread(de.Name(), err))
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return setup(err, "listing the runs of state directory %q", j.dir)
		}
	}
}

// unread gives what is said of a run whose record cannot be read: where it is, why, and what a person can do.
func (j *Journal) unread(name string, err error) (string, error) {
	path := filepath.Join(j.runs(), name)
	f := setup(err, "the record of run %q is left alone", name).At(runtime.StepReconcile)
	if f.Cure == "" {
		f.Cure = "look at it, settle what the run left by hand, and then: rm -r -- " + runtime.ShellQuote(path)
	}
	return path, f
}

// look reads one run; fs.ErrNotExist where there is none, or none any more.
func (j *Journal) look(ctx context.Context, de fs.DirEntry) (r runtime.Record, live bool, err error) {
	id := de.Name()
	if !de.IsDir() || !runID.MatchString(id) {
		return r, false, fmt.Errorf("%w: it is not the directory of a run", ErrCorrupt)
	}
	dir := j.RunDir(id)
	if err := private(dir); err != nil {
		return r, false, err
	}
	r, err = j.read(id)
	if errors.Is(err, fs.ErrNotExist) {
		return r, false, j.sweep(ctx, dir)
	}
	if err != nil {
		return r, false, err
	}
	live, err = held(dir)
	if errors.Is(err, errGone) {
		// With its directory it was removed meanwhile; alone it was taken away by something else.
		if _, err := os.Lstat(filepath.Join(dir, recordName)); err == nil {
			return r, false, fmt.Errorf("%w: it has no lock file", ErrCorrupt)
		}
	}
	return r, live, err
}

// sweep removes the directory of a run that was never begun. fs.ErrNotExist says that there is no run.
func (j *Journal) sweep(ctx context.Context, dir string) error {
	l, err := takeLock(ctx, dir, true)
	if errors.Is(err, runtime.ErrBusy) {
		return fs.ErrNotExist // it is being begun, or removed
	}
	if err != nil {
		return err
	}
	defer l.Close()
	list, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, d := range list {
		switch name := d.Name(); {
		case name == recordName:
			return fs.ErrNotExist // begun meanwhile, and ended: the next listing finds it
		case name != lockName && !unfinished(name):
			return fmt.Errorf("%w: it has no record, and holds %q", ErrCorrupt, name)
		}
	}
	for _, d := range list {
		if d.Name() != lockName {
			if err := os.Remove(filepath.Join(dir, d.Name())); err != nil {
				return err
			}
		}
	}
	if !unlinkHeld {
		if err := l.Close(); err != nil {
			return err
		}
	}
	err = os.Remove(filepath.Join(dir, lockName))
	if err == nil {
		err = os.Remove(dir)
	}
	if errors.Is(err, fs.ErrExist) { // ENOTEMPTY is one: its controller came back for it
		err = nil
	}
	return cmp.Or(err, fs.ErrNotExist)
}
