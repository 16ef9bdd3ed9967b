//go:build linux

package enginetest

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sbxkit/sbxkit/internal/testhost"
	sbx "github.com/sbxkit/sbxkit/runtime"
	driver "github.com/sbxkit/sbxkit/runtime/engine"
	"github.com/sbxkit/sbxkit/runtime/journal"
)

// stopwatch takes the time of each step.
type stopwatch struct {
	mu    sync.Mutex
	began map[sbx.Step]time.Time
	took  map[sbx.Step][]time.Duration
}

func (s *stopwatch) Event(e sbx.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case e.Result != nil:
	case e.State == "":
		s.began[e.Step] = time.Now()
	default:
		s.took[e.Step] = append(s.took[e.Step], time.Since(s.began[e.Step]))
	}
}

func median(all []time.Duration) time.Duration {
	all = slices.Sorted(slices.Values(all))
	return all[len(all)/2]
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// BenchmarkLaunchToRemoval launches /bin/true by the API to the confirmed removal of all of it, journal included, and in turn with that runs
// the same words with --rm by the engine's program.
//
// Where the time goes, in milliseconds of the median launch on two processors that others used too:
//
//	         probe  plan  prepare  stage  charge  start  capture  remove
//	Docker     0.3   0.8     41.0    0.9     0.9  246.9     60.1    32.4  (20.10)
//	Podman     0.4   2.4     38.3    0.7     0.8  118.0     17.8    59.9  (4.3.1)
//
// Nearly all of it is the engine's own: making the container, starting it, telling its end, removing it. Ours are a ping, a look at the image,
// four looks at the engine's record (half a millisecond each, but for the first after the end, which waits until the engine has put the
// container away), the attestation, and the journal, whose record is on disk at the begin and end of each step: 0.4 each but for the first,
// which waits for the file system. Against the program, 20 to 40 pairs at a time beside ten to twenty other processes: Docker 0.84, 0.91, 1.01,
// 1.03, 1.03 and 1.05; Podman 0.89, and 1.42 once, beside other tests of its service.
func BenchmarkLaunchToRemoval(b *testing.B) {
	for _, e := range []engine{{program: "docker"}, {program: "podman"}} {
		b.Run(e.program, func(b *testing.B) {
			find := testhost.Docker
			if e.program == "podman" {
				find = testhost.Podman
			}
			e.via = driver.ViaAPI
			e.host, e.image = find(b)
			j, err := journal.Open(b.Context(), filepath.Join(b.TempDir(), "state"))
			if err != nil {
				b.Fatal(err)
			}
			engine, err := e.backend(e.host)
			if err != nil {
				b.Fatal(err)
			}
			watch := &stopwatch{began: map[sbx.Step]time.Time{}, took: map[sbx.Step][]time.Duration{}}
			box, err := sbx.New(engine, sbx.WithJournal(j), sbx.WithObserver(watch))
			if err != nil {
				b.Fatal(err)
			}
			defer func() {
				if err := box.Close(); err != nil {
					b.Error(err)
				}
			}()
			l := sbx.Launch{Argv: []string{"/bin/true"}, Image: sbx.Image{Ref: e.image}}
			var ours, theirs []time.Duration
			for b.Loop() {
				p, err := box.Plan(b.Context(), l)
				if err != nil {
					b.Fatal(err)
				}
				began := time.Now()
				if res, err := box.Run(b.Context(), l); err != nil || !res.Success() {
					b.Fatalf("%v, %v", res, err)
				}
				ours = append(ours, time.Since(began))
				theirs = append(theirs, e.runAndRemove(b, p))
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(milliseconds(median(ours)), "ms/launch")
			b.ReportMetric(milliseconds(median(theirs)), "ms/run")
			b.ReportMetric(float64(median(ours))/float64(median(theirs)), "launch/run")
			var steps bytes.Buffer
			for _, s := range []sbx.Step{sbx.StepProbe, sbx.StepPlan, sbx.StepPrepare, sbx.StepStage, sbx.StepCharge, sbx.StepStart, sbx.StepCapture, sbx.StepRemove} {
				if len(watch.took[s]) != 0 {
					fmt.Fprintf(&steps, "%s %.1f ms  ", s, milliseconds(median(watch.took[s])))
				}
			}
			b.Logf("%d pairs: %s", len(ours), &steps)
		})
	}
}

// runAndRemove runs the printed words with --rm and gives the time that took.
func (e engine) runAndRemove(b *testing.B, p *sbx.Plan) time.Duration {
	b.Helper()
	//sbx:allow rawshell the printed line is for a person's shell
	shell := exec.CommandContext(b.Context(), "/bin/sh", "-c", "exec env "+strings.Replace(p.String(), " "+e.program+" run ", " "+e.program+" run --rm ", 1))
	shell.Env = reader()
	for _, v := range p.Environment {
		if !v.Public {
			shell.Env = append(shell.Env, v.Name+"="+v.Value)
		}
	}
	began := time.Now()
	if out, err := shell.CombinedOutput(); err != nil {
		b.Fatalf("%s: %v: %s", p, err, out)
	}
	return time.Since(began)
}
