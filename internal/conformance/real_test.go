package conformance

import (
	"testing"
	"time"

	"github.com/sbxkit/sbxkit/runtime/sbxtest"
)

// TestBackends holds every backend of this host to the contract.
func TestBackends(t *testing.T) {
	if testing.Short() {
		t.Skip("it launches a few hundred sandboxes")
	}
	for _, c := range columns()[1:] {
		t.Run(c.name, func(t *testing.T) {
			c.need(t)
			f, end := c.factory()
			began := time.Now()
			rep := sbxtest.Run(t, f, sbxtest.Options{Parallel: c.parallel})
			t.Logf("%s, in %v", rep.Summary(), time.Since(began).Round(time.Second))
			if err := end(); err != nil {
				t.Error(err)
			}
		})
	}
}

