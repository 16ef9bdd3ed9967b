package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/sbxkit/sbxkit/runtime"
)

// hardened asks for what the kernel keeps a record of.
func (e underTest) hardened(command ...string) *runtime.Request {
	r := e.request(command...)
	r.Hardening = runtime.Hardening{Capabilities: true, NoNewPrivileges: true, ReadOnlyRoot: true}
	r.Required = []string{"hardening.capabilities", "hardening.no-new-privileges", "hardening.read-only-root"}
	r.Limits.Memory, r.Limits.Processes = runtime.AtMost(64<<20), runtime.AtMost(50)
	return r
}

func TestWhatWasAskedIsMeasuredInTheKernel(t *testing.T) {
	eachEngine(t, func(t *testing.T, e underTest) {
		l := launch(t, e.backend(t), e.hardened("sleep", "1000"))
		if l.proc.Identity().PID == 0 || l.proc.Identity().StartTime == 0 {
			t.Errorf("identity %+v", l.proc.Identity())
		}
		for _, g := range l.proc.Guarantees() {
			want := runtime.MeasuredHolds
			if g.Name == "image" {
				want = runtime.MeasuredReadback // an engine's own word
			}
			if g.Measured != want {
				t.Errorf("%+v, want %s", g, want)
			}
		}
		if len(l.proc.Guarantees()) != len(l.plan.Claims) {
			t.Errorf("%d guarantees for %d claims", len(l.proc.Guarantees()), len(l.plan.Claims))
		}
	})
}

// rewriteBody changes one JSON request on its way to the engine.
func rewriteBody(t *testing.T, r *http.Request, change func(map[string]any)) {
	t.Helper()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Error(err)
		return
	}
	var v map[string]any
	if err := json.Unmarshal(body, &v); err != nil {
		t.Error(err)
		return
	}
	change(v)
	if body, err = json.Marshal(v); err != nil {
		t.Error(err)
		return
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
}

// TestAnEngineThatDropsWhatWasAskedIsRefused plays an engine that takes a request and makes less of it, without a warning.
func TestAnEngineThatDropsWhatWasAskedIsRefused(t *testing.T) {
	eachEngine(t, func(t *testing.T, e underTest) {
		for _, c := range []struct {
			field, feature string
		}{
			{"Memory", "limits.memory"}, {"PidsLimit", "limits.processes"}, {"CapDrop", "hardening.capabilities"},
			{"SecurityOpt", "hardening.no-new-privileges"}, {"ReadonlyRootfs", "hardening.read-only-root"}, {"NetworkMode", "network.none"},
		} {
			t.Run(c.field, func(t *testing.T) {
				lossy, _ := e.through(t, at("POST", "/containers/create", func(_ http.ResponseWriter, r *http.Request) bool {
					if strings.HasPrefix(r.URL.Query().Get("name"), "sbx-probe-") {
						return false
					}
					rewriteBody(t, r, func(v map[string]any) {
						host := v["HostConfig"].(map[string]any)
						delete(host, c.field)
						delete(host, "MemorySwap")
					})
					return false
				}))
				b := lossy.backend(t)
				r := e.hardened("sleep", "1000")
				id, err := b.Probe(within(t), runtime.ProbeRequest{})
				if err != nil {
					t.Fatal(err)
				}
				image, err := b.Ensure(within(t), r.Image, nil)
				if err != nil {
					t.Fatal(err)
				}
				p, err := b.Plan(runtime.PlanInput{Request: r, Identity: *id, Image: image})
				if err != nil {
					t.Fatal(err)
				}
				_, err = b.Prepare(within(t), p)
				if f := runtime.AsFailure(err, ""); !errors.Is(err, runtime.ErrSetup) || f.Feature != c.feature {
					t.Fatalf("%v (about %q), want Setup about %s", err, runtime.AsFailure(err, "").Feature, c.feature)
				}
				if _, err := b.links[lossy.endpoint].inspect(within(t), r.Run.Name()); !answered(err) {
					t.Errorf("the container after the refusal: %v", err)
				}
			})
		}
	})
}

// TestAnEngineThatLiesIsCaughtByTheKernel plays an engine that makes less than was asked and records all of it.
func TestAnEngineThatLiesIsCaughtByTheKernel(t *testing.T) {
	eachEngine(t, func(t *testing.T, e underTest) {
		lying, _ := e.through(t, func(w http.ResponseWriter, r *http.Request) bool {
			switch {
			case r.Method == "POST" && strings.HasSuffix(r.URL.Path, "/containers/create") && !strings.HasPrefix(r.URL.Query().Get("name"), "sbx-probe-"):
				rewriteBody(t, r, func(v map[string]any) { delete(v["HostConfig"].(map[string]any), "CapDrop") })
			case r.Method == "GET" && strings.HasSuffix(r.URL.Path, "/json") && strings.Contains(r.URL.Path, "/containers/"):
				return e.forge(t, w, r)
			}
			return false
		})
		b := lying.backend(t)
		l := prepare(t, b, e.hardened("sleep", "1000"))
		if err := l.stage(); err != nil {
			t.Fatal(err)
		}
		_, err := l.res.Start(within(t), &runtime.StartRequest{})
		if f := runtime.AsFailure(err, ""); !errors.Is(err, runtime.ErrUncertain) || f.Feature != "hardening.capabilities" {
			t.Fatalf("%v, want Uncertain about hardening.capabilities", err)
		}
		if i, err := b.links[lying.endpoint].inspect(within(t), l.plan.Token.Name); err != nil || state(i).Running {
			t.Errorf("the container still runs: %v", err)
		}
	})
}

// forge answers an inspect as the engine does, with every capability dropped.
func (e underTest) forge(t *testing.T, w http.ResponseWriter, r *http.Request) bool {
	t.Helper()
	client := &http.Client{Transport: unixTransport(t, e.endpoint)}
	resp, err := client.Get("http://engine" + r.URL.RequestURI())
	if err != nil {
		t.Error(err)
		return false
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Error(err)
		return false
	}
	if resp.StatusCode != http.StatusOK {
		w.WriteHeader(resp.StatusCode)
		_, _ = w.Write(body)
		return true
	}
	var v map[string]any
	if err := json.Unmarshal(body, &v); err != nil {
		t.Error(err)
		return false
	}
	v["HostConfig"].(map[string]any)["CapDrop"] = []string{"ALL"}
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(v); err != nil {
		t.Error(err)
	}
	return true
}

// TestCommandsThatEndAtOnceAreNotMistakenForBroken starts commands that are gone, or going, while they are looked at.
func TestCommandsThatEndAtOnceAreNotMistakenForBroken(t *testing.T) {
	eachEngine(t, func(t *testing.T, e underTest) {
		b := e.backend(t)
		for _, init := range []bool{false, true} {
			for n := range 8 {
				r := e.hardened("sh", "-c", "exit 3")
				r.Hardening.Init = init
				l := launch(t, b, r)
				if x := l.wait(); x.Code != 3 {
					t.Errorf("launch %d, init %v: %+v", n, init, x)
				}
			}
		}
	})
}
