package engine

import (
	"net/http"
	"sync/atomic"
	"testing"
)

// TestAListThatFailsIsAskedForAgain plays an engine that cannot list while something ends, for a moment or for good.
func TestAListThatFailsIsAskedForAgain(t *testing.T) {
	eachEngine(t, func(t *testing.T, e underTest) {
		for _, c := range []struct {
			name  string
			fails int32
		}{{"once", 1}, {"always", 1 << 30}} {
			t.Run(c.name, func(t *testing.T) {
				var asked atomic.Int32
				failing, _ := e.through(t, at("GET", "/containers/json", func(w http.ResponseWriter, _ *http.Request) bool {
					if asked.Add(1) > c.fails {
						return false
					}
					http.Error(w, `{"message": "read /proc/7/cgroup: no such process"}`, http.StatusInternalServerError)
					return true
				}))
				_, _, err := failing.backend(t).Find(within(t), "nobody")
				switch {
				case c.fails == 1 && err != nil:
					t.Error(err)
				case c.fails > 1 && (err == nil || asked.Load() != askTries):
					t.Errorf("asked %d times: %v", asked.Load(), err)
				}
			})
		}
	})
}
