package engine

import (
	"context"
	"time"
)

// lingering gives a context for a call whose work the engine does not undo when the caller leaves: it outlives ctx by d, so that the
// answer is still heard and what was made can be removed.
func lingering(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	out, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		t := time.AfterFunc(d, func() { cancel(context.Cause(ctx)) })
		context.AfterFunc(out, func() { t.Stop() })
	})
	return out, func() {
		stop()
		cancel(context.Canceled)
	}
}
