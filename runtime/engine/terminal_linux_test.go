package engine

import (
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/sbxkit/sbxkit/runtime"
)

// TestASizeThatGetsLostIsAskedForAgain plays an engine that answers for a terminal's size and does not set it, once when the run starts
// and once later.
func TestASizeThatGetsLostIsAskedForAgain(t *testing.T) {
	eachEngine(t, func(t *testing.T, e underTest) {
		var asked, lost atomic.Int32
		forgetful, _ := e.through(t, at("POST", "/resize", func(w http.ResponseWriter, _ *http.Request) bool {
			if asked.Add(1)%2 == 0 {
				return false
			}
			lost.Add(1)
			w.WriteHeader(http.StatusOK)
			return true
		}))
		r := e.request("sleep", "1000")
		r.Terminal = &runtime.Terminal{Columns: 91, Rows: 17}
		b := forgetful.backend(t)
		l := prepare(t, b, r)
		if err := l.stage(); err != nil {
			t.Fatal(err)
		}
		proc, err := l.res.Start(within(t), &runtime.StartRequest{Terminal: r.Terminal})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if _, err := l.res.Remove(within(t)); err != nil {
				t.Error(err)
			}
		}()
		p := proc.(*process)
		if c, r, seen := p.terminalSize(); !seen || c != 91 || r != 17 {
			t.Errorf("after the start the terminal is %dx%d, %v", c, r, seen)
		}
		if err := p.Resize(120, 40); err != nil {
			t.Error(err)
		}
		if c, r, seen := p.terminalSize(); !seen || c != 120 || r != 40 {
			t.Errorf("resized, the terminal is %dx%d, %v", c, r, seen)
		}
		if lost.Load() < 2 {
			t.Errorf("%d sizes were lost, want one at the start and one later", lost.Load())
		}
	})
}
