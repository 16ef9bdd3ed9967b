//go:build unix

package bench

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sbxkit/sbxkit/internal/codebase"
)

// The modules, by what the sub-benchmark is called.
var modules = []struct{ name, path string }{
	{"tools", "golang.org/x/tools"},
	{"otel", "go.opentelemetry.io/otel"},
	{"moby", "github.com/docker/docker"},
}

// A side is one way to vet ./... .
type side struct {
	name string
	argv []string
}

// BenchmarkBesideGoVet runs go vet with its default passes, the same go command with sbxvet as its tool, and sbxvet by itself, one after
// another on the same packages, and reports how they compare. The goals are for sbxvet/…, and hold for vettool/… too:
//
//	cold    wall at most 1.0, largest at most 1.3
//	warm    wall at most 1.5
func BenchmarkBesideGoVet(b *testing.B) {
	tool := filepath.Join(b.TempDir(), "sbxvet")
	if out, err := exec.CommandContext(b.Context(), "go", "build", "-o", tool, "..").CombinedOutput(); err != nil {
		b.Fatalf("building sbxvet: %v\n%s", err, out)
	}
	sides := []side{
		{"govet", []string{"go", "vet", "./..."}},
		{"vettool", []string{"go", "vet", "-vettool=" + tool, "./..."}},
		{"sbxvet", []string{tool, "./..."}},
	}
	for _, m := range modules {
		b.Run(m.name, func(b *testing.B) {
			base, err := codebase.Lay(b.Context(), m.path, filepath.Join(b.TempDir(), "base"))
			if err != nil {
				b.Skip(err)
			}
			if len(base.Without) > 0 {
				b.Skipf("what %s import is neither in the module cache nor to be had", strings.Join(base.Without, ", "))
			}
			// Before the first measurement: every state but the empty one starts from it.
			built := filepath.Join(b.TempDir(), "built")
			if err := compile(b.Context(), base, built); err != nil {
				b.Fatal(err)
			}
			b.Logf("%s %s: %d packages", base.Module, base.Version, len(base.Packages))
			b.Run("cold", func(b *testing.B) { compare(b, base, sides, cold(b, built)) })
			b.Run("empty", func(b *testing.B) { compare(b, base, sides, empty(b)) })
			b.Run("warm", func(b *testing.B) { compare(b, base, sides, warm(b, built, base)) })
		})
	}
}

// compare measures the sides in turns, beginning with another one each time, and reports the medians: those of the first side as they
// are, those of the others as multiples of them.
func compare(b *testing.B, base *codebase.Base, sides []side, cache func(side) string) {
	runs := make([][]usage, len(sides))
	for i := range b.N {
		for j := range sides {
			n := (i + j) % len(sides)
			u, err := vet(b.Context(), base, sides[n], cache(sides[n]))
			if err != nil {
				b.Fatal(err)
			}
			runs[n] = append(runs[n], u)
		}
	}
	b.ReportMetric(0, "ns/op") // of no use: the sum of all
	for _, q := range quantities {
		first := median(runs[0], q.of)
		b.ReportMetric(first, sides[0].name+"-"+q.unit)
		for n, s := range sides[1:] {
			b.ReportMetric(median(runs[n+1], q.of)/first, s.name+"/"+q.name)
		}
	}
}

// vet runs one side. That there are findings is no failure, that something could not be analysed is: a side that gives up is fast.
func vet(ctx context.Context, base *codebase.Base, s side, cache string) (usage, error) {
	cmd := base.Command(ctx, s.argv[0], s.argv[1:]...)
	cmd.Env = append(cmd.Env, "GOCACHE="+cache)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	u, err := measure(cmd)
	if err != nil && cmd.ProcessState.ExitCode() != 1 {
		return u, fmt.Errorf("%q: %w\n%s", s.argv, err, &stderr)
	}
	for line := range strings.Lines(stderr.String()) {
		if strings.HasPrefix(line, "vet: ") || strings.HasPrefix(line, "sbxvet: ") || strings.HasPrefix(line, "go: ") {
			return u, fmt.Errorf("%q could not analyse everything:\n%s", s.argv, &stderr)
		}
	}
	return u, nil
}

func median(runs []usage, of func(usage) float64) float64 {
	var all []float64
	for _, u := range runs {
		all = append(all, of(u))
	}
	slices.Sort(all)
	if n := len(all); n%2 == 0 {
		return (all[n/2-1] + all[n/2]) / 2
	}
	return all[len(all)/2]
}
