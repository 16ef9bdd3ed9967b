// Package wrap starts commands for others.
package wrap

import (
	"context"
	"os/exec"

	"example.com/local"
	sbx "github.com/sbxkit/sbxkit/runtime"
)

// Host starts a command of the host.
func Host(argv []string) error { return exec.Command(argv[0], argv[1:]...).Run() }

// Sandboxed runs the command in a sandbox.
func Sandboxed(ctx context.Context, s *sbx.Sandbox, argv []string) error { // want Sandboxed:`result 0 error: Sandbox.Run`
	res, err := s.Run(ctx, sbx.Launch{Argv: argv})
	if err != nil {
		return err
	}
	return res.Err()
}

// Open gives a backend that isolates nothing.
func Open() (sbx.Backend, error) { return local.New(local.Options{}) }

// OrHost starts the command of the host where there was an error.
func OrHost(err error, argv []string) error { // want OrHost:`result 0 error: parameter 0 error; parameter 0 error: OrHost → wrap.Host → exec.Command|parameter 0 error: OrHost → Host → exec.Command`
	if err == nil {
		return nil
	}
	return Host(argv)
}
