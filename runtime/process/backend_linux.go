package process

import (
	"sync/atomic"

	"github.com/sbxkit/sbxkit/runtime"
)

var _ runtime.Closer = (*Backend)(nil)

// shared is what a backend's runs have in common.
type shared struct {
	spawner spawner
	probes  probes
	// untraceable is set when a child was refused PTRACE_TRACEME: the next ones do not ask. A refused child has already had the terminal
	// that it was given, and takes it down with it.
	untraceable atomic.Bool
}

// Close ends the spawner thread, after every run was removed: a sandbox that asked to die with its parent dies with it.
func (b *Backend) Close() error {
	b.spawner.close()
	return nil
}
