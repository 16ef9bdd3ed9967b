// Package drive declares a lifecycle.
package drive

import (
	"context"

	sbx "github.com/sbxkit/sbxkit/runtime"
)

//sbx:launch
type Launch struct{ Argv []string }

type Run struct{ err error }

func (r *Run) Kill(ctx context.Context) error { return r.err }
func (r *Run) Reap(ctx context.Context) error {
	if err := r.Kill(ctx); err == nil {
		return nil
	}
	go r.Kill(ctx)
	return nil
}

// What it calls of another package is no step of its own.
func other(ctx context.Context, r *sbx.Run) {
	r.Reap(ctx) // want `error of Run.Reap is dropped`
}
