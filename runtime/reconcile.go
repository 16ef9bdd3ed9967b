package runtime

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"
)

// ReconcileOptions say how far a reconcile goes.
type ReconcileOptions struct {
	// DryRun reports what would be removed and touches nothing.
	DryRun bool
}

// ReconcileReport is what a reconcile found and did.
type ReconcileReport struct {
	Owner string `json:"owner"`
	// Runs are this owner's dead runs of this backend, each with what was done.
	Runs []Reconciled `json:"runs"`
	// Live counts this owner's runs whose controller holds their lock; they are left alone.
	Live int `json:"live"`
	// Foreign counts resources on the same engine that carry another owner's identity, or none that can be read; they are left alone.
	Foreign int `json:"foreign"`
	// Bad lists records that could not be read; they are kept aside and nothing of them is touched.
	Bad []BadRecord `json:"bad,omitempty"`
	// OtherBackends counts dead runs of other backends, which this driver cannot judge.
	OtherBackends int `json:"other_backends"`
}

// Reconciled is one dead run.
type Reconciled struct {
	Run     RunName `json:"run"`
	Backend string  `json:"backend"`
	// Step is the last one the controller began.
	Step    Step    `json:"step"`
	Charged bool    `json:"charged"`
	Outcome Outcome `json:"outcome"`
	Code    int     `json:"code"`
	// Removed is true where everything is confirmed gone.
	Removed  bool      `json:"removed"`
	Teardown *Teardown `json:"teardown,omitempty"`
	Failure  *Failure  `json:"failure,omitempty"`
	Labels   []Label   `json:"labels,omitempty"`
}

// BadRecord is a record that cannot be read.
type BadRecord struct {
	Path  string `json:"path"`
	Error string `json:"error"`
}

// Reconcile is step 9: after a crash it finds and removes what this owner's dead runs left, and nothing else's. A resource is touched only
// if its owner matches exactly and the run's lock is free. It is idempotent, and safe beside other controllers that reconcile or
// launch with the same state directory. The error is for what kept it from looking; what could not be removed is in the report.
func (s *Sandbox) Reconcile(ctx context.Context, o ReconcileOptions) (*ReconcileReport, error) {
	b := s.backend
	if s.mode == Disabled {
		b = s.unsandboxed
	}
	if s.journal == nil {
		return nil, s.failed(b, nil, StepReconcile, Fail(Denied, "there is no journal to reconcile from").WithCure("pass WithJournal, or sbxctl --state DIR"))
	}
	rep := &ReconcileReport{Owner: s.journal.Owner()}
	var dead []Record
	known := map[string]bool{}
	err := s.journal.List(ctx, func(rec Record, live bool) error {
		known[rec.Run.ID] = true
		switch {
		case live:
			rep.Live++
		case rec.Backend != b.Describe().Name:
			rep.OtherBackends++
		default:
			dead = append(dead, rec)
		}
		return ctx.Err()
	}, func(path string, err error) {
		rep.Bad = append(rep.Bad, BadRecord{path, err.Error()})
	})
	if err != nil {
		return rep, s.failed(b, nil, StepReconcile, err)
	}
	for _, rec := range dead {
		done, err := s.reconcileRun(ctx, b, rec, o.DryRun)
		switch {
		case err == nil:
			rep.Runs = append(rep.Runs, done)
		case errors.Is(err, ErrBusy):
			rep.Live++
		}
	}
	if err := s.reconcileStray(ctx, b, rep, known, o.DryRun); err != nil {
		return rep, err
	}
	slices.SortFunc(rep.Runs, func(a, b Reconciled) int { return strings.Compare(a.Run.ID, b.Run.ID) })
	return rep, nil
}

// reconcileRun settles one dead run under its lock. The error is ErrBusy where somebody else is at it, and fs.ErrNotExist where somebody
// else has settled it meanwhile.
func (s *Sandbox) reconcileRun(ctx context.Context, b Backend, rec Record, dry bool) (Reconciled, error) {
	if dry {
		return s.judged(ctx, b, rec, nil), nil
	}
	entry, err := s.journal.Take(ctx, rec.Run.ID)
	if errors.Is(err, ErrBusy) || errors.Is(err, fs.ErrNotExist) {
		return Reconciled{}, err
	}
	if err != nil {
		d := s.judged(ctx, b, rec, nil)
		d.Failure = s.failed(b, nil, StepReconcile, err)
		return d, nil
	}
	rec = entry.Record()
	token := rec.Token
	token.Unfinished = !rec.Done && (rec.Step == StepPrepare || rec.Step == StepStage)
	res, err := b.Reopen(ctx, token)
	d := s.judged(ctx, b, rec, res)
	if err == nil {
		// The outcome is written before what it was read from is removed, so that a crash in between loses nothing.
		rec.Outcome, rec.Code, rec.Updated = d.Outcome, d.Code, time.Now().UnixNano()
		if err = entry.Update(rec, true); err == nil {
			call, cancel := detached(ctx, s.remove)
			if err = res.Kill(call); err == nil {
				d.Teardown, err = res.Remove(call)
			}
			cancel()
		}
	}
	if err != nil {
		d.Failure = s.failed(b, nil, StepReconcile, err)
		if e := entry.Close(); e != nil {
			d.Failure.Err = errors.Join(d.Failure.Err, e)
		}
		return d, nil
	}
	if err := entry.Remove(); err != nil {
		err = errors.Join(err, entry.Close())
		d.Failure = s.failed(b, nil, StepReconcile, fmt.Errorf("removing the run's record: %w", err))
		return d, nil
	}
	d.Removed = true
	return d, nil
}

// judged says truthfully how a dead run ended: what its record or its engine witnessed, never-ran where its command cannot have started,
// and otherwise uncertain.
func (s *Sandbox) judged(ctx context.Context, b Backend, rec Record, res Resources) Reconciled {
	d := Reconciled{Run: rec.Run, Backend: rec.Backend, Step: rec.Step, Charged: rec.Charged, Outcome: rec.Outcome, Code: rec.Code, Labels: rec.Labels}
	if d.Outcome != "" {
		return d
	}
	d.Code = -1
	switch rec.Step {
	case StepPrepare, StepStage, StepCharge:
		d.Outcome = NeverRan
		return d
	}
	d.Outcome = UncertainOutcome
	if w, ok := res.(Witness); ok {
		call, cancel := detached(ctx, rungCall)
		defer cancel()
		x, err := w.Witnessed(call)
		switch {
		case err != nil || x == nil:
		case !x.Ran:
			d.Outcome = NeverRan
		case x.OOM:
			d.Outcome = OutOfMemory
		case x.Signal != 0:
			d.Outcome = Signaled
		default:
			d.Outcome, d.Code = Exited, x.Code
		}
	}
	return d
}

// reconcileStray removes what carries this owner's identity on an engine and has no record: a record is always written first, so
// only a record lost by hand can leave one. A run whose record is bad is left alone.
func (s *Sandbox) reconcileStray(ctx context.Context, b Backend, rep *ReconcileReport, known map[string]bool, dry bool) error {
	finder, ok := b.(Reconciler)
	if !ok {
		return nil
	}
	found, foreign, err := finder.Find(ctx, rep.Owner)
	rep.Foreign = foreign
	if err != nil {
		return s.failed(b, nil, StepReconcile, err)
	}
	for _, t := range found {
		if known[t.Run.ID] || t.Run.Owner != rep.Owner || len(rep.Bad) > 0 {
			continue
		}
		// A run that began after the listing has a record by now, and a lock.
		if entry, err := s.journal.Take(ctx, t.Run.ID); err == nil {
			if err := entry.Close(); err != nil {
				return s.failed(b, nil, StepReconcile, err)
			}
			continue
		} else if errors.Is(err, ErrBusy) {
			continue
		}
		d := Reconciled{Run: t.Run, Backend: t.Backend, Step: StepPrepare, Outcome: UncertainOutcome, Code: -1}
		if !dry {
			call, cancel := detached(ctx, s.remove)
			res, err := b.Reopen(call, t)
			if err == nil {
				d.Teardown, err = res.Remove(call)
			}
			cancel()
			if d.Removed = err == nil; err != nil {
				d.Failure = s.failed(b, nil, StepReconcile, err)
			}
		}
		rep.Runs = append(rep.Runs, d)
	}
	return nil
}
