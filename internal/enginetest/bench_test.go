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

// BenchmarkLaunchToRemoval launches /bin/true by the API to the confirmed removal of all of it, once without a journal and once with one, and in
// turn with both runs the same words with --rm by the engine's program, which keeps no record that outlives it.
//
// Where the time goes, in milliseconds of the median journalled launch on two processors:
//
//	         probe  plan  prepare  stage  charge  start  capture  remove
//	Docker     0.4   1.4     32.5    0.9     0.8  283.1     57.9    10.9  (20.10)
//	Podman     0.6   4.4     23.6    0.9     0.8  111.4     19.5    40.3  (4.3.1)
//
// Nearly all of it is the engine's own: making the container, starting it, telling its end, removing it. Ours are a ping, a look at the image,
// four looks at the engine's record (half a millisecond each, but for the first after the end, which waits until the engine has put the
// container away), the attestation, and the journal, whose record is on disk at the begin and end of each step: 0.4 each but for the first,
// which waits for the file system. Against the program, three times 25 on an otherwise idle machine: Docker 0.97, 0.94 and 0.89, and with the
// journal 1.00, 0.99 and 0.95; Podman once 0.83 and 0.82.
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
			ways := []struct {
				name string
				box  *sbx.Sandbox
				took []time.Duration
			}{{name: "launch"}, {name: "journalled"}}
			for i, options := range [][]sbx.Option{{}, {sbx.WithJournal(j), sbx.WithObserver(watch)}} {
				box, err := sbx.New(engine, options...)
				if err != nil {
					b.Fatal(err)
				}
				ways[i].box = box
				defer func() {
					if err := box.Close(); err != nil {
						b.Error(err)
					}
				}()
			}
			l := sbx.Launch{Argv: []string{"/bin/true"}, Image: sbx.Image{Ref: e.image}}
			var theirs []time.Duration
			for b.Loop() {
				p, err := ways[0].box.Plan(b.Context(), l)
				if err != nil {
					b.Fatal(err)
				}
				for i := range ways {
					began := time.Now()
					if res, err := ways[i].box.Run(b.Context(), l); err != nil || !res.Success() {
						b.Fatalf("%v, %v", res, err)
					}
					ways[i].took = append(ways[i].took, time.Since(began))
				}
				theirs = append(theirs, e.runAndRemove(b, p))
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(milliseconds(median(theirs)), "ms/run")
			for _, w := range ways {
				b.ReportMetric(milliseconds(median(w.took)), "ms/"+w.name)
				b.ReportMetric(float64(median(w.took))/float64(median(theirs)), w.name+"/run")
			}
			var steps bytes.Buffer
			for _, s := range []sbx.Step{sbx.StepProbe, sbx.StepPlan, sbx.StepPrepare, sbx.StepStage, sbx.StepCharge, sbx.StepStart, sbx.StepCapture, sbx.StepRemove} {
				if len(watch.took[s]) != 0 {
					fmt.Fprintf(&steps, "%s %.1f ms  ", s, milliseconds(median(watch.took[s])))
				}
			}
			b.Logf("%d times: %s", len(theirs), &steps)
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
