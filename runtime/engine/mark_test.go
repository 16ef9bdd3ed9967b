package engine

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

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

// TestPodmanIsNotAskedForAVersionThatItsPingTells: both headers have to say the same, and what says less is asked.
func TestPodmanIsNotAskedForAVersionThatItsPingTells(t *testing.T) {
	var headers atomic.Pointer[map[string]string]
	var asked atomic.Int32
	endpoint, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range *headers.Load() {
			w.Header().Set(name, value)
		}
		switch {
		case strings.HasSuffix(r.URL.Path, "/version"):
			asked.Add(1)
			fmt.Fprint(w, `{"Components":[{"Name":"Podman Engine","Version":"asked"}]}`)
		case strings.HasSuffix(r.URL.Path, "/info"):
			fmt.Fprint(w, `{"OSType":"linux"}`)
		}
	}))
	b := underTest{name: podmanEngine, program: "podman", endpoint: endpoint}.backend(t)
	for _, c := range []struct {
		name, server, api, libpod string
		version                   string
		asked                     int32
	}{
		{"both headers", "Libpod/4.3.1 (linux)", "1.41", "4.3.1", "4.3.1", 0},
		{"upgraded meanwhile", "Libpod/5.0.0-rc1 (linux)", "1.41", "5.0.0", "5.0.0-rc1", 0},
		{"no header of its own", "Libpod/4.3.1 (linux)", "1.41", "", "asked", 1},
		{"another server's header", "nginx/1.22", "1.41", "4.3.1", "asked", 2},
		{"no server", "", "1.41", "4.3.1", "asked", 3},
		{"a server without a version", "Libpod (linux)", "1.41", "4.3.1", "asked", 4},
		{"both headers again", "Libpod/4.3.1 (linux)", "1.41", "4.3.1", "4.3.1", 4},
	} {
		headers.Store(&map[string]string{"Server": c.server, "Api-Version": c.api, "Libpod-Api-Version": c.libpod})
		id, err := b.Probe(within(t), runtime.ProbeRequest{})
		if err != nil || id.Engine != podmanEngine || id.Version != c.version || id.API != "1.41" || asked.Load() != c.asked {
			t.Errorf("%s: %+v, %v, asked %d times", c.name, id, err, asked.Load())
		}
	}
}

// TestAPodmanServiceIsAskedForItsVersionOnceWhileItIsTheSame counts the same question by the program: while the socket is the same one, an
// engine answers at it, and not for longer than a minute.
func TestAPodmanServiceIsAskedForItsVersionOnceWhileItIsTheSame(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	write := func(name, text string, mode os.FileMode) {
		t.Helper()
		if err := os.WriteFile(file(name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	listen := func() {
		t.Helper()
		if err := os.Remove(file("socket")); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		l, err := net.Listen("unix", file("socket"))
		if err != nil {
			t.Fatal(err)
		}
		l.(*net.UnixListener).SetUnlinkOnClose(false)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	write("podman", `#!/bin/sh
cd "${0%/*}" || exit 125
case "$*" in
*" version "*) echo asked >>asked; cat version ;;
*" info "*) echo '{"host":{"os":"linux"}}' ;;
*" container ls "*) [ ! -e silent ] ;;
*) exit 125 ;;
esac
`, 0o755)
	b := underTest{name: podmanEngine, program: "podman", endpoint: "unix://" + file("socket"), via: ViaCLI}.backend(t, func(d *Definition) {
		d.Options.Program = file("podman")
	})
	link := func() *cli {
		l, err := b.current()
		if err != nil {
			t.Fatal(err)
		}
		return l.(*cli)
	}
	nothing := func() {}
	for _, c := range []struct {
		name, engine string
		before       func()
		asked        int
	}{
		{"at first", podmanEngine, listen, 1},
		{"the same again", podmanEngine, nothing, 1},
		{"another socket in its place", podmanEngine, listen, 2},
		{"the same again", podmanEngine, nothing, 2},
		{"nobody answers", podmanEngine, func() { write("silent", "", 0o644) }, 3},
		{"somebody does again", podmanEngine, func() {
			if err := os.Remove(file("silent")); err != nil {
				t.Fatal(err)
			}
		}, 3},
		{"a minute later", podmanEngine, func() { link().met.Load().at = time.Now().Add(-proofAge) }, 4},
		{"an engine whose answer is cheap", "Engine", listen, 5},
		{"the same again", "Engine", nothing, 6},
	} {
		c.before()
		version := fmt.Sprintf("4.%d", c.asked)
		// As each program prints it.
		answer := fmt.Sprintf(`{"Client":{"Version":"4.3"},"Server":{"APIVersion":%[1]q,"Version":%[1]q,"OsArch":"linux/amd64"}}`, version)
		if c.engine != podmanEngine {
			answer = fmt.Sprintf(`{"Server":{"ApiVersion":"1.41","Components":[{"Name":%q,"Version":%q}]}}`, c.engine, version)
		}
		write("version", answer, 0o644)
		id, err := b.Probe(within(t), runtime.ProbeRequest{})
		if c.engine != podmanEngine {
			if !errors.Is(err, runtime.ErrUnsupported) {
				t.Errorf("%s: %v", c.name, err)
			}
		} else if err != nil || id.Version != version {
			t.Errorf("%s: %+v, %v, want version %s", c.name, id, err, version)
		}
		asked, err := os.ReadFile(file("asked"))
		if n := strings.Count(string(asked), "asked"); err != nil || n != c.asked {
			t.Errorf("%s: asked %d times, want %d, %v", c.name, n, c.asked, err)
		}
	}
}
