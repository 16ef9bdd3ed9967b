// Package room is below the seam's own package, and a caller of it like any other.
package room

import (
	"context"

	sbx "github.com/sbxkit/sbxkit/runtime"
)

func dropped(ctx context.Context, r *sbx.Run) {
	r.Reap(ctx) // want `error of Run.Reap is dropped`
}

func returned(ctx context.Context, r *sbx.Run) error { return r.Reap(ctx) }
