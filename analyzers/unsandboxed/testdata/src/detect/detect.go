// Package detect tells whether there is a sandbox, for others.
package detect

import (
	"context"
	"errors"
	"os/exec"

	sbx "github.com/sbxkit/sbxkit/runtime"
)

// Bubblewrap is known at the start.
var Bubblewrap = Available() // want Bubblewrap:`false: exec.LookPath`

// Available reports whether there is a sandbox.
func Available() bool { // want Available:`result 0 false: exec.LookPath`
	_, err := exec.LookPath("bwrap")
	return err == nil
}

// Missing reports whether there is none.
func Missing(ctx context.Context, s *sbx.Sandbox) bool { // want Missing:`result 0 true: Sandbox.Probe`
	if _, err := s.Probe(ctx); err != nil {
		return true
	}
	return false
}

// Ready fails where there is none.
func Ready(ctx context.Context, s *sbx.Sandbox) error { // want Ready:`result 0 error: Sandbox.Probe`
	if _, err := s.Probe(ctx); err != nil {
		return errors.New("no sandbox")
	}
	return nil
}

// Unsupported asks what an error is.
func Unsupported(err error) bool { // want Unsupported:`result 0 true: parameter 0 error`
	return errors.Is(err, sbx.ErrUnsupported)
}
