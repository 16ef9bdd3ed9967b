//go:build linux

package enginetest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sbx "github.com/sbxkit/sbxkit/runtime"
)

// TestAnEngineThatSeesOtherFilesGetsTheWorkspaceByArchive stands before an engine and turns each bind's source into a directory of another
// tree, as a daemon in a virtual machine or on another host would find it.
func TestAnEngineThatSeesOtherFilesGetsTheWorkspaceByArchive(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		tree, exports := t.TempDir(), t.TempDir()
		if err := os.WriteFile(filepath.Join(tree, "given"), []byte("given\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		box := e.sandbox(e.elsewhere(), sbx.WithController(exportTo(exports)))
		var out bytes.Buffer
		l := e.launch(&out)
		l.Script = &sbx.Script{Interpreter: []string{"sh"}, Text: []byte("cat given; echo made > made; echo changed > given\n")}
		l.Workspace = &sbx.Workspace{Source: tree}
		l.Artifacts = &sbx.Artifacts{Paths: []string{"made"}}
		res, err := box.Run(t.Context(), l)
		if err != nil || !res.Success() || out.String() != "given\n" {
			t.Fatalf("%v, %v: %q", res, err, out.String())
		}
		if !res.Facts.Identity.Remote {
			t.Errorf("%+v does not see a planted file, and is taken for an engine of this host", res.Facts.Identity)
		}
		if b, err := os.ReadFile(filepath.Join(exports, "made")); err != nil || string(b) != "made\n" {
			t.Errorf("exported %q, %v", b, err)
		}
		if b, err := os.ReadFile(filepath.Join(tree, "given")); err != nil || string(b) != "given\n" {
			t.Errorf("the caller's file is %q, %v", b, err)
		}
		said := false
		for _, d := range res.Facts.Dropped {
			said = said || d.What == "workspace.bind-rw"
		}
		if !said {
			t.Errorf("the facts do not say that the workspace is a volume: %+v", res.Facts.Dropped)
		}
		for _, g := range res.Facts.Guarantees {
			if g.Measured == sbx.MeasuredHolds || g.Measured == sbx.MeasuredReadback {
				t.Errorf("%s of an engine elsewhere is taken for measured: %+v", g.Name, g)
			}
		}
		if volumes := e.get("/volumes"); strings.Contains(volumes, "workspace") {
			t.Errorf("a volume is left: %s", volumes)
		}

		if _, err := os.Stat("workspace"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a copy of the workspace is left in the controller's own directory: %v", err)
		}

		// What cannot be had is refused before anything is made, and never another file of the same name.
		for name, change := range map[string]func(*sbx.Launch){
			"workspace.bind-rw": func(l *sbx.Launch) { l.Workspace = &sbx.Workspace{Source: tree, Mode: sbx.WorkspaceBindRW} },
			"workspace.bind-ro": func(l *sbx.Launch) { l.Workspace = &sbx.Workspace{Source: tree, Mode: sbx.WorkspaceBindRO} },
			"mount.bind-ro":     func(l *sbx.Launch) { l.Mounts = []sbx.Mount{{Kind: sbx.MountBindRO, Source: tree, Target: "/in"}} },
			"mount.socket":      func(l *sbx.Launch) { l.Network = sbx.Network{Mode: sbx.NetworkEgress, Socket: "/run/proxy"} },
			"ready.port":        func(l *sbx.Launch) { l.Ready = &sbx.Ready{Port: 80} },
		} {
			l := e.launch(&out, "true")
			change(&l)
			_, err := box.Plan(t.Context(), l)
			if f := sbx.AsFailure(err, ""); !errors.Is(err, sbx.ErrUnsupported) || f.Feature != name || f.Cure == "" {
				t.Errorf("%s: %v (about %s), want Unsupported with a cure", name, err, f.Feature)
			}
		}
	})
}

// exportTo is a controller that keeps exports in a directory and imports nothing.
type exportTo string

func (d exportTo) ExportDir(context.Context, *sbx.Plan) (string, error) { return string(d), nil }
func (exportTo) Verify(context.Context, *sbx.Candidate) error           { return nil }
func (exportTo) Import(context.Context, *sbx.Candidate) error           { return nil }

// elsewhere serves the engine with every bind's source below a directory of its own.
func (e engine) elsewhere() string {
	dir := e.t.TempDir()
	return e.behind(func(request map[string]any) (string, error) { return "", moved(request, dir) })
}

// behind serves the engine on another socket; change sees each request to create a container first, and may refuse it with a message.
func (e engine) behind(change func(request map[string]any) (refuse string, err error)) string {
	e.t.Helper()
	dir, err := os.MkdirTemp("", "sbx") // a socket's path has at most 107 bytes (unix(7))
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() { _ = os.RemoveAll(dir) })
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		e.t.Fatal(err)
	}
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", strings.TrimPrefix(e.host, "unix://"))
	}}
	proxy := &httputil.ReverseProxy{
		Transport: transport, FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: "http", Host: "engine"}) },
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/containers/create") {
			var request map[string]any
			err := json.NewDecoder(r.Body).Decode(&request)
			refuse := ""
			if err == nil {
				refuse, err = change(request)
			}
			if err != nil {
				e.t.Error(err)
			}
			if refuse != "" {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusInternalServerError)
				_ = json.NewEncoder(w).Encode(map[string]string{"message": refuse})
				return
			}
			body, err := json.Marshal(request)
			if err != nil {
				e.t.Error(err)
			}
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
			r.Header.Del("Content-Length")
		}
		proxy.ServeHTTP(w, r)
	})}
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	e.t.Cleanup(func() {
		_ = server.Close()
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			e.t.Error(err)
		}
		transport.CloseIdleConnections()
	})
	return "unix://" + l.Addr().String()
}

// moved puts the sources of the binds in a request to create a container, Docker's or Podman's own, below dir.
func moved(request map[string]any, dir string) error {
	for _, x := range []struct {
		in             any
		list, key, tag string
	}{{request["HostConfig"], "Mounts", "Source", "Type"}, {request, "mounts", "source", "type"}} {
		holder, ok := x.in.(map[string]any)
		if !ok {
			continue
		}
		list, ok := holder[x.list].([]any)
		if !ok {
			continue
		}
		for _, m := range list {
			if m, ok := m.(map[string]any); ok && m[x.tag] == "bind" && m[x.key] != "/dev/null" {
				place := filepath.Join(dir, m[x.key].(string))
				if err := os.MkdirAll(place, 0o755); err != nil {
					return err
				}
				m[x.key] = place
			}
		}
	}
	return nil
}
