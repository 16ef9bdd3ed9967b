package wrap

import (
	"context"
	"fmt"

	sbx "github.com/sbxkit/sbxkit/runtime"
)

// Clean carries the error of a lifecycle call.
func Clean(ctx context.Context, r *sbx.Run) error { // want Clean:"carries Run.Reap"
	if err := r.Reap(ctx); err != nil {
		return fmt.Errorf("cleaning: %w", err)
	}
	return nil
}

// Do gives the result of a launch.
func Do(ctx context.Context, s *sbx.Sandbox) (*sbx.Result, error) { // want Do:"carries Sandbox.Run"
	return s.Run(ctx, sbx.Launch{})
}
