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

// Take takes the lock of a dead run: runtime.ErrBusy where somebody holds it, fs.ErrNotExist where there is no such run, ErrCorrupt or
// ErrNewer where its record cannot be read, which is then left alone.
func (j *Journal) Take(ctx context.Context, id string) (runtime.JournalEntry, error) {
	fail := func(err error) (runtime.JournalEntry, error) {
		return nil, setup(err, "taking over run %q", id).At(runtime.StepReconcile)
	}
	if !runID.MatchString(id) {
		return fail(fmt.Errorf("%q is not the id of a run: %w", id, fs.ErrNotExist))
	}
	dir := j.RunDir(id)
	if err := private(dir); err != nil {
		return fail(err)
	}
	l, err := takeLock(ctx, dir, false)
	if err != nil {
		return fail(err)
	}
	e := &entry{j: j, id: id, lock: l, synced: true}
	if e.record, e.turn, err = j.newest(id, true); err != nil {
		if e := e.Close(); e != nil {
			return fail(e)
		}
		return fail(err)
	}
	return e, nil
}

// read gives the record of a run, as it stands at this instant.
func (j *Journal) read(id string) (runtime.Record, error) {
	r, _, err := j.newest(id, false)
	return r, err
}

// newest gives the record of a run and its turn. Of a record kept on disk there are two files, and after a power failure the names can be
// those of an earlier time, and the file that was being written not whole. With mend the newest has the record's name afterwards. While the
// run's own boot lasts no failure of power has been: a record that is not whole is damaged then, and the one before it is not the run's last.
func (j *Journal) newest(id string, mend bool) (runtime.Record, uint64, error) {
	dir := j.RunDir(id)
	r, turn, err := j.readFile(id, filepath.Join(dir, recordName))
	if err == nil && turn == 0 || err != nil && !errors.Is(err, ErrCorrupt) {
		return r, turn, err
	}
	other, otherTurn, bad := j.readFile(id, filepath.Join(dir, spareName(recordName)))
	if bad != nil || otherTurn <= turn || err != nil && sameBoot(other.BootID) {
		return r, turn, err
	}
	if mend {
		if err := os.Rename(filepath.Join(dir, spareName(recordName)), filepath.Join(dir, recordName)); err != nil {
			return runtime.Record{}, 0, err
		}
	}
	return other, otherTurn, nil
}

// sameBoot reports whether a boot may be this one.
func sameBoot(id string) bool {
	now := runtime.BootID()
	return now == "" || id == "" || now == id
}

func (j *Journal) readFile(id, path string) (runtime.Record, uint64, error) {
	b, err := readSmall(path, recordBytes)
	if err != nil {
		return runtime.Record{}, 0, err
	}
	r, turn, err := decodeTurn(b)
	if err != nil {
		return runtime.Record{}, 0, err
	}
	if r.Run.ID != id {
		return runtime.Record{}, 0, fmt.Errorf("%w: it is of run %q", ErrCorrupt, r.Run.ID)
	}
	if err := j.fits(r); err != nil {
		return runtime.Record{}, 0, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return j.placed(r), turn, nil
}
