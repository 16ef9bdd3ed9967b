package engine

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// deadlines bound what one call may take, whatever the caller's context says. A call of an engine has no other end: a daemon that
// hangs keeps a connection open for ever.
type deadlines struct {
	// identify bounds ping, version and info each.
	identify time.Duration
	// look bounds calls that only read: inspect, list, stat.
	look time.Duration
	// change bounds calls that make or remove something small: volumes, networks, create.
	change time.Duration
	// start bounds attach, wait's acknowledgement and start. An engine's own start takes 0.2 s alone, and waits its turn under load.
	start time.Duration
	// kill bounds a kill. The daemon's own takes up to 12 s before it gives up (moby, daemon/kill.go: 10 s for the exit event and 2 s more).
	kill time.Duration
	// remove bounds a whole removal, the polling for absence included.
	remove time.Duration
	// archive bounds an upload or a download.
	archive time.Duration
	// poll is the first pause between two looks at something that is going away; it doubles up to a second.
	poll time.Duration
	// afterwards bounds what is still done for a caller whose own context has ended: the cleanup of a half-made run.
	afterwards time.Duration
}

func defaultDeadlines() deadlines {
	return deadlines{
		identify: 10 * time.Second, look: 20 * time.Second, change: 60 * time.Second, start: 60 * time.Second, kill: 20 * time.Second,
		remove: 60 * time.Second, archive: 10 * time.Minute, poll: 5 * time.Millisecond, afterwards: 15 * time.Second,
	}
}

// overdue is the cause of a context that ended because an engine did not answer in time.
type overdue struct {
	what  string
	after time.Duration
}

func (o *overdue) Error() string {
	return fmt.Sprintf("the engine did not answer %s in %v", o.what, o.after)
}

// Is makes an overdue call a deadline exceeded, as net/http reports it.
func (o *overdue) Is(target error) bool { return target == context.DeadlineExceeded }

// bounded gives ctx an end of its own; what names the call in the error.
func bounded(ctx context.Context, d time.Duration, what string) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, d, &overdue{what: what, after: d})
}

// detached is a context for what must be done although the caller's has ended, bounded by d.
func detached(ctx context.Context, d time.Duration, what string) (context.Context, context.CancelFunc) {
	return bounded(context.WithoutCancel(ctx), d, what)
}

// causeOf replaces a bare context error by what ended the context, so that a message says which call was too slow.
func causeOf(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil || (!errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)) {
		return err
	}
	return context.Cause(ctx)
}
