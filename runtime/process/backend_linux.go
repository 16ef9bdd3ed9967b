package process

import (
	"github.com/sbxkit/sbxkit/runtime"
)

var _ runtime.Closer = (*Backend)(nil)

// shared is what a backend's runs have in common.
type shared struct {
	spawner spawner
	probes  probes
}

// Close ends the spawner thread, after every run was removed: a sandbox that asked to die with its parent dies with it.
func (b *Backend) Close() error {
	b.spawner.close()
	return nil
}
