package runtime

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// awaitReady ends step 4: it returns when the command says that it is ready, when ctx (Timeouts.Start) ends, or when the run ends
// first.
func (r *Run) awaitReady(ctx context.Context, y *Ready) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ready := make(chan error, 1)
	go func() { ready <- r.readiness(ctx, y) }()
	select {
	case err := <-ready:
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("%w: %w", errNotReady, context.Cause(ctx))
		}
		select {
		case <-r.ended:
			return errEndedEarly
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", errNotReady, context.Cause(ctx))
		case <-time.After(100 * time.Millisecond):
			return err
		}
	case <-r.ended:
		return errEndedEarly
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", errNotReady, context.Cause(ctx))
	}
}

var errEndedEarly = errors.New("the command ended before it was ready")

// readiness blocks until the command is ready (nil) or can no longer become so.
func (r *Run) readiness(ctx context.Context, y *Ready) error {
	switch {
	case y.Line != "":
		select {
		case <-r.streams.lineSeen:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	case y.Notify:
		select {
		case <-r.notified:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	case len(y.Exec) > 0:
		return poll(ctx, func() (bool, error) {
			code, err := r.proc.Exec(ctx, y.Exec)
			return code == 0, permanent(err)
		})
	case y.Port > 0:
		return poll(ctx, func() (bool, error) {
			c, err := r.proc.Dial(ctx, y.Port)
			if err != nil {
				return false, permanent(err)
			}
			return true, c.Close()
		})
	default:
		return poll(ctx, func() (bool, error) {
			h, err := r.proc.Health(ctx)
			if h == "unhealthy" {
				return false, errors.New("the engine's health check says unhealthy")
			}
			return h == "healthy", permanent(err)
		})
	}
}

// permanent passes on only an error that asking again cannot mend.
func permanent(err error) error {
	if errors.Is(err, ErrUnsupported) || errors.Is(err, ErrUncertain) {
		return err
	}
	return nil
}

// poll asks until the answer is yes, at growing intervals; only an engine or a kernel that has no event for it is polled.
func poll(ctx context.Context, ask func() (bool, error)) error {
	wait := 10 * time.Millisecond
	for {
		ok, err := ask()
		if ok || err != nil {
			return err
		}
		t := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			t.Stop()
			return ctx.Err()
		case <-t.C:
		}
		wait = min(wait*2, 500*time.Millisecond)
	}
}
