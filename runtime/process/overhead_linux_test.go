package process

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/journal"
	"github.com/sbxkit/sbxkit/runtime/mounts"
)

// BenchmarkLaunchAgainstBareProgram launches the same command, with the same words, in turn by os/exec and through the seam: the driver, the
// gate, the limits, every guarantee measured, teardown confirmed. It reports the ratios of the medians: with both stops, which may be 1.35;
// with the first alone, which may be 1.2 and is what there is where ptrace is refused; and with both and a journal.
//
// What remains of the difference, by timestamps and a profile, on two cores where the bare launch takes 8 to 9 ms: before the launcher is started
// 0.5 ms, of them 0.3 to 0.4 plan (its digest is made beside the build) and 0.1 the look for the program; 0.35 ms measure at the first stop (of them
// mountinfo 0.2, network 0.05) and 0.3 ms at the second; and the rest are wake-ups: of us for each stop, and of what was stopped. The journal
// adds 2 ms, which are its file replacements.
// The first stop alone has to look for a process at its gate, and for one that has become the command, each 0.1 ms; what it reads of the gate in
// place of the exec takes the other core 0.3 ms, and to wake that nearly as long. That costs as much as the second stop does: alone on the
// machine 1.23 to 1.26 against 1.23 to 1.24 with both, three times 250 launches, so that it is not at its goal. So nothing is won by asking for it
// where both can be had, and no policy can. Nothing is won either by sleeps without the kernel's slack, which come 6 µs earlier, by not looking
// for the first three quarters of the usual time, or by looking for what a command lacks only where it fails.
func BenchmarkLaunchAgainstBareProgram(b *testing.B) {
	traced, untraced := backend(b, bwrapDefinition()), backend(b, bwrapDefinition())
	untraced.untraceable.Store(true)
	state, err := journal.Open(context.Background(), filepath.Join(b.TempDir(), "state"))
	if err != nil {
		b.Fatal(err)
	}
	drivers := []struct {
		name string
		box  *runtime.Sandbox
	}{
		{"both", driver(b, traced)},
		{"first-alone", driver(b, untraced)},
		{"both+journal", driver(b, traced, runtime.WithJournal(state))},
	}
	l := runtime.Launch{Argv: []string{"true"}}
	l.Limits = runtime.Limits{OpenFiles: runtime.AtMost(256), Core: runtime.AtMost(0), FileSize: runtime.AtMost(1 << 30)}
	words := bareWords(plan(b, traced, l, runtime.RunName{}))
	took := make([][]time.Duration, len(drivers))
	var bare []time.Duration
	for _, d := range drivers {
		launchThrough(b, d.box, l) // what is made once: the spawner's thread, the poller
	}
	for b.Loop() {
		bare = append(bare, launchBare(b, words, io.Discard))
		for i, d := range drivers {
			took[i] = append(took[i], launchThrough(b, d.box, l))
		}
	}
	b.ReportMetric(float64(median(bare).Microseconds()), "bare-µs")
	for i, d := range drivers {
		b.ReportMetric(float64(median(took[i]))/float64(median(bare)), d.name+"/bare")
	}
}

// BenchmarkStdoutAgainstAPipe has the same command write as much through the seam, counted and bounded, and to a pipe of os/exec, in turn. It
// reports the throughput of the seam as a part of the pipe's, of the medians; it may not be under 0.95, and is 0.96 to 1.04 in the same way. What
// remains is one atomic load and one counter for each read of up to 64 KiB.
func BenchmarkStdoutAgainstAPipe(b *testing.B) {
	const size = 512 << 20
	be := backend(b, bwrapDefinition())
	box := driver(b, be)
	l := runtime.Launch{Argv: []string{"head", "-c", strconv.Itoa(size), "/dev/zero"}}
	words := bareWords(plan(b, be, l, runtime.RunName{}))
	var bare, seam []time.Duration
	for b.Loop() {
		var raw, counted counter
		bare = append(bare, launchBare(b, words, &raw))
		l.Stdout = &counted
		seam = append(seam, launchThrough(b, box, l))
		if raw != size || counted != size {
			b.Fatalf("%d and %d bytes", raw, counted)
		}
	}
	b.SetBytes(size)
	b.ReportMetric(float64(median(bare))/float64(median(seam)), "seam/pipe")
}

// BenchmarkPlanAgainstMounting plans 500 binds and has bubblewrap make them, in turn, and reports what part of the second the first is, of the
// medians; it may be 0.05, and is 0.004. What remains is two lstat(2) a bind and the copies of the request; the mounts themselves are the kernel's.
func BenchmarkPlanAgainstMounting(b *testing.B) {
	be := backend(b, bwrapDefinition())
	id := probe(b, be)
	l := runtime.Launch{Argv: []string{"true"}}
	for i := range 500 {
		l.Mounts = append(l.Mounts, runtime.Mount{Kind: runtime.MountBindRO, Source: "/usr/share", Target: fmt.Sprintf("/m/%d/%d", i%17, i)})
	}
	var planned, mounted []time.Duration
	for b.Loop() {
		req, dropped, err := runtime.Resolve(runtime.ResolveInput{Description: be.Describe(), Launch: &l, Identity: *id})
		if err != nil {
			b.Fatal(err)
		}
		began := time.Now()
		p, err := be.Plan(runtime.PlanInput{Request: req, Identity: *id, Host: mounts.OS{}, Dropped: dropped})
		if err != nil {
			b.Fatal(err)
		}
		planned = append(planned, time.Since(began))
		mounted = append(mounted, launchBare(b, bareWords(p), io.Discard))
	}
	b.ReportMetric(float64(median(planned))/float64(median(mounted)), "plan/mounting")
	b.ReportMetric(float64(median(planned).Microseconds()), "plan-µs")
	b.ReportMetric(float64(median(mounted).Microseconds()), "mounting-µs")
}

// counter is a sink that os/exec has to copy to: io.Discard has a way of its own to read.
type counter int64

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}

func driver(b *testing.B, be *Backend, o ...runtime.Option) *runtime.Sandbox {
	b.Helper()
	box, err := runtime.New(be, o...)
	if err != nil {
		b.Fatal(err)
	}
	return box
}

func launchThrough(b *testing.B, box *runtime.Sandbox, l runtime.Launch) time.Duration {
	ctx := context.Background()
	began := time.Now()
	run, err := box.Launch(ctx, l)
	if err != nil {
		b.Fatal(err)
	}
	r, err := run.Wait(ctx)
	if err != nil || r.Code != 0 {
		b.Fatalf("%+v, %v", r, err)
	}
	return time.Since(began)
}

func launchBare(b *testing.B, words []string, out io.Writer) time.Duration {
	if out == io.Discard {
		out = new(counter)
	}
	began := time.Now()
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Env = []string{}
	cmd.Stdout, cmd.Stderr = out, new(counter)
	if err := cmd.Run(); err != nil {
		b.Fatal(err)
	}
	return time.Since(began)
}

// launchOnce walks a plan through the backend's own steps, without the driver.
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
	if err != nil || !e.Ran || e.Code != 0 {
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
