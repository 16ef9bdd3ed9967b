package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// build builds the command as its users do, and stockvet beside it, and returns their directory. The go command starts them for every package,
// and under the race detector, which these processes of one thread have no use for, a start takes ten times as long.
func build(t *testing.T) string {
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", dir, ".", "./testdata/stockvet")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building sbxvet: %v\n%s", err, out)
	}
	return dir
}

func TestScript(t *testing.T) {
	// The scripts share the build cache, so that none compiles the standard library again.
	var env []string
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPROXY", "GOFLAGS", "GONOSUMDB", "GONOSUMCHECK", "GOSUMDB"} {
		out, err := exec.CommandContext(t.Context(), "go", "env", name).Output()
		if err != nil {
			t.Fatalf("asking the go command for %s: %v", name, err)
		}
		env = append(env, name+"="+strings.TrimSpace(string(out)))
	}
	bin := build(t)
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Vars = append(e.Vars, env...)
			e.Vars = append(e.Vars, "GOTOOLCHAIN=local", "SBXKIT="+root)
			e.Setenv("PATH", bin+string(filepath.ListSeparator)+e.Getenv("PATH"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"stamp":     stamp,
			"status":    status,
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

// status runs a command that must end with a status: status N COMMAND ARGUMENT...
func status(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: status N COMMAND ARGUMENT...")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		got = strconv.Itoa(e.ExitCode())
	} else {
		ts.Check(err)
	}
	if got != args[0] {
		ts.Fatalf("%s ended with status %s, want %s", args[1], got, args[0])
	}
}

// program sets the variable to the path of a program.
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
