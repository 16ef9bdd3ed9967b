//go:build !linux

package engine

import (
	"context"

	"github.com/sbxkit/sbxkit/runtime"
)

// measure gives nothing: the container's process is in another kernel.
func (p *process) measure(context.Context, *inspected) map[string]runtime.Guarantee { return nil }
