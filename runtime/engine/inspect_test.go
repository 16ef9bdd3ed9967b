package engine

import (
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sbxkit/sbxkit/runtime"
)

// TestAContainerOnItsWayOutIsLookedAtAgain: while another call removes a container, an engine may fail to describe it without it being gone.
func TestAContainerOnItsWayOutIsLookedAtAgain(t *testing.T) {
	eachEngine(t, func(t *testing.T, e underTest) {
		var failures atomic.Int64
		behind, _ := e.through(t, func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method != http.MethodGet || !strings.Contains(r.URL.Path, "/containers/sbx-") || failures.Add(-1) < 0 {
				return false
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusInternalServerError)
			_, err := w.Write([]byte(`{"message":"the container does not exist in the database"}`))
			return err == nil
		})
		b := behind.backend(t)
		l := prepare(t, b, e.request("true"))
		failures.Store(3)
		if err := l.res.Kill(within(t)); err != nil {
			t.Errorf("killing what does not run: %v", err)
		}
		failures.Store(3)
		if x, err := l.res.(runtime.Witness).Witnessed(within(t)); err != nil || x.Ran {
			t.Errorf("the end of what never ran: %+v, %v", x, err)
		}
		failures.Store(3)
		if d, err := l.res.Remove(within(t)); err != nil || !d.Confirmed {
			t.Errorf("removing: %+v, %v", d, err)
		}

		impatient(b)
		l = prepare(t, b, e.request("true"))
		failures.Store(1 << 40)
		if x, err := l.res.(runtime.Witness).Witnessed(within(t)); !errors.Is(err, runtime.ErrUncertain) {
			t.Errorf("an engine that never says what became of a container: %+v, %v, want uncertain", x, err)
		}
		failures.Store(0)
	})
}
