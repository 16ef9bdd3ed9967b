package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/unitchecker"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"sbxvet":   main,
		"stockvet": func() { unitchecker.Main(policyReader) },
	})
}

// policyReader stands for any vet tool built on x/tools' unitchecker that reads a file the go command does not know of: it reports each
// package clause with the file's content.
var policyReader = &analysis.Analyzer{
	Name: "policyreader",
	Doc:  "policyreader: report what the policy says",
	Run: func(pass *analysis.Pass) (any, error) {
		data, err := os.ReadFile(os.Getenv("STOCK_POLICY"))
		if err != nil {
			return nil, err
		}
		for _, f := range pass.Files {
			pass.Reportf(f.Package, "policy says %s", strings.TrimSpace(string(data)))
		}
		return nil, nil
	},
}

func TestScript(t *testing.T) {
	// The scripts share the build cache, so that none compiles the standard library again.
	var env []string
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPROXY", "GOFLAGS", "GONOSUMDB", "GONOSUMCHECK", "GOSUMDB"} {
		out, err := exec.CommandContext(context.Background(), "go", "env", name).Output()
		if err != nil {
			t.Fatalf("asking the go command for %s: %v", name, err)
		}
		env = append(env, name+"="+strings.TrimSpace(string(out)))
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Vars = append(e.Vars, env...)
			e.Vars = append(e.Vars, "GOTOOLCHAIN=local")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"stamp":     stamp,
			"sorted":    sorted,
			"tool":      func(ts *testscript.TestScript, _ bool, _ []string) { program(ts, "TOOL", "sbxvet") },
			"stocktool": func(ts *testscript.TestScript, _ bool, _ []string) { program(ts, "STOCK", "stockvet") },
		},
	})
}

// stamp adds a comment to each file that no file had before, so that the go command has no result of it in its cache.
func stamp(ts *testscript.TestScript, _ bool, args []string) {
	for _, name := range args {
		f, err := os.OpenFile(ts.MkAbs(name), os.O_APPEND|os.O_WRONLY, 0)
		ts.Check(err)
		_, err = fmt.Fprintf(f, "\n// %s\n", rand.Text())
		ts.Check(err)
		ts.Check(f.Close())
	}
}

// program sets the variable to the path of a program of TestMain.
func program(ts *testscript.TestScript, variable, name string) {
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		if p := filepath.Join(dir, name); isFile(p) {
			ts.Setenv(variable, p)
			return
		}
	}
	ts.Fatalf("%s is not on the path", name)
}

func isFile(name string) bool {
	st, err := os.Stat(name)
	return err == nil && st.Mode().IsRegular()
}

// sorted writes the lines of a file in order to another: sorted FROM TO.
func sorted(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: sorted FROM TO")
	}
	lines := strings.Split(strings.TrimSpace(ts.ReadFile(args[0])), "\n")
	slices.Sort(lines)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(strings.Join(lines, "\n")+"\n"), 0o666))
}
