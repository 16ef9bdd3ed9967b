package process

import (
	"context"
	"io"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/sbxkit/sbxkit/runtime"
)

// BenchmarkLaunchAgainstBareProgram launches the same command, with the same words, through the seam (gate, limits, every guarantee
// measured at both stops, teardown confirmed) and by os/exec, one after the other, and reports the ratio of the medians. The seam's must be
// at most 1.35 of the bare one's.
func BenchmarkLaunchAgainstBareProgram(b *testing.B) {
	d := bwrapDefinition()
	be := backend(b, d)
	l := runtime.Launch{Argv: []string{"true"}}
	l.Limits = runtime.Limits{OpenFiles: runtime.AtMost(256), Core: runtime.AtMost(0), FileSize: runtime.AtMost(1 << 30)}
	var bare, seam []time.Duration
	probe(b, be)
	for b.Loop() {
		p := plan(b, be, l, runtime.RunName{})
		began := time.Now()
		launchOnce(b, be, p)
		seam = append(seam, time.Since(began))

		words := bareWords(p)
		began = time.Now()
		cmd := exec.Command(words[0], words[1:]...)
		cmd.Env = []string{}
		cmd.Stdout, cmd.Stderr = io.Discard, io.Discard
		var out, errs discard
		cmd.Stdout, cmd.Stderr = &out, &errs
		if err := cmd.Run(); err != nil {
			b.Fatal(err)
		}
		bare = append(bare, time.Since(began))
	}
	b.ReportMetric(float64(median(seam))/float64(median(bare)), "ratio")
	b.ReportMetric(float64(median(seam).Microseconds()), "seam-µs")
	b.ReportMetric(float64(median(bare).Microseconds()), "bare-µs")
}

type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }

func launchOnce(b testing.TB, be *Backend, p *runtime.Plan) {
	ctx := context.Background()
	res, err := be.Prepare(ctx, p)
	if err != nil {
		b.Fatal(err)
	}
	proc, err := res.Start(ctx, &runtime.StartRequest{Stdout: runtime.Output{Writer: io.Discard}, Stderr: runtime.Output{Writer: io.Discard}})
	if err != nil {
		b.Fatal(err)
	}
	e, err := proc.Wait(ctx, time.Second)
	if err != nil || e.Code != 0 {
		b.Fatalf("%+v, %v", e, err)
	}
	if _, err := res.Remove(ctx); err != nil {
		b.Fatal(err)
	}
}

// bareWords are the plan's words without those of the gate.
func bareWords(p *runtime.Plan) []string {
	var out []string
	for i, w := range p.Argv() {
		switch p.Words[i].For {
		case "gate.args", "gate.block", "gate.status":
			continue
		}
		out = append(out, w)
	}
	return out
}

func median(d []time.Duration) time.Duration {
	d = slices.Clone(d)
	slices.Sort(d)
	return d[len(d)/2]
}
