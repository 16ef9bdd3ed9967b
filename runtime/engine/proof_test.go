package engine

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/sbxkit/sbxkit/runtime"
)

// TestAProofIsOfItsImage: probes with and without an image do not make each other's launches anew.
func TestAProofIsOfItsImage(t *testing.T) {
	eachEngine(t, func(t *testing.T, e underTest) {
		var mu sync.Mutex
		trials := 0
		e, _ = e.through(t, func(_ http.ResponseWriter, r *http.Request) bool {
			mu.Lock()
			defer mu.Unlock()
			if strings.HasSuffix(r.URL.Path, "/containers/create") {
				trials++
			}
			return false
		})
		b := e.backend(t)
		for range 3 {
			for _, image := range []string{e.image, ""} {
				if _, err := b.Probe(within(t), runtime.ProbeRequest{Image: image}); err != nil {
					t.Fatal(err)
				}
			}
		}
		if trials != 1 {
			t.Errorf("%d trial launches, want 1", trials)
		}
	})
}
