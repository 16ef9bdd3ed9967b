package runtime

import (
	"context"
	"errors"
	"time"
)

// finish walks steps 6 to 8 and makes the result final. It is called once a run, on every exit path.
func (r *Run) finish(res *Result) {
	ctx := context.Background()
	var c *Candidate
	if r.s.controller != nil && r.isStarted() && res.Outcome.ran() {
		f := r.step(StepExport, func() (state, note string, err error) {
			c, state, note, err = r.export(ctx, res)
			return state, note, err
		})
		if f == nil && c != nil {
			f = r.step(StepImport, func() (string, string, error) {
				ctx, cancel := context.WithTimeout(ctx, exportTime)
				defer cancel()
				return r.importCandidate(ctx, c)
			})
		}
		if res.Failure == nil {
			res.Failure = f
		}
	} else if r.isStarted() {
		why := "no controller"
		if r.s.controller != nil {
			why = "the command's end was not witnessed"
		}
		for _, s := range []Step{StepExport, StepImport} {
			r.step(s, func() (string, string, error) { return StateNothing, why, nil })
		}
	}
	r.mu.Lock()
	r.rec.Outcome, r.rec.Code = res.Outcome, res.Code
	r.mu.Unlock()
	if f := r.remove(); f != nil {
		if res.Failure == nil {
			res.Failure = f
		} else {
			res.Failure.Left = append(res.Failure.Left, f.Left...)
		}
	}
	r.wipe()
	res.Facts = r.Facts()
	r.mu.Lock()
	r.result = res
	r.mu.Unlock()
	// Whoever waits finds every event delivered.
	r.event(Event{Step: StepRemove, State: StateDone, Note: "ended", Result: res})
	close(r.ended)
}

func (r *Run) isStarted() bool {
	select {
	case <-r.started:
		return true
	default:
		return false
	}
}

// remove is step 8: everything of the run goes, within the driver's own bound, whatever the caller's context says. A launch that failed
// before it had a handle is removed by its token alone.
func (r *Run) remove() *Failure {
	return r.step(StepRemove, func() (state, note string, err error) {
		ctx, cancel := detached(context.Background(), r.s.remove)
		defer cancel()
		t, err := r.removeResources(ctx)
		if err != nil {
			return "", "", r.uncertain(err)
		}
		if r.entry != nil {
			if err := r.entry.Remove(); err != nil {
				// Without the lock a later reconcile can try again.
				err = errors.Join(err, r.entry.Close())
				r.entry = nil
				return "", "", Fail(Uncertain, "removing the run's record: %w", err).WithLeft(Leftover{What: "directory", Name: r.name.Dir, Settle: "rm -r -- " + ShellQuote(r.name.Dir)})
			}
			r.entry = nil
		}
		if t == nil {
			return StateDone, "", nil
		}
		return StateDone, t.How + ": " + t.Evidence, nil
	})
}

// removeResources removes by the handle, or by the token alone where a launch failed before it had one. An engine that takes no notice
// of the context's end cannot hold up the caller: the answer is then not known.
func (r *Run) removeResources(ctx context.Context) (*Teardown, error) {
	type answer struct {
		t   *Teardown
		err error
	}
	done := make(chan answer, 1)
	go func() {
		res := r.res
		if res == nil {
			var err error
			if res, err = r.backend.Reopen(ctx, r.Token()); err != nil {
				done <- answer{nil, err}
				return
			}
		}
		t, err := res.Remove(ctx)
		done <- answer{t, err}
	}()
	var a answer
	select {
	case a = <-done:
	case <-ctx.Done():
		late := time.NewTimer(lateAnswer)
		defer late.Stop()
		select {
		case a = <-done:
		case <-late.C:
			return nil, Fail(Uncertain, "the backend did not answer the removal within %v", r.s.remove+lateAnswer)
		}
	}
	if a.t != nil {
		r.mu.Lock()
		r.facts.Teardown = a.t
		r.mu.Unlock()
	}
	return a.t, a.err
}

// lateAnswer is how long after the end of its context a call may still answer.
const lateAnswer = 2 * time.Second

// uncertain makes a failed cleanup say what is left, and gives the lock back so that a reconcile can settle it.
func (r *Run) uncertain(err error) error {
	f := AsFailure(err, Uncertain)
	if f.Kind != Uncertain {
		f = Fail(Uncertain, "the cleanup could not be confirmed: %w", err)
	}
	if len(f.Left) == 0 {
		f.Left = []Leftover{r.leftover()}
	}
	if r.entry != nil {
		r.mu.Lock()
		r.rec.Updated = time.Now().UnixNano()
		rec := r.rec
		r.mu.Unlock()
		if e := r.entry.Update(rec, true); e != nil {
			f.Left = append(f.Left, Leftover{What: "file", Name: r.name.Dir, Settle: "ls -la -- " + ShellQuote(r.name.Dir)})
		}
		if e := r.entry.Close(); e != nil {
			f.Err = e
		}
		r.entry = nil
	}
	return f
}

// wipe zeroes the driver's copies of credentials.
func (r *Run) wipe() {
	for _, c := range r.plan.Request.Credentials {
		clear(c.Value)
	}
}
