//go:build unix

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
	"github.com/sbxkit/sbxkit/internal/testhost"
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

// machine is a parser of n states, each a function that sets the next and calls it or another: what a call of one reaches grows with the power of n.
func machine(n int) string {
	var b strings.Builder
	b.WriteString(`package heavy

import "os/exec"

type state func(*parser) bool

type parser struct {
	cmd   *exec.Cmd
	at    state
	stack []state
}

func Parse(cmd *exec.Cmd) { (&parser{cmd: cmd, at: state1}).run() }

func (p *parser) run() {
	for p.at(p) {
	}
}
`)
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, `
func state%[1]d(p *parser) bool {
	switch len(p.stack) {
	case %[1]d:
		p.at = state%[2]d
		return true
	case %[2]d:
		p.at = state%[3]d
		return p.at(p)
	}
	return state%[3]d(p)
}

func use%[1]d() { exec.Command("docker").Run() }
`, i, i%n+1, i/2+1)
	}
	return b.String()
}

// TestCodeThatOnlyStartsProgramsStaysCheap bounds what analysing costs by the size of the code: in processor time, which a busy machine changes little.
func TestCodeThatOnlyStartsProgramsStaysCheap(t *testing.T) {
	for name, test := range map[string]struct {
		text         func(n int) string
		small, large int
	}{
		"wrappers":               {heavy, 40 / fraction(), 160 / fraction()},
		"a machine of functions": {machine, 6, 12},
	} {
		t.Run(name, func(t *testing.T) {
			cost(t, test.text(5), 5) // what is loaded once
			small, large := cost(t, test.text(test.small), test.small), cost(t, test.text(test.large), test.large)
			t.Logf("%d functions: %v, %d: %v", test.small, small, test.large, large)
			if limit := 12*small + slowdown*3*time.Second; large > limit {
				t.Errorf("%d functions cost %v, and %d of the same %v: more than grows with the code", test.large, large, test.small, small)
			}
			if large > slowdown*time.Minute {
				t.Errorf("%d functions cost %v", test.large, large)
			}
		})
	}
}

// fraction is what part of the wrappers is analysed under the race detector, which takes a minute for all of them, but in a soak.
func fraction() int {
	if slowdown > 1 && !testhost.Soak() {
		return 2
	}
	return 1
}

// cost analyses the package, in which n findings are to be expected, and returns what that took.
func cost(t *testing.T, text string, n int) time.Duration {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module example.com/heavy\n\ngo 1.26\n", "heavy.go": text} {
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

func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
