package runtime

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// stopRequest is why a run is stopped. The first one of a run decides its outcome.
type stopRequest struct {
	outcome Outcome
	timeout string
	why     string
	now     bool // straight to the kill
}

// request asks the supervisor to stop the run; it never blocks. More requests than the channel holds say nothing new.
func (r *Run) request(q stopRequest) {
	select {
	case r.stopping <- q:
	default:
	}
}

// ending is what the waiting goroutine hands to the supervisor.
type ending struct {
	exit *Exit
	err  error
}

// drainTimeout bounds how long a stream may stay silent and open after the command's end.
const drainTimeout = 2 * time.Second

// supervise owns the run from its start to its final Result: it watches timeouts and liveness, stops by the ladder, and walks steps 5
// to 8 on every exit path. It is the only writer of the result.
func (r *Run) supervise(l *Launch) {
	defer r.s.running.Done()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	end := make(chan ending, 1)
	go func() {
		x, err := r.proc.Wait(ctx, drainTimeout)
		end <- ending{x, err}
	}()

	res := &Result{Code: -1}
	var e ending
	var q *stopRequest
	if f := r.step(StepCapture, func() (state, note string, err error) {
		e, q = r.watch(ctx, l, end, &res.Evidence)
		cancel()
		r.streams.finish(&res.Usage, &res.Evidence)
		err = r.settle(res, e, q)
		return StateDone, res.String(), err
	}); f != nil {
		res.Failure = f
	}
	r.finish(res)
}

// watch waits for the end of the command, or stops it. The returned request is nil where the command ended by itself: an end that was
// seen wins over a reason to stop, save that a command that wrote too much did so before it ended.
func (r *Run) watch(ctx context.Context, l *Launch, end <-chan ending, ev *Evidence) (ending, *stopRequest) {
	t := r.plan.Request.Timeouts
	var wall, idle, beat, live <-chan time.Time
	after := func(d time.Duration) (*time.Timer, <-chan time.Time) {
		if d <= 0 {
			return nil, nil
		}
		tm := time.NewTimer(d)
		return tm, tm.C
	}
	wallTimer, wall := after(t.Wall - time.Since(r.began))
	if t.Wall > 0 && wallTimer == nil {
		wallTimer = time.NewTimer(0)
		wall = wallTimer.C
	}
	idleTimer, idle := after(t.Idle)
	beatEvery := r.plan.Request.Heartbeat
	beatTimer, beat := after(beatEvery)
	for _, tm := range []*time.Timer{wallTimer, idleTimer, beatTimer} {
		if tm != nil {
			defer tm.Stop()
		}
	}
	tooMuch := stopRequest{outcome: OutputLimit, why: fmt.Sprintf("more than %d bytes of output", r.streams.meter.limit)}
	ended := func(e ending) (ending, *stopRequest) {
		select {
		case <-r.streams.meter.exceeded:
			ev.Cause = tooMuch.why
			return e, &tooMuch
		default:
			return e, nil
		}
	}
	alive := make(chan error, 1)
	asking := false
	if l.Liveness != nil {
		every := t.Liveness
		if every <= 0 {
			every = 10 * time.Second
		}
		tick := time.NewTicker(every)
		defer tick.Stop()
		live = tick.C
	}
	for {
		var q stopRequest
		select {
		case e := <-end:
			return ended(e)
		case q = <-r.stopping:
		case <-r.streams.meter.exceeded:
			q = tooMuch
		case <-wall:
			q = stopRequest{outcome: TimedOut, timeout: TimeoutWall, why: fmt.Sprintf("ran longer than %v", t.Wall)}
		case <-idle:
			if left := t.Idle - time.Since(r.quietSince()); left > 0 {
				idleTimer.Reset(left)
				continue
			}
			q = stopRequest{outcome: TimedOut, timeout: TimeoutIdle, why: fmt.Sprintf("no output for %v", t.Idle)}
		case <-beat:
			last := r.beats.last()
			if last.Before(r.began) {
				last = r.began
			}
			if left := beatEvery - time.Since(last); left > 0 {
				beatTimer.Reset(left)
				continue
			}
			q = stopRequest{outcome: TimedOut, timeout: TimeoutIdle, why: fmt.Sprintf("no heartbeat for %v", beatEvery)}
		case <-live:
			if !asking {
				asking = true
				v := r.view()
				go func() { alive <- r.askAlive(ctx, l.Liveness, v) }()
			}
			continue
		case err := <-alive:
			asking = false
			if err == nil {
				continue
			}
			q = stopRequest{outcome: TimedOut, timeout: TimeoutIdle, why: "liveness: " + err.Error()}
		}
		select {
		case e := <-end:
			return ended(e)
		default:
		}
		ev.Cause = q.why
		return r.stopLadder(ctx, q, end, ev), &q
	}
}

// quietSince is when the run last gave output, or its start.
func (r *Run) quietSince() time.Time {
	if t := r.streams.lastOutput(); t.After(r.began) {
		return t
	}
	return r.began
}

func (r *Run) view() LivenessView {
	return LivenessView{RunID: r.name.ID, Process: r.facts.Process, Started: r.began, LastOutput: r.streams.lastOutput(), LastBeat: r.beats.last(), OutputBytes: r.streams.meter.total.Load()}
}

func (r *Run) askAlive(ctx context.Context, h LivenessHook, v LivenessView) error {
	if health, err := r.proc.Health(ctx); err == nil {
		v.Health = health
	}
	err := h.Alive(ctx, v)
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// settle turns the witnessed end, or its absence, into an outcome. Nothing becomes a success without a witnessed exit.
func (r *Run) settle(res *Result, e ending, q *stopRequest) error {
	res.Usage.Wall = time.Since(r.began)
	if e.err != nil {
		res.Outcome = UncertainOutcome
		if errors.Is(e.err, ErrCommand) && (e.exit == nil || !e.exit.Ran) {
			res.Outcome = NeverRan
		}
		return e.err
	}
	x := e.exit
	if x == nil {
		res.Outcome = UncertainOutcome
		return Fail(Uncertain, "the backend reported no end and no error")
	}
	r.usage(res, x)
	switch {
	case !x.Ran:
		res.Outcome = NeverRan
		return Fail(Uncertain, "the sandbox ended and nobody saw the command run")
	case q != nil:
		res.Outcome, res.Timeout, res.Signal = q.outcome, q.timeout, x.Signal
		switch {
		case x.Signal != 0:
		case len(res.Evidence.Ladder) == 0:
			res.Evidence.Notes = append(res.Evidence.Notes, fmt.Sprintf("the command exited %d by itself", x.Code))
		default:
			res.Evidence.Notes = append(res.Evidence.Notes, fmt.Sprintf("the command exited %d while it was being stopped", x.Code))
		}
	case x.OOM:
		res.Outcome, res.Signal = OutOfMemory, x.Signal
	case x.Signal != 0:
		res.Outcome, res.Signal = Signaled, x.Signal
	default:
		res.Outcome, res.Code = Exited, x.Code
	}
	return nil
}

func (r *Run) usage(res *Result, x *Exit) {
	out, errs := res.Usage.StdoutSize, res.Usage.StderrSize
	wall := res.Usage.Wall
	res.Usage = x.Usage
	res.Usage.StdoutSize, res.Usage.StderrSize = out, errs
	if res.Usage.Wall == 0 {
		res.Usage.Wall = wall
	}
	ev := &res.Evidence
	ev.Observer, ev.OOMKills, ev.MemoryEvents, ev.DrainCut = x.Observer, x.OOMKills, x.MemoryEvents, x.DrainCut
	ev.Notes = append(ev.Notes, x.Notes...)
}
