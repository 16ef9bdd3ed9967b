package engine

import (
	"context"
	"errors"

	"github.com/sbxkit/sbxkit/runtime"
)

// flight is a probe that goes on. Launches that start together share it: fifty questions for its information at once keep an engine from
// answering any of them in time (Podman 4.3.1, measured).
type flight struct {
	done chan struct{}
	id   *runtime.Identity
	err  error
	// left is true where who asked gave it up, which says nothing to those who wait.
	left bool
}

// together runs ask for key, or waits for the one that runs already and shares its answer.
func (b *Backend) together(ctx context.Context, key string, ask func() (*runtime.Identity, error)) (*runtime.Identity, error) {
	for {
		b.mu.Lock()
		f, flies := b.flights[key]
		if !flies {
			f = &flight{done: make(chan struct{})}
			b.flights[key] = f
		}
		b.mu.Unlock()
		if !flies {
			f.id, f.err = ask()
			f.left = ctx.Err() != nil
			b.mu.Lock()
			delete(b.flights, key)
			b.mu.Unlock()
			close(f.done)
			return f.share()
		}
		select {
		case <-f.done:
		case <-ctx.Done():
			return nil, runtime.Fail(runtime.Setup, "the engine was not asked to the end: %w", context.Cause(ctx)).WithCure("allow the probe more time")
		}
		if !f.left {
			return f.share()
		}
	}
}

// share gives everybody a value of their own.
func (f *flight) share() (*runtime.Identity, error) {
	var failed *runtime.Failure
	if errors.As(f.err, &failed) {
		own := *failed
		return nil, &own
	}
	if f.err != nil {
		return nil, f.err
	}
	id := *f.id
	return &id, nil
}
