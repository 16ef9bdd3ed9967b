package engine

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	cerrdefs "github.com/containerd/errdefs"
)

// TestADescriptionThatFailsIsAskedForAgain plays an engine that cannot describe a container while something of it ends, for a moment or for
// good, and never takes that for its absence.
func TestADescriptionThatFailsIsAskedForAgain(t *testing.T) {
	for _, c := range []struct {
		name  string
		fails int
		there bool
		asked int
		gone  bool
	}{
		{name: "at once", there: true, asked: 1},
		{name: "once", fails: 1, there: true, asked: 2},
		{name: "always", fails: 1 << 30, there: true, asked: askTries},
		{name: "not there", fails: 1 << 30, asked: 1, gone: true},
	} {
		told := func(t *testing.T, l link, asked func() int) {
			t.Helper()
			i, err := l.inspect(within(t), "sbx-x")
			switch {
			case c.fails <= 1 && (err != nil || i.State == nil || !i.State.Running):
				t.Errorf("%+v, %v", i, err)
			case c.fails > 1 && (err == nil || !answered(err) || cerrdefs.IsNotFound(err) != c.gone):
				t.Errorf("%v, not there: %v", err, cerrdefs.IsNotFound(err))
			}
			if n := asked(); n != c.asked {
				t.Errorf("asked %d times, want %d", n, c.asked)
			}
		}
		t.Run(c.name+" api", func(t *testing.T) {
			var asked atomic.Int32
			endpoint, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Api-Version", "1.41")
				if !strings.HasSuffix(r.URL.Path, "/containers/sbx-x/json") {
					return
				}
				w.Header().Set("Content-Type", "application/json")
				switch n := int(asked.Add(1)); {
				case !c.there:
					w.WriteHeader(http.StatusNotFound)
					fmt.Fprint(w, `{"message":"no such container"}`)
				case n <= c.fails:
					w.WriteHeader(http.StatusInternalServerError)
					fmt.Fprint(w, `{"message":"read /proc/7/cgroup: no such process"}`)
				default:
					fmt.Fprint(w, `{"Id":"x","State":{"Running":true}}`)
				}
			}))
			l, err := underTest{name: podmanEngine, program: "podman", endpoint: endpoint}.backend(t).current()
			if err != nil {
				t.Fatal(err)
			}
			told(t, l, func() int { return int(asked.Load()) })
		})
		t.Run(c.name+" cli", func(t *testing.T) {
			dir := t.TempDir()
			listed := ""
			if c.there {
				listed = "x"
			}
			program := filepath.Join(dir, "podman")
			if err := os.WriteFile(program, fmt.Appendf(nil, `#!/bin/sh
cd "${0%%/*}" || exit 125
case "$*" in
*" container inspect sbx-x")
	echo asked >>asked
	[ $(grep -c . asked) -gt %d ] || exit 125
	echo '[{"Id":"x","State":{"Running":true}}]' ;;
*" container ls --all --quiet --no-trunc --filter name=^/?sbx-x$") echo %s ;;
*) exit 125 ;;
esac
`, c.fails, listed), 0o755); err != nil {
				t.Fatal(err)
			}
			b := underTest{name: podmanEngine, program: "podman", endpoint: "unix://" + filepath.Join(dir, "socket"), via: ViaCLI}.backend(t, func(d *Definition) {
				d.Options.Program = program
			})
			l, err := b.current()
			if err != nil {
				t.Fatal(err)
			}
			told(t, l, func() int {
				b, err := os.ReadFile(filepath.Join(dir, "asked"))
				if err != nil {
					t.Fatal(err)
				}
				return strings.Count(string(b), "asked")
			})
		})
	}
}

// TestAnUndescribedVolumeIsGoneOnlyByAList plays a program that describes no volume and no network of a list: one that the list still names is
// not left out of what is found.
func TestAnUndescribedVolumeIsGoneOnlyByAList(t *testing.T) {
	for _, what := range []string{"volume", "network"} {
		for _, c := range []struct {
			name, still string
			fails       bool
		}{{"still listed", "sbx-x", true}, {"another of a longer name", "sbx-xy", false}, {"gone", "", false}} {
			t.Run(what+" "+c.name, func(t *testing.T) {
				program := filepath.Join(t.TempDir(), "podman")
				if err := os.WriteFile(program, fmt.Appendf(nil, `#!/bin/sh
case "$*" in
*" %[1]s ls --filter label=l --format {{.Name}}") echo sbx-x ;;
*" %[1]s ls --filter name=sbx-x --format {{.Name}}") echo %[2]s ;;
*" container ls "*) ;;
*) exit 125 ;;
esac
`, what, c.still), 0o755); err != nil {
					t.Fatal(err)
				}
				b := underTest{name: podmanEngine, program: "podman", endpoint: "unix:///nowhere", via: ViaCLI}.backend(t, func(d *Definition) {
					d.Options.Program = program
				})
				l, err := b.current()
				if err != nil {
					t.Fatal(err)
				}
				find := l.findVolumes
				if what == "network" {
					find = l.findNetworks
				}
				if got, err := find(within(t), "l"); len(got) != 0 || (err != nil) != c.fails || cerrdefs.IsNotFound(err) {
					t.Errorf("%v, %v", got, err)
				}
			})
		}
	}
}
