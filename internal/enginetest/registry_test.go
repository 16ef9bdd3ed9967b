//go:build linux

package enginetest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"sync"
	"testing"

	"github.com/sbxkit/sbxkit/internal/testhost"
)

// registry is an image registry on the loopback that can be pulled from (OCI distribution specification, the pull half). Its images are the
// toolbox, each with a label of its own.
type registry struct {
	t    *testing.T
	host string

	mu    sync.Mutex
	blobs map[string][]byte // by digest
	tags  map[string]string // digest of a manifest, by tag
	asked int               // manifests asked for
	stop  func()
}

func newRegistry(t *testing.T) *registry {
	t.Helper()
	r := &registry{t: t, blobs: map[string][]byte{}, tags: map[string]string{}}
	s := httptest.NewServer(r)
	r.host, r.stop = strings.TrimPrefix(s.URL, "http://"), s.Close
	t.Cleanup(s.Close)
	return r
}

// ref is a reference to a tag, or to a digest.
func (r *registry) ref(tag string) string {
	if strings.HasPrefix(tag, "sha256:") {
		return r.host + "/sbx/toolbox@" + tag
	}
	return r.host + "/sbx/toolbox:" + tag
}

func (r *registry) put(b []byte) (digest string) {
	digest = fmt.Sprintf("sha256:%x", sha256.Sum256(b))
	r.blobs[digest] = b
	return digest
}

const (
	manifestType = "application/vnd.oci.image.manifest.v1+json"
	configType   = "application/vnd.oci.image.config.v1+json"
	layerType    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

// push makes an image that no other is like and gives the digest of its manifest.
func (r *registry) push(tag string) (digest string) {
	r.t.Helper()
	layer, plain := toolboxLayer(r.t)
	unlike := rand.Text()
	config, err := json.Marshal(map[string]any{
		"os": "linux", "architecture": goruntime.GOARCH, "rootfs": map[string]any{"type": "layers", "diff_ids": []string{plain}},
		"config": map[string]any{"Env": []string{"PATH=/bin"}, "WorkingDir": "/", "Labels": map[string]string{"unlike": unlike}},
	})
	if err != nil {
		r.t.Fatal(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	manifest, err := json.Marshal(map[string]any{
		"schemaVersion": 2, "mediaType": manifestType,
		"config": map[string]any{"mediaType": configType, "size": len(config), "digest": r.put(config)},
		"layers": []any{map[string]any{"mediaType": layerType, "size": len(layer), "digest": r.put(layer)}},
	})
	if err != nil {
		r.t.Fatal(err)
	}
	digest = r.put(manifest)
	r.tags[tag] = digest
	return digest
}

// manifests counts what was asked for since the last count.
func (r *registry) manifests() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := r.asked
	r.asked = 0
	return n
}

func (r *registry) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	kind, name, _ := strings.Cut(strings.TrimPrefix(q.URL.Path, "/v2/sbx/toolbox/"), "/")
	media := "application/octet-stream"
	switch {
	case q.URL.Path == "/v2/":
		return
	case q.Method != http.MethodGet && q.Method != http.MethodHead:
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	case kind == "manifests":
		r.asked++
		media = manifestType
		if d, ok := r.tags[name]; ok {
			name = d
		}
	}
	b, ok := r.blobs[name]
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"errors":[{"code":"MANIFEST_UNKNOWN","message":"not here"}]}`)
		return
	}
	w.Header().Set("Content-Type", media)
	w.Header().Set("Docker-Content-Digest", name)
	w.Header().Set("Content-Length", fmt.Sprint(len(b)))
	if q.Method == http.MethodGet {
		_, _ = w.Write(b)
	}
}

// toolboxLayer gives the toolbox's tree as a compressed layer, and the digest of what is in it.
func toolboxLayer(t *testing.T) (layer []byte, plain string) {
	t.Helper()
	_, root := testhost.Toolbox(t)
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	h := sha256.New()
	archive := tar.NewWriter(io.MultiWriter(z, h))
	if err := archive.AddFS(os.DirFS(root)); err != nil {
		t.Fatal(err)
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes(), fmt.Sprintf("sha256:%x", h.Sum(nil))
}

// trusting gives an engine that speaks plain HTTP to registries of the loopback. Docker does by itself; Podman is one more service of the same
// store, with a configuration that says so.
func (e engine) trusting(t *testing.T) engine {
	t.Helper()
	if e.program == "docker" {
		return e
	}
	dir, err := os.MkdirTemp("", "sbx") // not t.TempDir: a socket's path has at most 107 bytes (unix(7))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	conf := filepath.Join(dir, "registries.conf")
	if err := os.WriteFile(conf, []byte("[[registry]]\nlocation = \"127.0.0.1\"\ninsecure = true\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "s")
	service := exec.Command(e.program, "system", "service", "--time=0", "unix://"+socket)
	service.Env = append(reader(), "CONTAINERS_REGISTRIES_CONF="+conf)
	service.Dir = dir
	if err := service.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := service.Process.Kill(); err != nil {
			t.Error(err)
		}
		_ = service.Wait() // it was killed
	})
	e.host = "unix://" + socket
	eventually(t, "the service answers", func() bool {
		var v struct{}
		return e.read(t.Context(), "/version", &v) == nil
	})
	e.box = e.sandbox(e.host)
	return e
}
