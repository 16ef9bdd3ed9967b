package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sbxkit/sbxkit/runtime"
)

// serve answers on a unix socket until the test ends, and gives its endpoint.
func serve(t *testing.T, h http.Handler) (endpoint string, stop func()) {
	t.Helper()
	// Not t.TempDir: a socket's path has at most 107 bytes (unix(7)).
	dir, err := os.MkdirTemp("", "sbx")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(h)
	s.Listener.Close()
	s.Listener = l
	var mu sync.Mutex
	var hijacked []net.Conn
	s.Config.ConnState = func(c net.Conn, state http.ConnState) {
		if state == http.StateHijacked {
			mu.Lock()
			hijacked = append(hijacked, c)
			mu.Unlock()
		}
	}
	s.Start()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			mu.Lock()
			for _, c := range hijacked {
				c.Close()
			}
			mu.Unlock()
			s.CloseClientConnections()
			s.Close()
		})
	}
	t.Cleanup(stop)
	return "unix://" + path, stop
}

// through is a daemon in front of a real engine: what intercept answers (true) does not reach it.
func (e underTest) through(t *testing.T, intercept func(w http.ResponseWriter, r *http.Request) bool) (_ underTest, die func()) {
	t.Helper()
	path := strings.TrimPrefix(e.endpoint, "unix://")
	var mu sync.Mutex
	var dialled []net.Conn
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		c, err := d.DialContext(ctx, "unix", path)
		if err == nil {
			mu.Lock()
			dialled = append(dialled, c)
			mu.Unlock()
		}
		return c, err
	}}
	t.Cleanup(transport.CloseIdleConnections)
	proxy := &httputil.ReverseProxy{
		Transport: transport, FlushInterval: -1,
		Rewrite:      func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: "http", Host: "engine"}) },
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
		ErrorLog:     nil,
	}
	endpoint, stop := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !intercept(w, r) {
			proxy.ServeHTTP(w, r)
		}
	}))
	e.endpoint, e.proxy = endpoint, proxy
	die = func() {
		mu.Lock()
		for _, c := range dialled {
			c.Close()
		}
		mu.Unlock()
		stop()
	}
	t.Cleanup(die)
	return e, die
}

// unixTransport speaks HTTP to an endpoint that is a unix socket.
func unixTransport(t *testing.T, endpoint string) *http.Transport {
	t.Helper()
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", strings.TrimPrefix(endpoint, "unix://"))
	}}
	t.Cleanup(transport.CloseIdleConnections)
	return transport
}

// hang holds a request until its client leaves, which a server sees only once it has read the request.
func hang(_ http.ResponseWriter, r *http.Request) bool {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return true
	}
	<-r.Context().Done()
	return true
}

// at makes an interception of one call.
func at(method, suffix string, do func(http.ResponseWriter, *http.Request) bool) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		return r.Method == method && strings.HasSuffix(r.URL.Path, suffix) && do(w, r)
	}
}

// impatient makes a backend's deadlines short, for daemons that never answer.
func impatient(b *Backend) *Backend {
	b.limit = deadlines{
		identify: 200 * time.Millisecond, look: 300 * time.Millisecond, change: 300 * time.Millisecond, start: time.Second, kill: 300 * time.Millisecond,
		remove: 500 * time.Millisecond, archive: 300 * time.Millisecond, poll: time.Millisecond, afterwards: 300 * time.Millisecond,
	}
	return b
}

func TestProbeTellsNoEngineFromOneThatFails(t *testing.T) {
	answer := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Api-Version", "1.41")
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		}
	}
	engine := func(name, api, osType string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Api-Version", api)
			switch {
			case strings.HasSuffix(r.URL.Path, "/version"):
				fmt.Fprintf(w, `{"Components":[{"Name":%q,"Version":"1.2.3"}]}`, name)
			case strings.HasSuffix(r.URL.Path, "/info"):
				fmt.Fprintf(w, `{"OSType":%q}`, osType)
			}
		}
	}
	for _, c := range []struct {
		name    string
		handler http.HandlerFunc // nil: nobody listens
		want    error            // nil: an identity
	}{
		{"no socket", nil, runtime.ErrUnsupported},
		{"hangs", func(w http.ResponseWriter, r *http.Request) { hang(w, r) }, runtime.ErrSetup},
		{"says 500", answer(500, `{"message":"out of order"}`), runtime.ErrSetup},
		{"is some other server", answer(200, "<html>welcome</html>"), runtime.ErrSetup},
		{"closes at once", func(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) }, runtime.ErrSetup},
		{"another engine", engine("Some Engine", "1.41", "linux"), runtime.ErrUnsupported},
		{"no name", engine("", "1.41", "linux"), runtime.ErrUnsupported},
		{"too old", engine("Engine", "1.24", "linux"), runtime.ErrUnsupported},
		{"another system", engine("Engine", "1.41", "windows"), runtime.ErrUnsupported},
		{"Docker", engine("Engine", "1.41", "linux"), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			endpoint := "unix:///no/such/socket"
			if c.handler != nil {
				endpoint, _ = serve(t, c.handler)
			}
			b := impatient(underTest{name: "Docker Engine", program: "docker", endpoint: endpoint}.backend(t))
			began := time.Now()
			id, err := b.Probe(within(t), runtime.ProbeRequest{})
			if c.want == nil {
				if err != nil || id.Engine != "Docker Engine" || id.Version != "1.2.3" || id.API != "1.41" {
					t.Fatalf("%+v, %v", id, err)
				}
				return
			}
			f := runtime.AsFailure(err, "")
			if !errors.Is(err, c.want) || f.Step != runtime.StepProbe || f.Cure == "" {
				t.Errorf("%v (cure %q), want %v with a cure", err, f.Cure, c.want)
			}
			if d := time.Since(began); d > 5*time.Second {
				t.Errorf("took %v", d)
			}
			t.Log(err)
		})
	}
}

func TestGarbageOnTheSocketIsSetup(t *testing.T) {
	dir, err := os.MkdirTemp("", "sbx")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte("\x00\xff\x01 not HTTP at all\r\n\r\n"))
			c.Close()
		}
	}()
	b := impatient(underTest{name: "Docker Engine", program: "docker", endpoint: "unix://" + filepath.Join(dir, "s")}.backend(t))
	if _, err := b.Probe(within(t), runtime.ProbeRequest{}); !errors.Is(err, runtime.ErrSetup) {
		t.Errorf("%v, want Setup", err)
	}
	// A socket nobody listens on any more.
	l.Close()
	if err := os.WriteFile(filepath.Join(dir, "plain"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	b = impatient(underTest{name: "Docker Engine", program: "docker", endpoint: "unix://" + filepath.Join(dir, "plain")}.backend(t))
	if _, err := b.Probe(within(t), runtime.ProbeRequest{}); !errors.Is(err, runtime.ErrUnsupported) {
		t.Errorf("%v, want Unsupported", err)
	}
}

func TestForbiddenSocketIsUnsupported(t *testing.T) {
	b := underTest{name: "Docker Engine", program: "docker"}.backend(t)
	err := b.unreached(within(t), endpoint{host: "unix:///s", from: "a test"}, &net.OpError{Op: "dial", Err: &os.SyscallError{Syscall: "connect", Err: fs.ErrPermission}})
	if !errors.Is(err, runtime.ErrUnsupported) || !strings.Contains(err.Error(), "permission") {
		t.Errorf("%v", err)
	}
}

// TestEveryCallIsBounded hangs one call after the other: each ends in time, with the kind that says what may be left.
func TestEveryCallIsBounded(t *testing.T) {
	eachEngine(t, func(t *testing.T, e underTest) {
		if e.program != "docker" {
			t.Skip("the deadlines are the same code for every engine")
		}
		for _, c := range []struct {
			name           string
			method, suffix string
			step           string
			want           error
			left           bool
		}{
			{"image", "GET", "/json", "ensure", runtime.ErrSetup, false},
			{"create", "POST", "/containers/create", "prepare", runtime.ErrUncertain, true},
			{"stat", "HEAD", "/archive", "stage", runtime.ErrSetup, false},
			{"attach", "POST", "/attach", "start", runtime.ErrSetup, false},
			{"wait", "POST", "/wait", "start", runtime.ErrSetup, false},
			{"start", "POST", "/start", "start", runtime.ErrUncertain, true},
			{"kill", "POST", "/kill", "kill", runtime.ErrUncertain, true},
			{"remove", "DELETE", "", "remove", runtime.ErrUncertain, true},
		} {
			t.Run(c.name, func(t *testing.T) {
				var mu sync.Mutex
				hanging := false
				behind, _ := e.through(t, at(c.method, c.suffix, func(w http.ResponseWriter, r *http.Request) bool {
					mu.Lock()
					h := hanging
					mu.Unlock()
					return h && hang(w, r)
				}))
				b := behind.backend(t)
				started := func(step string) {
					if step == c.step {
						impatient(b)
						for _, l := range b.links {
							l.(*api).limit = b.limit
						}
						mu.Lock()
						hanging = true
						mu.Unlock()
					}
				}
				began := time.Now()
				err := walk(t, b, e, started)
				if !errors.Is(err, c.want) {
					t.Fatalf("%v, want %v", err, c.want)
				}
				if f := runtime.AsFailure(err, ""); c.left != (len(f.Left) != 0) || c.left && !strings.Contains(f.Left[0].Settle, "docker") {
					t.Errorf("left %+v", f.Left)
				}
				if d := time.Since(began); d > 15*time.Second {
					t.Errorf("took %v", d)
				}
				t.Log(err)
			})
		}
	})
}

// walk takes a run through its steps and gives the first error; the engine itself cleans up behind the proxy.
func walk(t *testing.T, b *Backend, e underTest, step func(string)) error {
	ctx := within(t)
	r := e.request("sleep", "1000")
	clean := e.backend(t)
	t.Cleanup(func() {
		res, err := clean.Reopen(context.Background(), runtime.Token{Run: r.Run, Name: r.Run.Name(), Endpoint: e.endpoint})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := res.Remove(context.Background()); err != nil {
			t.Error(err)
		}
	})
	id, err := e.identify(ctx, b)
	if err != nil {
		return err
	}
	step("ensure")
	image, err := b.Ensure(ctx, r.Image, nil)
	if err != nil {
		return err
	}
	p, err := b.Plan(runtime.PlanInput{Request: r, Identity: *id, Image: image})
	if err != nil {
		return err
	}
	step("prepare")
	res, err := b.Prepare(ctx, p)
	if err != nil {
		return err
	}
	step("stage")
	if _, err := res.Stage(ctx, &runtime.Stage{}); err != nil {
		return err
	}
	step("start")
	proc, err := res.Start(ctx, &runtime.StartRequest{})
	if err != nil {
		return err
	}
	defer proc.(*process).close()
	step("kill")
	if err := res.Kill(ctx); err != nil {
		return err
	}
	step("remove")
	_, err = res.Remove(ctx)
	return err
}

// identify probes, unless the engine was probed before.
func (e underTest) identify(ctx context.Context, b *Backend) (*runtime.Identity, error) {
	if e.known == nil {
		return b.Probe(ctx, runtime.ProbeRequest{})
	}
	id := *e.known
	id.Endpoint = b.def.Options.Endpoint
	return &id, nil
}

func TestAnEngineThatDiesWhileTheCommandRunsIsUncertain(t *testing.T) {
	eachEngine(t, func(t *testing.T, e underTest) {
		dead, stop := e.through(t, func(http.ResponseWriter, *http.Request) bool { return false })
		b := dead.backend(t)
		r := e.request("sleep", "1000")
		clean := e.backend(t)
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
		res, err := b.Prepare(within(t), p)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			res, err := clean.Reopen(context.Background(), runtime.Token{Run: r.Run, Name: r.Run.Name(), Endpoint: e.endpoint})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := res.Remove(context.Background()); err != nil {
				t.Error(err)
			}
		})
		proc, err := res.Start(within(t), &runtime.StartRequest{})
		if err != nil {
			t.Fatal(err)
		}
		stop()
		x, err := proc.Wait(within(t), time.Second)
		if x != nil || !errors.Is(err, runtime.ErrUncertain) {
			t.Errorf("%+v, %v; want Uncertain", x, err)
		}
		t.Log(err)
		if _, err := res.Remove(within(t)); !errors.Is(err, runtime.ErrUncertain) {
			t.Errorf("removal behind a dead engine: %v", err)
		}
	})
}

func TestAContainerThatVanishesIsUncertain(t *testing.T) {
	eachEngine(t, func(t *testing.T, e underTest) {
		l := launch(t, e.backend(t), e.request("sleep", "1000"))
		other, err := e.backend(t).Reopen(within(t), l.res.Token())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := other.Remove(within(t)); err != nil {
			t.Fatal(err)
		}
		x, err := l.proc.Wait(within(t), time.Second)
		if x != nil || !errors.Is(err, runtime.ErrUncertain) {
			t.Errorf("%+v, %v; want Uncertain", x, err)
		}
	})
}
