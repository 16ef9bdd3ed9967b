package engine

import (
	"slices"
	"sync"

	"github.com/sbxkit/sbxkit/runtime"
)

// commandCache remembers which commands were found in which images: an image never changes under its id, and a look at a path costs an
// engine a mount of the whole container. Only what was found is remembered, with every path that was looked at on the way, links included:
// it holds for a run that mounts nothing over any of them.
type commandCache struct {
	mu    sync.Mutex
	found map[commandKey][]string
}

type commandKey struct{ endpoint, image, command, dir, searchPath string }

// maxKnownCommands bounds the memory; beyond it the cache starts anew.
const maxKnownCommands = 1024

// known reports whether a command was found in the run's image before, by paths that the run's mounts leave alone.
func (c *commandCache) known(k commandKey, mounts []runtime.Mount) bool {
	c.mu.Lock()
	paths, ok := c.found[k]
	c.mu.Unlock()
	return ok && untouched(paths, mounts)
}

// remember keeps where a command was found.
func (c *commandCache) remember(k commandKey, paths []string, mounts []runtime.Mount) {
	if k.image == "" || !untouched(paths, mounts) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.found == nil || len(c.found) >= maxKnownCommands {
		c.found = map[commandKey][]string{}
	}
	c.found[k] = paths
}

// untouched reports whether no mount is at or above any of the paths.
func untouched(paths []string, mounts []runtime.Mount) bool {
	return !slices.ContainsFunc(paths, func(p string) bool {
		return slices.ContainsFunc(mounts, func(m runtime.Mount) bool { return below(p, m.Target) })
	})
}
