package engine

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sbxkit/sbxkit/runtime"
)

// TestAPathTheEngineDoesNotSeeIsNeverAnothersOfTheSameName plans for an engine that nothing yet shows to be elsewhere, since the probe had no
// image to look through, and whose binds come from another tree.
func TestAPathTheEngineDoesNotSeeIsNeverAnothersOfTheSameName(t *testing.T) {
	eachEngine(t, func(t *testing.T, e underTest) {
		tree, other := t.TempDir(), t.TempDir()
		behind, _ := e.through(t, func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasSuffix(r.URL.Path, "/containers/create") {
				return false
			}
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			// Every bind is of the other tree.
			body = bytes.ReplaceAll(body, []byte(`"Source":"`), []byte(`"Source":"`+other))
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
			r.Header.Del("Content-Length")
			return false
		})
		if err := os.MkdirAll(filepath.Join(other, tree), 0o755); err != nil {
			t.Fatal(err)
		}
		b := behind.backend(t)
		id, err := b.Probe(within(t), runtime.ProbeRequest{})
		if err != nil || id.Remote {
			t.Fatalf("%+v, %v", id, err)
		}
		r := e.request("true")
		r.Mounts = []runtime.Mount{{Kind: runtime.MountBindRW, Source: tree, Target: "/in", Origin: "workspace"}}
		image, err := b.Ensure(within(t), r.Image, nil)
		if err != nil {
			t.Fatal(err)
		}
		p, err := b.Plan(runtime.PlanInput{Request: r, Identity: *id, Image: image})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.Prepare(within(t), p); !errors.Is(err, runtime.ErrUnsupported) || runtime.AsFailure(err, "").Feature != "workspace.bind-rw" {
			t.Errorf("%v, want Unsupported", err)
		}
		// The next probe knows.
		if id, err := b.Probe(within(t), runtime.ProbeRequest{}); err != nil || !id.Remote {
			t.Errorf("%+v, %v", id, err)
		}
	})
}
