package runtime

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Launch walks steps 1 to 4 and returns the living run. ctx bounds these steps, not the run: once Launch has returned, only the
// run's own timeouts, Stop and Kill end it. On error nothing runs and nothing is left, or the Failure says what is.
//
// The run goes on by itself through steps 5 to 8 whether or not anybody waits for it.
func (s *Sandbox) Launch(ctx context.Context, l Launch) (*Run, error) {
	r, res := s.walk(ctx, &l)
	if res != nil {
		return nil, res.Err()
	}
	return r, nil
}

// Run launches, waits and gives the Result. When ctx ends the run is stopped by the ladder, and its outcome is Canceled. The Result is
// never nil; the error is its Failure, nil where the command's end was witnessed and every later step did its work, whatever the
// exit status.
func (s *Sandbox) Run(ctx context.Context, l Launch) (*Result, error) {
	r, res := s.walk(ctx, &l)
	if res == nil {
		stop := context.AfterFunc(ctx, func() { r.request(stopRequest{outcome: Canceled, why: "context: " + context.Cause(ctx).Error()}) })
		<-r.ended
		stop()
		res = r.result
	}
	if res.Failure != nil {
		return res, res.Failure
	}
	return res, nil
}

// walk takes a launch through steps 1 to 4. Exactly one of its results is not nil: a living run, or the Result of one that ended
// before it was ready.
func (s *Sandbox) walk(ctx context.Context, l *Launch) (*Run, *Result) {
	r := &Run{s: s, ended: make(chan struct{}), started: make(chan struct{}), stopping: make(chan stopRequest, 8)}
	if err := s.enter(); err != nil {
		return nil, r.refused(AsFailure(err, Denied))
	}
	living := false
	defer func() {
		if !living {
			s.running.Done()
		}
	}()
	r.name = s.runName()
	r.facts.RunID, r.facts.Owner = r.name.ID, r.name.Owner

	var c choice
	if f := r.step(StepProbe, func() (state, note string, err error) {
		c, err = s.choose(ctx, l)
		r.backend, r.identity = c.backend, c.identity
		if err != nil {
			return "", "", err
		}
		r.facts.Identity = *c.identity
		r.facts.Unsandboxed, r.facts.UnsandboxedReason = c.unsandboxed != "", c.unsandboxed
		return StateDone, c.identity.String(), nil
	}); f != nil {
		return nil, r.refused(f)
	}
	if f := r.step(StepPlan, func() (state, note string, err error) {
		r.plan, err = s.plan(ctx, c, l, r.name, PullAlways)
		if err != nil {
			return "", "", err
		}
		r.digest = sync.OnceValue(r.plan.Digest)
		r.facts.Image = r.plan.Image
		r.facts.Dropped, r.facts.Because = r.plan.Dropped, r.plan.Request.Because
		return StateDone, "", nil
	}); f != nil {
		return nil, r.refused(f)
	}
	r.setToken(r.plan.Token)
	go r.digest() // while the rest goes on; whoever needs it waits for it

	startCtx, cancel := ctx, context.CancelFunc(func() {})
	if d := r.plan.Request.Timeouts.Start; d > 0 {
		startCtx, cancel = context.WithTimeoutCause(ctx, d, errNotReady)
	}
	defer cancel()

	// From here on something may exist: whatever goes wrong, also a panic of the charge callback, the run is removed.
	defer func() {
		if !living && r.result == nil {
			r.remove()
		}
	}()
	for _, st := range []struct {
		step Step
		do   func() (string, string, error)
	}{
		{StepPrepare, func() (string, string, error) { return r.open(startCtx, l) }},
		{StepStage, func() (string, string, error) { return r.stage(startCtx) }},
		{StepCharge, func() (string, string, error) { return r.charge(ctx, l.Charge) }},
		{StepStart, func() (string, string, error) { return r.start(startCtx, l) }},
	} {
		if f := r.step(st.step, st.do); f != nil {
			return nil, r.neverRan(ctx, startCtx, f)
		}
	}
	living = true
	go r.supervise(l)
	if y := r.plan.Request.Ready; y != nil {
		if err := r.awaitReady(startCtx, y); err != nil {
			return nil, r.notReady(ctx, err)
		}
	} else if errors.Is(context.Cause(startCtx), errNotReady) {
		// A backend that cannot take its start back has come to the end of it, too late.
		return nil, r.notReady(ctx, context.Cause(startCtx))
	}
	return r, nil
}

// open makes the journal's record and prepares the resources.
func (r *Run) open(ctx context.Context, l *Launch) (state, note string, err error) {
	if r.s.journal != nil {
		rec := Record{Version: RecordVersion, Run: r.name, Backend: r.backend.Describe().Name, Step: StepPrepare, Token: r.token,
			PlanDigest: r.planDigest(), BootID: bootID(), Created: time.Now().UnixNano(), Updated: time.Now().UnixNano()}
		for k, v := range l.Labels {
			rec.Labels = append(rec.Labels, Label{k, v})
		}
		if r.entry, err = r.s.journal.Create(ctx, rec); err != nil {
			return "", "", err
		}
		r.rec = rec
		if outlivesReboot(r.backend) {
			// The record must be found after a power failure wherever the resource is.
			if err := r.entry.Update(rec, true); err != nil {
				return "", "", err
			}
		}
	}
	return r.prepare(ctx)
}

// refused is the result of a launch that ended before anything could exist.
func (r *Run) refused(f *Failure) *Result {
	r.result = &Result{Outcome: NeverRan, Code: -1, Failure: f, Facts: r.facts}
	r.event(Event{Step: f.Step, State: StateDone, Note: "ended", Result: r.result})
	return r.result
}

// neverRan removes what was made and gives the result of a launch that failed before its command ran.
func (r *Run) neverRan(ctx, startCtx context.Context, f *Failure) *Result {
	res := &Result{Outcome: NeverRan, Code: -1, Failure: f}
	switch {
	case ctx.Err() != nil:
		res.Outcome = Canceled
		res.Evidence.Cause = "context: " + context.Cause(ctx).Error()
	case startCtx.Err() != nil:
		res.Outcome, res.Timeout = TimedOut, TimeoutStart
		res.Evidence.Cause = fmt.Sprintf("not started within %v", r.plan.Request.Timeouts.Start)
		if !errors.Is(f, context.DeadlineExceeded) {
			f.Err = errors.Join(f.Err, context.DeadlineExceeded)
		}
	}
	if f.Kind == Uncertain {
		res.Outcome = UncertainOutcome
	}
	r.finish(res)
	return res
}

// notReady stops a run that did not get ready and gives its result, which is never a success.
func (r *Run) notReady(ctx context.Context, err error) *Result {
	switch {
	case errors.Is(err, errEndedEarly):
	case ctx.Err() != nil:
		r.request(stopRequest{outcome: Canceled, why: "context: " + context.Cause(ctx).Error()})
	default:
		r.request(stopRequest{outcome: TimedOut, timeout: TimeoutStart, why: err.Error()})
	}
	<-r.ended
	if r.result.Failure == nil {
		kind := Setup
		if errors.Is(err, errEndedEarly) {
			kind = Command
		}
		r.result.Failure = r.s.failed(r.backend, r.identity, StepStart, Fail(kind, "not ready: %w", err))
		r.result.Failure.Charged = true
	}
	return r.result
}

// step runs one step, times it, records it and tells the observer. Its error comes back as a Failure of that step.
func (r *Run) step(step Step, do func() (state, note string, err error)) *Failure {
	r.event(Event{Step: step})
	var f *Failure
	// A record that cannot be written refuses what has not begun; it never keeps what has begun from being ended and removed.
	if err := r.record(step, false); err != nil && step.refusable() {
		f = r.s.failed(r.backend, r.identity, step, err)
	}
	began := time.Now()
	fact := StepFact{Step: step}
	if f == nil {
		state, note, err := do()
		fact.State, fact.Note = state, note
		if err != nil {
			f = r.s.failed(r.failing(), r.identity, step, err)
		}
	}
	fact.Duration = time.Since(began)
	if f != nil {
		f.Charged = r.charged
		switch {
		case f.Kind == Uncertain:
			fact.State = StateUncertain
		case f.Kind == Setup || f.Kind == Command:
			fact.State = StateFailed
		default:
			fact.State = StateRefused
		}
		fact.Note = f.Message
	}
	r.mu.Lock()
	r.facts.Steps = append(r.facts.Steps, fact)
	r.facts.Charged = r.charged
	r.mu.Unlock()
	if f == nil {
		if err := r.record(step, true); err != nil && step.refusable() && !r.charged {
			f = r.s.failed(r.backend, r.identity, step, err)
		}
	}
	r.event(Event{Step: step, State: fact.State, Note: fact.Note, Duration: fact.Duration, Failure: f})
	return f
}

// refusable reports whether a launch can still be refused at this step with nothing started.
func (s Step) refusable() bool {
	return s == StepPrepare || s == StepStage || s == StepCharge || s == StepStart
}

// failing is the backend a failure is about, also before one was chosen.
func (r *Run) failing() Backend {
	if r.backend != nil {
		return r.backend
	}
	return r.s.backend
}

// planDigest is empty before there is a plan.
func (r *Run) planDigest() string {
	if r.digest == nil {
		return ""
	}
	return r.digest()
}

func (r *Run) event(e Event) {
	if r.s.observer == nil {
		return
	}
	e.Time, e.RunID, e.PlanDigest = time.Now(), r.name.ID, r.planDigest()
	if b := r.failing(); b != nil {
		e.Backend = b.Describe().Name
	}
	r.s.observer.Event(e)
}
