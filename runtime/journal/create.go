package journal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/gofrs/flock"
	"github.com/sbxkit/sbxkit/runtime"
)

// Create makes the run's directory, takes its lock and writes its first record. Nothing of the run may exist before. Every error is a
// *runtime.Failure of kind Setup, and leaves nothing.
func (j *Journal) Create(ctx context.Context, r runtime.Record) (runtime.JournalEntry, error) {
	fail := func(err error) (runtime.JournalEntry, error) {
		return nil, setup(err, "keeping a record of run %q in state directory %q", r.Run.ID, j.dir).At(runtime.StepPrepare)
	}
	if err := j.fits(r); err != nil {
		return fail(err)
	}
	data, err := encode(r)
	if err != nil {
		return fail(err)
	}
	dir := j.RunDir(r.Run.ID)
	l, err := j.claim(ctx, dir)
	if err != nil {
		return fail(err)
	}
	e := &entry{j: j, id: r.Run.ID, lock: l, record: j.placed(r)}
	if err = replace(dir, recordName, data, false); err == nil {
		err = reserve(dir, recordName)
	}
	if err != nil {
		if left := e.Remove(); left != nil {
			err = errors.Join(err, left)
		}
		return fail(err)
	}
	return e, nil
}

// claim makes the directory of a run and takes its lock. Whoever lists the journal in between may take a directory without a record for
// one that was never begun, and remove it; then it is made again.
func (j *Journal) claim(ctx context.Context, dir string) (*flock.Flock, error) {
	for attempt := 0; ; attempt++ {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		err := os.Mkdir(dir, dirPerm)
		if err != nil && (attempt == 0 || !errors.Is(err, fs.ErrExist)) {
			return nil, err
		}
		l, err := takeLock(ctx, dir, true)
		switch {
		case err == nil:
			return l, nil
		case attempt < 10 && (errors.Is(err, errGone) || errors.Is(err, runtime.ErrBusy)):
			time.Sleep(time.Duration(attempt) * time.Millisecond)
		default:
			// What was made here is empty but for the lock file; what is not stays, and is found as never begun.
			_ = os.Remove(dir)
			return nil, err
		}
	}
}

// fits says that r is a record of this journal.
func (j *Journal) fits(r runtime.Record) error {
	switch {
	case !runID.MatchString(r.Run.ID):
		return fmt.Errorf("%q is not the id of a run: %w", r.Run.ID, fs.ErrInvalid)
	case r.Run.Owner != j.owner:
		return fmt.Errorf("the run belongs to owner %q, and the state directory is %q's: %w", r.Run.Owner, j.owner, fs.ErrInvalid)
	case r.Token.Run.ID != "" && r.Token.Run.ID != r.Run.ID:
		return fmt.Errorf("the token is of run %q: %w", r.Token.Run.ID, fs.ErrInvalid)
	case r.Backend == "":
		return fmt.Errorf("it names no backend: %w", fs.ErrInvalid)
	case !known(r.Step):
		return fmt.Errorf("%q is not a step: %w", r.Step, fs.ErrInvalid)
	}
	return nil
}

func known(s runtime.Step) bool {
	for _, k := range runtime.Steps() {
		if k == s {
			return true
		}
	}
	return false
}

// placed gives r with the places it has in this state directory.
func (j *Journal) placed(r runtime.Record) runtime.Record {
	r.Version = runtime.RecordVersion
	r.Run.Dir = j.RunDir(r.Run.ID)
	if r.Token.Run.ID != "" {
		r.Token.Run.Dir = r.Run.Dir
	}
	return r
}
