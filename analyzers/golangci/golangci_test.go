package golangci

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/golangci/plugin-module-register/register"
	"github.com/sbxkit/sbxkit/analyzers"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"
)

func TestTheRegisteredConstructorGivesTheRules(t *testing.T) {
	construct, err := register.GetPlugin(Name)
	if err != nil {
		t.Fatal(err)
	}
	p, err := construct(nil)
	if err != nil {
		t.Fatal(err)
	}
	if p.GetLoadMode() != register.LoadModeTypesInfo {
		t.Errorf("load mode is %q", p.GetLoadMode())
	}
	rules, err := p.BuildAnalyzers()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(rules, analyzers.All()) {
		t.Errorf("got %v, want all rules", rules)
	}
	if err := analysis.Validate(rules); err != nil {
		t.Error(err)
	}
}

func TestSettings(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "p.yaml")
	if err := os.WriteFile(broken, []byte("nonsense: 1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name     string
		settings any
		err      string // part of the error, "" for none
		rules    int
	}{
		{"one rule", map[string]any{"rules": []string{"rawshell"}}, "", 1},
		{"unknown rule", map[string]any{"rules": []string{"nonsense"}}, `unknown rule "nonsense"`, 0},
		{"unknown key", map[string]any{"ruls": []string{"rawshell"}}, "ruls", 0},
		{"missing policy", map[string]any{"policy": "/nonexistent.yaml"}, "does not exist", 0},
		{"broken policy", map[string]any{"policy": broken}, "p.yaml:1:1: unknown key", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := New(tt.settings)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("error is %v, want one with %q", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			rules, err := p.BuildAnalyzers()
			if err != nil || len(rules) != tt.rules {
				t.Errorf("got %d rules, %v; want %d", len(rules), err, tt.rules)
			}
		})
	}
}

// wrong makes a module and returns its directory.
func wrong(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"go.mod": "module example.com/m\n\ngo 1.26\n",
		"dep/dep.go": `package dep

import "os/exec"

func Run(name string, args ...string) error { return exec.Command(name, args...).Run() }

func bad(x string) {
	exec.Command("sh", "-c", x).Run()
}
`,
		"top/top.go": `package top

import "example.com/m/dep"

func f(x string) {
	dep.Run("docker", "ps")
	dep.Run("bash", "-c", x)
	dep.Run("finch", "ps")
}
`,
	})
	return dir
}

// write makes files in a directory.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// whatIsWrong is what every driver finds in it.
var whatIsWrong = []string{
	`dep/dep.go:8:14: hands program text to a shell or interpreter (sh -c, exec.Command); run the program itself, or a script file (rawshell)`,
	`top/top.go:6:9: starts the sandbox backend's program "docker" outside the seam (dep.Run → exec.Command); launch through the seam instead (backendexec)`,
	`top/top.go:7:9: hands program text to a shell or interpreter (bash -c, dep.Run → exec.Command); run the program itself, or a script file (rawshell)`,
	`top/top.go:8:9: starts the sandbox backend's program "finch" outside the seam (dep.Run → exec.Command); launch through the seam instead (backendexec)`,
}

// TestFindingsUnderAWholeProgramDriver runs the plugin's analyzers as golangci-lint does: over packages that are loaded from source with
// all their dependencies. The command line's test holds the other drivers to the same lines.
func TestFindingsUnderAWholeProgramDriver(t *testing.T) {
	dir := wrong(t)
	pkgs, err := packages.Load(&packages.Config{Mode: packages.LoadAllSyntax | packages.NeedModule, Dir: dir, Tests: true}, "./...")
	if err != nil {
		t.Fatal(err)
	}
	p, err := New(nil)
	if err != nil {
		t.Fatal(err)
	}
	rules, err := p.BuildAnalyzers()
	if err != nil {
		t.Fatal(err)
	}
	graph, err := checker.Analyze(rules, pkgs, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, act := range graph.Roots {
		if act.Err != nil {
			t.Errorf("%v: %v", act, act.Err)
		}
		for _, d := range act.Diagnostics {
			pos := act.Package.Fset.Position(d.Pos)
			rel, err := filepath.Rel(dir, pos.Filename)
			if err != nil {
				t.Fatal(err)
			}
			pos.Filename = filepath.ToSlash(rel)
			got = append(got, pos.String()+": "+d.Message)
		}
	}
	slices.Sort(got)
	got = slices.Compact(got)
	if !slices.Equal(got, whatIsWrong) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(whatIsWrong, "\n"))
	}
}
