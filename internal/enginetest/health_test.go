//go:build linux

package enginetest

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	sbx "github.com/sbxkit/sbxkit/runtime"
)

// checked is the test image with a health check that asks for the file /tmp/well; it needs no registry.
func (e engine) checked(t *testing.T, options string) string {
	t.Helper()
	text := fmt.Sprintf("FROM %s\nHEALTHCHECK %s CMD [\"test\", \"-e\", \"/tmp/well\"]\n", e.image, options)
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	if err := w.WriteHeader(&tar.Header{Name: "Dockerfile", Mode: 0o644, Size: int64(len(text))}); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	ref := fmt.Sprintf("sbxkit.invalid/checked-%s-%s:%d", e.program, e.via, time.Now().UnixNano())
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", strings.TrimPrefix(e.host, "unix://"))
	}}}
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://engine/v1.41/build?t="+ref, &archive)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-tar")
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	said, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK || bytes.Contains(said, []byte(`"error"`)) {
		t.Fatalf("building the image: %v, %s: %s", err, resp.Status, said)
	}
	e.forget(t, ref)
	return ref
}

// TestTheEnginesHealthCheckEndsTheStart waits for the check of an image, on an engine that runs it by itself and on one that has somebody else
// do it.
func TestTheEnginesHealthCheckEndsTheStart(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		t.Parallel()
		image := e.checked(t, "--interval=200ms --retries=2")
		ask := func(out *bytes.Buffer, text string) sbx.Launch {
			l := e.launch(out)
			l.Script = &sbx.Script{Interpreter: []string{"sh"}, Text: []byte(text)}
			l.Image.Ref, l.Ready = image, &sbx.Ready{Health: true}
			return l
		}
		t.Run("well", func(t *testing.T) {
			var out bytes.Buffer
			run, err := e.box.Launch(t.Context(), ask(&out, "touch /tmp/well; echo began; exec sleep 1000"))
			if err != nil {
				t.Fatalf("%v: %s", err, out.String())
			}
			var v struct {
				State struct{ Health struct{ Status string } }
			}
			if err := e.read(t.Context(), "/containers/"+run.Plan().Token.Name+"/json", &v); err != nil || v.State.Health.Status != "healthy" {
				t.Errorf("ready, and the engine says %q, %v", v.State.Health.Status, err)
			}
			if f := run.Facts(); f.Image == nil || !f.Image.Health {
				t.Errorf("the facts of the image are %+v", f.Image)
			}
			if err := run.Kill(t.Context()); err != nil {
				t.Error(err)
			}
			if _, err := run.Wait(t.Context()); err != nil {
				t.Error(err)
			}
		})
		t.Run("not well", func(t *testing.T) {
			var out bytes.Buffer
			res, err := e.box.Run(t.Context(), ask(&out, "exec sleep 1000"))
			if res.Outcome != sbx.TimedOut || res.Timeout != sbx.TimeoutStart || err == nil || !strings.Contains(err.Error(), "unhealthy") {
				t.Errorf("%v, %v", res, err)
			}
		})
		t.Run("an image without one", func(t *testing.T) {
			var out bytes.Buffer
			l := ask(&out, "exec sleep 1000")
			l.Image.Ref = e.image
			res, err := e.box.Run(t.Context(), l)
			if f := sbx.AsFailure(err, ""); res.Outcome != sbx.NeverRan || !errors.Is(err, sbx.ErrSetup) || f.Feature != "ready.health" || f.Cure == "" {
				t.Errorf("%v, %v", res, err)
			}
		})
	})
}
