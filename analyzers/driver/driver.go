// Package driver runs the rules over packages the way a user asks for them: it has "go vet" run this same program on each compilation
// unit, which costs a tenth of the memory that loading the whole program takes, and makes a report of what comes out.
package driver

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sbxkit/sbxkit/analyzers/findings"
	"github.com/sbxkit/sbxkit/analyzers/unit"
)

// Options say what to analyse.
type Options struct {
	Dir        string   // where the patterns are relative to, absolute
	Patterns   []string // packages as the go command takes them; "." when empty
	BuildFlags []string // for the go command, such as -tags=x
	ToolFlags  []string // for the tool, such as -rawshell=false
	Tool       string   // the program that analyses units: this one
	Env        []string // added to the environment of the go command
}

// An AnalysisError says that the code could not be analysed, which is never a finding and never success.
type AnalysisError struct {
	Output string // what the go command printed
	Err    error
}

func (e *AnalysisError) Error() string {
	out := strings.TrimSpace(e.Output)
	if out == "" {
		return fmt.Sprintf("could not analyse: %v", e.Err)
	}
	return "could not analyse:\n" + out
}

func (e *AnalysisError) Unwrap() error { return e.Err }

// Run analyses the packages and returns the findings in order. An error means that some of them could not be analysed.
func Run(ctx context.Context, o Options) ([]findings.Finding, error) {
	if err := checkToolchain(ctx, o.Dir); err != nil {
		return nil, err
	}
	patterns := o.Patterns
	if len(patterns) == 0 {
		patterns = []string{"."}
	}
	args := append([]string{"vet", "-vettool=" + o.Tool, "-json"}, o.BuildFlags...)
	args = append(append(args, o.ToolFlags...), patterns...)
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = o.Dir
	cmd.Env = append(os.Environ(), o.Env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return nil, &AnalysisError{stderr.String(), err}
	}
	list, err := findings.Read(&stdout)
	if err != nil {
		return nil, &AnalysisError{stderr.String(), err}
	}
	keep := wanted(ctx, o, patterns)
	var out []findings.Finding
	for _, f := range list {
		ok, err := keep(f)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, f)
		}
	}
	return out, nil
}

// checkToolchain refuses a go command that is newer than this program: its export data and its language are not known here.
func checkToolchain(ctx context.Context, dir string) error {
	cmd := exec.CommandContext(ctx, "go", "env", "GOVERSION")
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return &AnalysisError{stderr.String(), fmt.Errorf("asking the go command for its version: %w", err)}
	}
	if err := unit.CheckToolchain(strings.TrimSpace(string(out))); err != nil {
		return &AnalysisError{"", fmt.Errorf("the go command %w", err)}
	}
	return nil
}

// wanted returns a filter for the findings of the packages that the patterns name: units of the main modules report also when they are
// only dependencies of those. A finding in a directory that is named needs no more; of others the unit decides, as a //line comment, an overlay or
// a symbolic link may have put the position anywhere.
func wanted(ctx context.Context, o Options, patterns []string) func(findings.Finding) (bool, error) {
	var named []func(dir string) bool
	for _, p := range patterns {
		switch {
		case p == "all" || p == "work" || strings.HasSuffix(p, ".go"):
			return func(findings.Finding) (bool, error) { return true, nil }
		case p == "." || p == ".." || strings.HasPrefix(p, "./") || strings.HasPrefix(p, "../") || filepath.IsAbs(p):
			dir, below := strings.CutSuffix(p, "...")
			if strings.Contains(dir, "...") || below && !strings.HasSuffix(dir, "/") { // "./a..." is also "./ab"
				continue
			}
			if !filepath.IsAbs(dir) {
				dir = filepath.Join(o.Dir, dir)
			}
			dir = filepath.Clean(dir)
			named = append(named, func(at string) bool {
				return at == dir || below && strings.HasPrefix(at, strings.TrimSuffix(dir, "/")+"/")
			})
		}
	}
	var byUnit func(findings.Finding) bool
	return func(f findings.Finding) (bool, error) {
		at := filepath.Dir(f.Pos.File)
		if slices.ContainsFunc(named, func(in func(string) bool) bool { return in(at) }) {
			return true, nil
		}
		if byUnit == nil {
			var err error
			if byUnit, err = wantedByList(ctx, o, patterns); err != nil {
				return false, err
			}
		}
		return byUnit(f), nil
	}
}

// wantedByList asks the go command what the patterns name.
func wantedByList(ctx context.Context, o Options, patterns []string) (func(findings.Finding) bool, error) {
	args := append([]string{"list", "-f", "{{.ImportPath}}"}, o.BuildFlags...)
	cmd := exec.CommandContext(ctx, "go", append(args, patterns...)...)
	cmd.Dir = o.Dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, &AnalysisError{stderr.String(), err}
	}
	paths := make(map[string]bool)
	for _, p := range strings.Fields(string(out)) {
		paths[p] = true
	}
	return func(f findings.Finding) bool {
		path, _, _ := strings.Cut(f.Unit, " ")
		return paths[path] || paths[strings.TrimSuffix(path, "_test")]
	}, nil
}

// Root returns the directory that reports are relative to: that of the workspace, or of the module, or dir itself.
func Root(ctx context.Context, dir string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "env", "GOWORK", "GOMOD")
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		return "", &AnalysisError{"", fmt.Errorf("asking the go command for the module: %w", err)}
	}
	lines := strings.Split(string(out), "\n")
	for _, name := range lines[:2] {
		name = strings.TrimSpace(name)
		if name != "" && name != "off" && name != os.DevNull {
			return filepath.Dir(name), nil
		}
	}
	return dir, nil
}

// Self returns the path of the running program, for Options.Tool.
func Self() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("finding this program's own file: %w", err)
	}
	return self, nil
}
