//go:build linux

package crashtest

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sbxkit/sbxkit/generated/docker"
	"github.com/sbxkit/sbxkit/generated/podman"
	"github.com/sbxkit/sbxkit/internal/testhost"
	sbx "github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/journal"
)

// way is a socket that leads to an engine while it is up. Down, it is what a client sees of an engine that was stopped: nobody listens, and
// every connection is gone.
type way struct {
	t      *testing.T
	path   string
	engine string

	mu       sync.Mutex
	listener net.Listener
	open     map[net.Conn]bool
	running  sync.WaitGroup
}

func wayTo(t *testing.T, host string) *way {
	t.Helper()
	dir, err := os.MkdirTemp("", "sbx") // a socket's path has room for about a hundred bytes
	if err != nil {
		t.Fatal(err)
	}
	w := &way{t: t, path: filepath.Join(dir, "s"), engine: strings.TrimPrefix(host, "unix://"), open: map[net.Conn]bool{}}
	t.Cleanup(func() {
		w.down()
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	w.up()
	return w
}

func (w *way) up() {
	l, err := net.Listen("unix", w.path)
	if err != nil {
		w.t.Fatal(err)
	}
	w.mu.Lock()
	w.listener = l
	w.mu.Unlock()
	w.running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			e, err := net.Dial("unix", w.engine)
			if err != nil {
				c.Close()
				continue
			}
			w.mu.Lock()
			w.open[c], w.open[e] = true, true
			w.mu.Unlock()
			w.running.Go(func() { w.pass(c, e) })
			w.running.Go(func() { w.pass(e, c) })
		}
	})
}

// pass copies one direction, and half-closes where it ends.
func (w *way) pass(to, from net.Conn) {
	_, err := io.Copy(to, from)
	if cerr := to.(*net.UnixConn).CloseWrite(); err != nil || cerr != nil {
		to.Close() // the other side has left
	}
}

func (w *way) down() {
	w.mu.Lock()
	if w.listener != nil {
		w.listener.Close() // and the socket's file with it
		w.listener = nil
	}
	for c := range w.open {
		c.Close()
	}
	clear(w.open)
	w.mu.Unlock()
	w.running.Wait()
}

// TestAnEngineThatGoesAndComesBackIsReconciled: its end is uncertain and nothing can be removed while it is away; the record stays, and once
// the engine is back one reconcile settles the run, and the next has nothing to do.
func TestAnEngineThatGoesAndComesBackIsReconciled(t *testing.T) {
	for name, find := range map[string]func(testing.TB) (string, string){"docker": testhost.Docker, "podman": testhost.Podman} {
		t.Run(name, func(t *testing.T) {
			host, image := find(t)
			w := wayTo(t, host)
			at := func(endpoint string) sbx.Backend {
				t.Helper()
				var b sbx.Backend
				var err error
				if name == "docker" {
					b, err = docker.New(docker.Options{Endpoint: endpoint})
				} else {
					b, err = podman.New(podman.Options{Endpoint: endpoint})
				}
				if err != nil {
					t.Fatal(err)
				}
				return b
			}
			j, err := journal.Open(t.Context(), filepath.Join(t.TempDir(), "state"))
			if err != nil {
				t.Fatal(err)
			}
			box, err := sbx.New(at("unix://"+w.path), sbx.WithJournal(j), sbx.WithRemoveTimeout(2*time.Second))
			if err != nil {
				t.Fatal(err)
			}
			defer closing(t, box)

			l := sbx.Launch{Argv: []string{"sleep", "1000"}}
			l.Image.Ref = image
			run, err := box.Launch(t.Context(), l)
			if err != nil {
				t.Fatal(err)
			}
			w.down()
			res, err := run.Wait(t.Context())
			if !errors.Is(err, sbx.ErrUncertain) || res.Success() || res.Outcome != sbx.UncertainOutcome {
				t.Errorf("with the engine away: %v, %v", res, err)
			}
			if f := sbx.AsFailure(err, ""); len(f.Left) == 0 || !strings.Contains(f.Left[0].Settle, name) {
				t.Errorf("what is left is not said with the command that settles it: %+v", f.Left)
			}

			// Away, nothing is settled, nothing is forgotten.
			rep, err := box.Reconcile(t.Context(), sbx.ReconcileOptions{})
			settled := rep != nil && len(rep.Runs) == 1 && rep.Runs[0].Removed
			if failed := err != nil || rep != nil && len(rep.Runs) == 1 && rep.Runs[0].Failure != nil; settled || !failed {
				t.Errorf("reconciled with the engine away: %+v, %v", rep, err)
			}
			if left := runDirs(t, j.Dir()); len(left) != 1 {
				t.Errorf("records %v, want the run's", left)
			}

			w.up()
			dry, err := box.Reconcile(t.Context(), sbx.ReconcileOptions{DryRun: true})
			if err != nil || len(dry.Runs) != 1 || dry.Runs[0].Removed {
				t.Errorf("a dry run: %+v, %v", dry, err)
			}
			rep, err = box.Reconcile(t.Context(), sbx.ReconcileOptions{})
			if err != nil || len(rep.Runs) != 1 || !rep.Runs[0].Removed || !rep.Runs[0].Charged {
				t.Fatalf("reconciled with the engine back: %+v, %v", rep, err)
			}
			if again, err := box.Reconcile(t.Context(), sbx.ReconcileOptions{}); err != nil || len(again.Runs) != 0 {
				t.Errorf("a second reconcile: %+v, %v", again, err)
			}
			if left := runDirs(t, j.Dir()); len(left) != 0 {
				t.Errorf("records %v are left", left)
			}
			// And the engine itself, asked without a way between, has nothing of this owner.
			direct := at(host)
			defer closing(t, direct.(sbx.Closer))
			found, _, err := direct.(sbx.Reconciler).Find(t.Context(), j.Owner())
			if err != nil || len(found) != 0 {
				t.Errorf("the engine still has %+v, %v", found, err)
			}
		})
	}
}

func closing(t *testing.T, c sbx.Closer) {
	t.Helper()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
