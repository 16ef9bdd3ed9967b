package runtime

import "context"

// Controller is the executor's side of steps 6 and 7. A backend never verifies or imports anything. Methods are called from the run's
// own goroutine, once a run, in the order they stand here; ctx is detached from the launch's and ends after the driver's bound.
type Controller interface {
	// ExportDir gives an empty directory of the controller's own for this run's artifacts.
	ExportDir(ctx context.Context, p *Plan) (string, error)
	// Verify looks at a candidate; an error means it is not imported.
	Verify(ctx context.Context, c *Candidate) error
	// Import takes a verified candidate. It should be atomic: after a crash the run is reconciled, not imported again.
	Import(ctx context.Context, c *Candidate) error
}

// importCandidate is step 7.
func (r *Run) importCandidate(ctx context.Context, c *Candidate) (state, note string, err error) {
	if err := r.s.controller.Verify(ctx, c); err != nil {
		return "", "", controllerError("verify", err)
	}
	if err := r.s.controller.Import(ctx, c); err != nil {
		return "", "", controllerError("import", err)
	}
	return StateDone, "", nil
}

func controllerError(what string, err error) error {
	f := Fail(Denied, "the controller did not %s the candidate: %w", what, err)
	if what == "import" {
		f.Kind = Setup
	}
	return f
}
