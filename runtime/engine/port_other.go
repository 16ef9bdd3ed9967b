//go:build !linux

package engine

import (
	"context"
	"io"

	"github.com/sbxkit/sbxkit/runtime"
)

// Dial is Unsupported: the containers are on another kernel.
func (p *process) Dial(context.Context, int) (io.Closer, error) {
	return nil, runtime.Fail(runtime.Unsupported, "the container's network cannot be entered from this host").About("ready.port").At(runtime.StepStart)
}
