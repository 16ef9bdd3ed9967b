package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"sbxgen": main})
}

// Each script has a module of its own, beside this one, in which go generate runs the command under test.
func TestScripts(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	goMod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	settings, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE", "GOPATH").Output()
	if err != nil {
		t.Fatalf("asking go where its caches are: %v", err)
	}
	paths := strings.Split(strings.TrimSpace(string(settings)), "\n")
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			env.Setenv("GORACE", "atexit_sleep_ms=0") // with the race detector, each command waits a second before it ends without it
			env.Setenv("GOCACHE", paths[0])
			env.Setenv("GOMODCACHE", paths[1])
			env.Setenv("GOPATH", paths[2])
			env.Setenv("GOFLAGS", "-mod=mod")
			env.Setenv("GOPROXY", "off")
			env.Setenv("GONOSUMDB", "*")
			module := strings.Replace(string(goMod), "module github.com/sbxkit/sbxkit", "module example.com/own", 1)
			module = strings.ReplaceAll(module, "\tgithub.com/sbxkit/sbxkit/cmd/", "\t// ")
			module += fmt.Sprintf("\nrequire github.com/sbxkit/sbxkit v0.0.0\n\nreplace github.com/sbxkit/sbxkit => %s\n", root)
			return errors.Join(
				os.WriteFile(filepath.Join(env.WorkDir, "go.mod"), []byte(module), 0o644),
				os.WriteFile(filepath.Join(env.WorkDir, "go.sum"), sums, 0o644),
			)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"status": status, "replace": replace},
	})
}

// status runs a command and checks its exit status: status N COMMAND…
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N COMMAND…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("running %s: %v", args[1], err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("%s exited %d, want %d", strings.Join(args[1:], " "), got, want)
	}
}

// replace changes a text in a file that has it: replace FILE OLD NEW
func replace(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: replace FILE OLD NEW")
	}
	content := ts.ReadFile(args[0])
	if !strings.Contains(content, args[1]) {
		ts.Fatalf("%s does not hold %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.ReplaceAll(content, args[1], args[2])), 0o644))
}

// The tree as it is has to be what its specs give.
func TestGeneratedPackagesOfThisModuleAreCurrent(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	var stdout, stderr bytes.Buffer
	if code := run(context.Background(), []string{"check"}, &stdout, &stderr); code != exitFine {
		t.Errorf("sbxgen check exits %d; run go generate ./...\n%s%s", code, stdout.String(), stderr.String())
	}
}
