package engine

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/sbxkit/sbxkit/runtime"
)

// TestProbesAtOnceAskTheEngineOnce holds the engine's answer until many wait for it: all share it, and one that was given up by who asked
// is asked again for the others.
func TestProbesAtOnceAskTheEngineOnce(t *testing.T) {
	var asked atomic.Int32
	first, answer := make(chan struct{}), make(chan struct{})
	endpoint, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Api-Version", "1.41")
		switch {
		case strings.HasSuffix(r.URL.Path, "/version"):
			fmt.Fprint(w, `{"Components":[{"Name":"Engine","Version":"1.2.3"}]}`)
		case strings.HasSuffix(r.URL.Path, "/info"):
			if asked.Add(1) == 1 {
				close(first)
				<-r.Context().Done() // the one that is given up
				return
			}
			<-answer
			fmt.Fprint(w, `{"OSType":"linux","SecurityOptions":["name=rootless"]}`)
		}
	}))
	b := underTest{name: "Docker Engine", program: "docker", endpoint: endpoint}.backend(t)
	leader, leave := context.WithCancel(within(t))
	gone := make(chan error)
	go func() {
		_, err := b.Probe(leader, runtime.ProbeRequest{})
		gone <- err
	}()
	<-first
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if id, err := b.Probe(within(t), runtime.ProbeRequest{}); err != nil || !id.Rootless {
				t.Errorf("%+v, %v", id, err)
			}
		})
	}
	leave()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Errorf("the probe that was given up: %v", err)
	}
	waitFor(t, "the next to ask", func() bool { return asked.Load() == 2 })
	close(answer)
	all.Wait()
	// Those that came after the answer have it from memory.
	if n := asked.Load(); n != 2 {
		t.Errorf("the engine was asked %d times", n)
	}
}
