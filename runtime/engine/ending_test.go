package engine

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"

	"github.com/sbxkit/sbxkit/runtime"
)

// TestAnEndByTheMemoryLimitIsToldFromOthers covers what an engine's OOMKilled flag and exit status say together, and what neither says alone.
// A command that ends at once may end before it is watched: then it is not told for an end by the limit where the engine does not, but never
// without saying that nobody knows.
func TestAnEndByTheMemoryLimitIsToldFromOthers(t *testing.T) {
	hog := fmt.Sprintf("sbx-probe alloc %d", 256<<20)
	eachEngine(t, func(t *testing.T, e underTest) {
		b := e.backend(t)
		for _, c := range []struct {
			name    string
			command []string
			init    bool
			status  int
			oom     bool
		}{
			{"the command itself is killed at once", []string{"sh", "-c", "exec " + hog}, false, 137, true},
			{"the command under an init is killed at once", []string{"sh", "-c", "exec " + hog}, true, 137, true},
			{"the command itself is killed", []string{"sh", "-c", "sleep 0.3; exec " + hog}, false, 137, true},
			{"the command under an init is killed", []string{"sh", "-c", "sleep 0.3; exec " + hog}, true, 137, true},
			{"a child is killed, the command succeeds", []string{"sh", "-c", hog + "; exit 0"}, false, 0, false},
			{"a child is killed, the command fails", []string{"sh", "-c", hog + "; exit 9"}, true, 9, false},
			{"137 without a kill", []string{"sh", "-c", "exit 137"}, true, 137, false},
			{"killed by a signal", []string{"sh", "-c", "sleep 0.3; kill -9 $$"}, true, 137, false},
		} {
			t.Run(c.name, func(t *testing.T) {
				r := e.request(c.command...)
				r.Limits.Memory = runtime.AtMost(64 << 20)
				r.Hardening.Init = c.init
				x := launch(t, b, r).wait()
				unknown := strings.HasSuffix(c.name, "at once") && slices.Contains(x.Notes, noteUncounted)
				if status(x) != c.status || x.OOM != c.oom && !unknown || x.OOM && unknown {
					t.Errorf("%+v, want status %d, out of memory %v", x, c.status, c.oom)
				}
			})
		}
	})
}

func TestASignalIsToldFromAStatusWhereTheCommandLivedToBeWatched(t *testing.T) {
	eachEngine(t, func(t *testing.T, e underTest) {
		b := e.backend(t)
		for _, init := range []bool{false, true} {
			for _, c := range []struct {
				script string
				signal syscall.Signal
				code   int
			}{
				{"sleep 0.5; exec sbx-probe signal SEGV", syscall.SIGSEGV, -1},
				{"sleep 0.5; exit 139", 0, 139},
				{"sleep 0.5; exit 137", 0, 137},
			} {
				if c.signal != 0 && !init {
					continue // process 1 is not ended by a signal that it has no handler for
				}
				r := e.request("sh", "-c", c.script)
				r.Hardening.Init = init
				if x := launch(t, b, r).wait(); x.Signal != c.signal || x.Code != c.code {
					t.Errorf("%s, init %v: %+v", c.script, init, x)
				}
			}
		}
	})
}

// TestALateRecordOfTheStartMakesNoRunShorter reads the time of a command that slept for a second, started and not seen so by a busy engine until
// a tenth of it was over.
func TestALateRecordOfTheStartMakesNoRunShorter(t *testing.T) {
	began := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	ended := &container.InspectResponse{ContainerJSONBase: &container.ContainerJSONBase{State: &container.State{FinishedAt: "2026-12-01T12:00:01.01Z"}}}
	const recorded = 910 * time.Millisecond
	for _, c := range []struct {
		name   string
		record *container.InspectResponse
		began  time.Time
		remote bool
		want   time.Duration
	}{
		{"on this host", ended, began, false, 1010 * time.Millisecond},
		{"by another clock", ended, began, true, recorded},
		{"by a clock that was set back", ended, began.Add(time.Hour), false, recorded},
		{"by nobody's start", ended, time.Time{}, false, recorded},
		{"without an end", &container.InspectResponse{}, began, false, recorded},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := took(recorded, c.record, c.began, c.remote); got != c.want {
				t.Errorf("it took %v, want %v", got, c.want)
			}
		})
	}
}

func TestProcessOneThatIgnoresTermIsStillKilled(t *testing.T) {
	eachEngine(t, func(t *testing.T, e underTest) {
		r := e.request("sh", "-c", "trap '' TERM; echo ready; read x")
		r.Stdin = runtime.StdinPipe
		l := launch(t, e.backend(t), r)
		waitFor(t, "the command to ignore it", func() bool { return l.out.String() != "" })
		if err := l.proc.Signal(within(t), syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if err := l.res.Kill(within(t)); err != nil {
			t.Fatal(err)
		}
		if x := l.wait(); status(x) != 137 {
			t.Errorf("%+v", x)
		}
	})
}
