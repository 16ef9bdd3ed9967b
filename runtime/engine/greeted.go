package engine

import "sync/atomic"

// greeting is who an engine says it is; empty before it was asked.
type greeting struct{ engine, version string }

// greeted keeps the last greeting of a link.
type greeted struct{ last atomic.Pointer[greeting] }

func (g *greeted) know(engine, version string) { g.last.Store(&greeting{engine, version}) }

// who answers at the other end.
func (g *greeted) who() greeting {
	if x := g.last.Load(); x != nil {
		return *x
	}
	return greeting{}
}

func (g *greeted) isPodman() bool { return g.who().engine == podmanEngine }
