package engine

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sbxkit/sbxkit/runtime"
)

// TestAnEngineIsAskedForItsVersionOnceWhileItIsTheSame counts the slow question. An engine without a mark is asked each time.
func TestAnEngineIsAskedForItsVersionOnceWhileItIsTheSame(t *testing.T) {
	var server, version atomic.Value
	var asked atomic.Int32
	endpoint, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Api-Version", "1.41")
		w.Header().Set("Server", server.Load().(string))
		switch {
		case strings.HasSuffix(r.URL.Path, "/version"):
			asked.Add(1)
			fmt.Fprintf(w, `{"Components":[{"Name":"Engine","Version":%q}]}`, version.Load())
		case strings.HasSuffix(r.URL.Path, "/info"):
			fmt.Fprint(w, `{"OSType":"linux"}`)
		}
	}))
	b := underTest{name: "Docker Engine", program: "docker", endpoint: endpoint}.backend(t)
	for _, c := range []struct {
		server, version string
		asked           int32
	}{{"Docker/1", "1", 1}, {"Docker/1", "1", 1}, {"Docker/2", "2", 2}, {"Docker/2", "2", 2}, {"", "3", 3}, {"", "4", 4}, {"Docker/2", "5", 5}} {
		server.Store(c.server)
		version.Store(c.version)
		id, err := b.Probe(within(t), runtime.ProbeRequest{})
		if err != nil || id.Version != c.version || asked.Load() != c.asked {
			t.Errorf("%+v: %+v, %v, asked %d times", c, id, err, asked.Load())
		}
	}
}
