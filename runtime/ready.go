package runtime

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// awaitReady ends step 4: it returns when the command says that it is ready, when ctx (Timeouts.Start) ends, or when the run ends
// first. A command that said so is ready, whatever came then: that it has ended is its result's to tell.
func (r *Run) awaitReady(ctx context.Context, y *Ready) error {
	asking, cancel := context.WithCancel(ctx)
	defer cancel()
	answer := make(chan error, 1)
	go func() { answer <- r.readiness(asking, y) }()
	late := func() error { return fmt.Errorf("%w: %w", errNotReady, context.Cause(ctx)) }
	var err error
	select {
	case err = <-answer:
		select {
		case <-r.ended:
			if err != nil {
				err = errEndedEarly
			}
		default:
			if err != nil && ctx.Err() != nil {
				err = late()
			}
		}
	case <-r.ended:
		// What was being asked may have been answered before the end, and all that the command wrote has been read.
		cancel()
		bound := time.NewTimer(rungCall)
		defer bound.Stop()
		err = errEndedEarly
		select {
		case said := <-answer:
			if said == nil {
				return nil
			}
		case <-bound.C:
		}
	case <-ctx.Done():
		err = late()
		select {
		case said := <-answer:
			if said == nil {
				return nil
			}
		default:
		}
	}
	if err != nil && r.saidReady(y) {
		return nil
	}
	return err
}

// saidReady reports whether the command itself has said that it is ready.
func (r *Run) saidReady(y *Ready) bool {
	var said <-chan struct{}
	switch {
	case y.Line != "":
		said = r.streams.lineSeen
	case y.Notify:
		said = r.notified
	}
	select {
	case <-said:
		return true
	default:
		return false
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

// permanent passes on only an error that asking again cannot mend. One that the end of the command is behind is none of them: the end
// ends the asking.
func permanent(err error) error {
	if errors.Is(err, ErrUnsupported) {
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
