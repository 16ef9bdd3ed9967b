//go:build linux

package enginetest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	driver "github.com/sbxkit/sbxkit/runtime/engine"
)

// TestARootlessEnginesSocketIsFound puts the engine's socket where a rootless engine has it, with nothing said of it.
func TestARootlessEnginesSocketIsFound(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		dir, err := os.MkdirTemp("", "sbx") // a socket's path has at most 107 bytes (unix(7))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		socket := filepath.Join(dir, map[string]string{"docker": "docker.sock", "podman": "podman/podman.sock"}[e.program])
		if err := os.MkdirAll(filepath.Dir(socket), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(strings.TrimPrefix(e.host, "unix://"), socket); err != nil {
			t.Fatal(err)
		}
		t.Setenv("XDG_RUNTIME_DIR", dir)
		t.Setenv("DOCKER_HOST", "")
		t.Setenv("CONTAINER_HOST", "")
		t.Setenv("DOCKER_CONFIG", t.TempDir())
		e.box = e.sandbox("")
		if out := e.shell("echo found", nil); out != "found" {
			t.Errorf("the run says %q", out)
		}
		id, err := e.box.Probe(t.Context())
		if err != nil || id.Endpoint != "unix://"+socket {
			t.Errorf("the engine at %+v, %v", id, err)
		}
	}, driver.ViaAPI)
}
