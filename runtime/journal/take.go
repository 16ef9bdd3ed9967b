package journal

import (
	"context"
	"fmt"
	"io/fs"
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
	e := &entry{j: j, id: id, lock: l}
	if e.record, err = j.read(id); err != nil {
		if e := e.Close(); e != nil {
			return fail(e)
		}
		return fail(err)
	}
	return e, nil
}

// read gives the record of a run, as it stands at this instant.
func (j *Journal) read(id string) (runtime.Record, error) {
	b, err := readSmall(filepath.Join(j.RunDir(id), recordName), recordBytes)
	if err != nil {
		return runtime.Record{}, err
	}
	r, err := decode(b)
	if err != nil {
		return runtime.Record{}, err
	}
	if r.Run.ID != id {
		return runtime.Record{}, fmt.Errorf("%w: it is of run %q", ErrCorrupt, r.Run.ID)
	}
	if err := j.fits(r); err != nil {
		return runtime.Record{}, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return j.placed(r), nil
}
