package conformance

import (
	"flag"
	"testing"

	"github.com/sbxkit/sbxkit/runtime/sbxtest"
)

var (
	live  = flag.Bool("conformance", false, "hold the real backends of this host to the contract; takes minutes")
	write = flag.String("write", "", "write the matrix of all backends to this file")
)

// TestBackends holds every backend of this host to the contract, and writes the matrix where that is asked for.
func TestBackends(t *testing.T) {
	if !*live {
		t.Skip("it launches more than a thousand sandboxes: run it by make conformance")
	}
	var m matrix
	for _, c := range columns() {
		t.Run(c.name, func(t *testing.T) {
			c.need(t)
			f, end := c.factory()
			o := sbxtest.Options{Parallel: c.parallel}
			if c.name == "fake" {
				o = bubbled
			}
			rep := sbxtest.Run(t, f, o)
			t.Log(rep.Summary())
			m.add(c.name, rep)
			if err := end(); err != nil {
				t.Error(err)
			}
		})
	}
	if *write != "" {
		if err := m.write(*write); err != nil {
			t.Fatal(err)
		}
	}
}
