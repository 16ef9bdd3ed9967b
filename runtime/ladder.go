package runtime

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"
)

// rungCall bounds one call to a backend on the ladder; a daemon that hangs cannot hold up the next rung longer.
const rungCall = 10 * time.Second

// killGrace is how long the kill waits for the end before the resources are removed by force.
const killGrace = 10 * time.Second

// stopLadder stops the command: each signal rung of the spec with its grace, then the backend's kill, then removal by force. Every
// rung has its own deadline, detached from any caller's context. A later request to kill skips the remaining signals.
func (r *Run) stopLadder(ctx context.Context, q stopRequest, end <-chan ending, ev *Evidence) ending {
	now := q.now
	climb := func(name string, wait time.Duration, do func(context.Context) error) (ending, bool) {
		rung := Rung{Name: name, At: time.Since(r.began), Deadline: wait}
		call, cancel := context.WithTimeout(context.WithoutCancel(ctx), rungCall)
		done := make(chan error, 1)
		go func() { done <- do(call) }()
		defer cancel()
		timer := time.NewTimer(wait)
		defer timer.Stop()
		defer func() { ev.Ladder = append(ev.Ladder, rung) }()
		for {
			select {
			case err := <-done:
				done = nil
				if err != nil && !errors.Is(err, os.ErrProcessDone) {
					rung.Error = err.Error()
				}
			case e := <-end:
				return e, true
			case more := <-r.stopping:
				if more.now && !now {
					now = true
					return ending{}, false
				}
			case <-timer.C:
				return ending{}, false
			}
		}
	}
	for _, rung := range r.backend.Describe().Stop {
		if rung.Signal == 0 || now {
			continue
		}
		grace := rung.Grace
		if t := r.plan.Request.Timeouts.Grace; t > 0 {
			grace = t
		}
		sig := syscall.Signal(rung.Signal)
		if e, ok := climb(SignalName(sig), grace, func(c context.Context) error { return r.proc.Signal(c, sig) }); ok {
			return e
		}
	}
	now = true
	grace := killGrace
	for _, rung := range r.backend.Describe().Stop {
		if rung.Signal == 0 && rung.Grace > 0 {
			grace = rung.Grace
		}
	}
	// Output nobody reads must not keep the end from being seen.
	if e, ok := climb("kill", min(grace, 2*time.Second), r.res.Kill); ok {
		return e
	}
	r.streams.abandon()
	if e, ok := climb("sweep", grace, r.res.Kill); ok {
		return e
	}
	if e, ok := climb("remove", r.s.remove, func(c context.Context) error {
		_, err := r.removeResources(c)
		return err
	}); ok {
		return e
	}
	return ending{err: Fail(Uncertain, "the run was killed and removed, and its end was not seen").WithLeft(r.leftover())}
}

// leftover names the run for a person who has to settle it.
func (r *Run) leftover() Leftover {
	return Leftover{What: "run", Name: r.name.ID, Settle: "sbxctl reconcile --state " + ShellQuote(stateOf(r.name))}
}

func stateOf(n RunName) string {
	if n.Dir == "" {
		return "DIR"
	}
	return parentOf(parentOf(n.Dir))
}

func parentOf(p string) string {
	for i := len(p) - 1; i > 0; i-- {
		if p[i] == '/' {
			return p[:i]
		}
	}
	return "/"
}
