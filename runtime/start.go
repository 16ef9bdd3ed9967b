package runtime

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// start is step 4 up to the running command: the streams are made, the backend starts the command and attests it, the supervisor
// takes over.
func (r *Run) start(ctx context.Context, l *Launch) (state, note string, err error) {
	// What was cancelled up to here starts nothing; a backend that looks at its context late would.
	if ctx.Err() != nil {
		return "", "", Fail(Setup, "the launch was given up before its command was started: %w", context.Cause(ctx))
	}
	req := &StartRequest{Stdin: r.plan.Request.Stdin, StdinFile: l.Stdin.File, Terminal: r.plan.Request.Terminal}
	r.streams = newStreams(r.plan.Request, l)
	req.Stdout, req.Stderr = r.streams.outputs()
	if r.plan.Request.Descriptors.Heartbeat > 0 {
		req.Heartbeat = &r.beats
	}
	if r.plan.Request.Descriptors.Notify > 0 {
		r.notified = make(chan struct{})
		req.Notify = &lineWatch{text: []byte("READY=1"), fire: sync.OnceFunc(func() { close(r.notified) })}
	}
	req.Record = func(t Token) error {
		r.setToken(t)
		return r.record(StepStart, false)
	}
	began := time.Now()
	req.Started = func() { began = time.Now() }
	proc, err := r.res.Start(ctx, req)
	if err != nil {
		return "", "", err
	}
	r.mu.Lock()
	r.proc, r.began = proc, began
	r.facts.Process = proc.Identity()
	r.facts.Guarantees = proc.Guarantees()
	r.mu.Unlock()
	r.setToken(r.res.Token())
	close(r.started)
	if l.Stdin.Reader != nil && proc.Stdin() != nil {
		go r.streams.feed(l.Stdin.Reader, proc.Stdin())
	}
	return StateDone, attestNote(proc.Guarantees()), nil
}

func attestNote(gs []Guarantee) string {
	holds, other := 0, 0
	for _, g := range gs {
		switch g.Measured {
		case MeasuredHolds, MeasuredReadback, MeasuredBehaves:
			holds++
		default:
			other++
		}
	}
	if len(gs) == 0 {
		return "no guarantee was measured"
	}
	return fmt.Sprintf("%d guarantees measured, %d not", holds, other)
}

// errNotReady is the cause of a launch that did not get ready in time.
var errNotReady = errors.New("not ready in time")
