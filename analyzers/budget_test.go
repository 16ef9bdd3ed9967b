package analyzers_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sbxkit/sbxkit/analyzers"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"
)

// heavy is a package that does nothing but start programs: n wrappers that call each other, collect arguments in loops, and keep
// each other in fields and literals.
func heavy(n int) string {
	var b strings.Builder
	b.WriteString(`package heavy

import "os/exec"

type box struct {
	bin  string
	argv []string
	next *box
	do   func(string, []string) error
}

func run0(name string, args []string, b *box) error { return exec.Command(name, args...).Run() }
`)
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, `
func run%[1]d(name string, args []string, b *box) error {
	args = append(args, "-x%[1]d", b.bin)
	for _, a := range b.argv {
		args = append(args, "--opt", a+"%[1]d")
	}
	defer func() { run0(b.bin, args, b) }()
	b.do = func(s string, more []string) error { return run0(s, append(more, args...), b.next) }
	return run%[2]d(name, args, b)
}

func use%[1]d() {
	run%[1]d("docker", []string{"ps"}, &box{bin: "sh", argv: []string{"-c", "x"}})
}
`, i, i/2)
	}
	return b.String()
}

// TestCodeThatOnlyStartsProgramsStaysCheap bounds what analysing costs by the size of the code: in processor time, which a busy machine changes little.
func TestCodeThatOnlyStartsProgramsStaysCheap(t *testing.T) {
	cost := func(n int) time.Duration {
		dir := t.TempDir()
		for name, text := range map[string]string{"go.mod": "module example.com/heavy\n\ngo 1.26\n", "heavy.go": heavy(n)} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		pkgs, err := packages.Load(&packages.Config{Mode: packages.LoadSyntax | packages.NeedModule, Dir: dir}, ".")
		if err != nil {
			t.Fatal(err)
		}
		before := processorTime(t)
		got := findings(t, dir, pkgs, func() (*checker.Graph, error) {
			return checker.Analyze(analyzers.All(), pkgs, &checker.Options{Sequential: true})
		})
		took := processorTime(t) - before
		if len(got) < n {
			t.Errorf("%d findings in %d functions, want one in each at least", len(got), n)
		}
		return took
	}
	cost(5) // what is loaded once
	small, large := cost(40), cost(160)
	t.Logf("40 functions: %v, 160: %v", small, large)
	if limit := 12*small + time.Second; large > limit {
		t.Errorf("160 functions cost %v, and 40 of the same %v: more than grows with the code", large, small)
	}
	if large > 60*time.Second {
		t.Errorf("160 functions cost %v", large)
	}
}

func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
