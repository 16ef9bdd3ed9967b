package engine

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"testing"

	cerrdefs "github.com/containerd/errdefs"

	"github.com/sbxkit/sbxkit/runtime"
)

// TestWhatIsStillBeingMadeIsRemovedToo asks an engine for a container as a controller does that dies at once, and removes the run while the
// engine is at it: when the engine has answered, nothing is there.
func TestWhatIsStillBeingMadeIsRemovedToo(t *testing.T) {
	eachEngine(t, func(t *testing.T, e underTest) {
		b := e.backend(t)
		image, err := b.Ensure(within(t), runtime.Image{Ref: e.image}, nil)
		if err != nil {
			t.Fatal(err)
		}
		late := 0
		for range 10 {
			r := e.request("true")
			volume := r.Run.Name() + "-stage"
			r.Mounts = []runtime.Mount{{Kind: runtime.MountVolume, Source: volume, Target: "/v"}}
			c := createByHand(r)
			c.Config.Labels = map[string]string{labelRun: r.Run.ID, labelOwner: r.Run.Owner}
			body, err := json.Marshal(struct {
				*Config
				HostConfig *HostConfig
			}{c.Config, c.HostConfig})
			if err != nil {
				t.Fatal(err)
			}
			req, err := http.NewRequest(http.MethodPost, "http://engine/v1.41/containers/create?name="+r.Run.Name(), bytes.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Content-Type", "application/json")
			conn, err := net.Dial("unix", strings.TrimPrefix(e.endpoint, "unix://"))
			if err != nil {
				t.Fatal(err)
			}
			if err := req.Write(conn); err != nil {
				t.Fatal(err)
			}
			token := runtime.Token{Backend: e.program, Run: r.Run, Name: r.Run.Name(), Endpoint: e.endpoint, Image: image.ID, Volumes: []string{volume}, Unfinished: true}
			res, err := b.Reopen(within(t), token)
			if err != nil {
				t.Fatal(err)
			}
			if d, err := res.Remove(within(t)); err != nil || !d.Confirmed {
				t.Fatalf("%+v, %v", d, err)
			}
			resp, err := http.ReadResponse(bufio.NewReader(conn), req)
			if err != nil {
				t.Fatal(err)
			}
			if resp.StatusCode == http.StatusCreated {
				late++
			}
			if err := resp.Body.Close(); err != nil {
				t.Fatal(err)
			}
			if err := conn.Close(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if _, err := res.Remove(within(t)); err != nil {
					t.Error(err)
				}
			})
			l := b.links[e.endpoint]
			if _, err := l.inspect(within(t), r.Run.Name()); !cerrdefs.IsNotFound(err) {
				t.Errorf("the container is there: %v", err)
			}
			if err := l.removeVolume(within(t), volume); !cerrdefs.IsNotFound(err) {
				t.Errorf("the volume is there: %v", err)
			}
		}
		t.Logf("of 10 containers the engine made %d", late)
	})
}
