// Package picks keeps and picks backends for others.
package picks

import (
	"context"
	"os/exec"

	"example.com/local"
	sbx "github.com/sbxkit/sbxkit/runtime"
)

// Fallback isolates nothing.
var Fallback sbx.Backend = &local.Backend{}

// First gives the first that works.
func First(ctx context.Context, list ...sbx.Backend) sbx.Backend { // want First:`result 0 nil: Backend.Probe`
	for _, b := range list {
		if _, err := b.Probe(ctx); err == nil {
			return b
		}
	}
	return nil
}

// Make starts a constant command.
func Make() error { return exec.Command("make", "test").Run() }

// A Runner runs.
type Runner interface {
	Run(ctx context.Context, l sbx.Launch) error
}

// Boxed runs in a sandbox.
type Boxed struct{ Box *sbx.Sandbox }

// Run runs.
func (b Boxed) Run(ctx context.Context, l sbx.Launch) error { // want Run:`result 0 error: Sandbox.Run`
	_, err := b.Box.Run(ctx, l)
	return err
}

// Bare runs without one.
type Bare struct{}

// Run runs.
func (Bare) Run(ctx context.Context, l sbx.Launch) error {
	return exec.Command(l.Argv[0], l.Argv[1:]...).Run()
}
