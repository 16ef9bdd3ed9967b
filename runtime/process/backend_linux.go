package process

import (
	"sync"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/cgroup"
)

var _ runtime.Closer = (*Backend)(nil)

// shared is what a backend's runs have in common.
type shared struct {
	spawner spawner
	probes  probes
	groups  groups
}

// groups is where control groups can be made, found once: this process does not expect to be moved.
type groups struct {
	once sync.Once
	host *cgroup.Host
	err  error
}

func (g *groups) find() (*cgroup.Host, error) {
	g.once.Do(func() { g.host, g.err = cgroup.Find() })
	return g.host, g.err
}

// Close ends the spawner thread, after every run was removed: a sandbox that asked to die with its parent dies with it.
func (b *Backend) Close() error {
	b.spawner.close()
	return nil
}
