package engine

import (
	"context"
	"time"

	cerrdefs "github.com/containerd/errdefs"
)

// askTries is how often a question is asked before the engine's error is believed.
const askTries = 5

// again asks a question, which changes nothing, anew where the engine answers with an error other than that it is not there: Podman looks at a
// container's process while it describes or lists it, and answers 500 where that ends meanwhile, for a list of all (4.3.1, measured).
func again[T any](ctx context.Context, pause time.Duration, ask func(context.Context) (T, error)) (T, error) {
	for n := 1; ; n++ {
		out, err := ask(ctx)
		if err == nil || n == askTries || !answered(err) || cerrdefs.IsNotFound(err) {
			return out, err
		}
		select {
		case <-time.After(pause):
			pause *= 2
		case <-ctx.Done():
			return out, err
		}
	}
}
