package process

import (
	"github.com/sbxkit/sbxkit/runtime"
)

// Backend implements runtime.Backend for a process. It holds the spawner thread and the probe's cache; it is safe for concurrent use.
type Backend struct {
	def Definition
	shared
}

var _ runtime.Backend = (*Backend)(nil)

// New makes a process backend. It starts nothing.
func New(d Definition) (*Backend, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	return &Backend{def: d}, nil
}

// Describe gives the spec's data.
func (b *Backend) Describe() *runtime.Description { return b.def.Description }
