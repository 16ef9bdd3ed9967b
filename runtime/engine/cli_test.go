package engine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sbxkit/sbxkit/internal/testhost"
	"github.com/sbxkit/sbxkit/runtime"
)

// eachProgram runs f on each real engine, driven by its command line program.
func eachProgram(t *testing.T, f func(t *testing.T, e underTest)) {
	eachEngine(t, func(t *testing.T, e underTest) {
		e.via = ViaCLI
		f(t, e)
	})
}

func TestTheProgramDrivesAWholeRun(t *testing.T) {
	eachProgram(t, func(t *testing.T, e underTest) {
		r := e.request("sh", runtime.ScriptTarget)
		r.Stdin = runtime.StdinPipe
		r.Script = &runtime.StagedScript{Target: runtime.ScriptTarget, Word: 1, Text: []byte("cat; cat a.txt; echo made > out.txt; echo err >&2; exit 7")}
		r.Workspace = &runtime.Workspace{Mode: runtime.WorkspaceCopy, Target: "/tree"}
		r.Dir = "/tree"
		r.Hardening.ReadOnlyRoot = true
		l := prepare(t, e.backend(t), r)
		l.stageWith(seeded(t))
		l.startStaged()
		if _, err := l.proc.Stdin().Write([]byte("typed\n")); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := l.proc.Stdin().Close(); err != nil {
				t.Fatal(err)
			}
		}
		if x := l.wait(); x.Code != 7 || l.out.String() != "typed\nalpha\n" || l.err.String() != "err\n" {
			t.Errorf("exit %+v, stdout %q, stderr %q", x, l.out.String(), l.err.String())
		}
		dir := t.TempDir()
		if m, err := l.res.Export(within(t), dir, &runtime.Artifacts{Paths: []string{"/tree/out.txt"}}); err != nil || !m.Whole {
			t.Fatalf("%+v, %v", m, err)
		}
		if b, err := os.ReadFile(filepath.Join(dir, "out.txt")); err != nil || string(b) != "made\n" {
			t.Errorf("exported %q, %v", b, err)
		}
		how := map[string]int{}
		for range 3 {
			d, err := l.res.Remove(within(t))
			if err != nil {
				t.Fatal(err)
			}
			how[d.How]++
		}
		if how["removed"] != 1 || how["nothing"] != 2 {
			t.Errorf("three removals: %v", how)
		}
	})
}

// TestTheProgramsOwnEndIsNotTheCommands kills the client that holds the streams: the command lives on, and its end is still read from the
// engine.
func TestTheProgramsOwnEndIsNotTheCommands(t *testing.T) {
	eachProgram(t, func(t *testing.T, e underTest) {
		l := launch(t, e.backend(t), e.request("sh", "-c", "trap 'exit 5' TERM; while true; do sleep 0.1; done"))
		l.proc.(*process).at.close()
		waitFor(t, "the client to end", func() bool { return ended(l.proc.(*process).at) })
		if i, err := l.proc.(*process).link.inspect(within(t), l.plan.Token.Name); err != nil || !state(i).Running {
			t.Fatalf("the command went with its client: %v", err)
		}
		if err := l.proc.Signal(within(t), syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if x := l.wait(); x.Code != 5 {
			t.Errorf("exit %+v", x)
		}
		if err := l.proc.Signal(within(t), syscall.SIGTERM); !errors.Is(err, os.ErrProcessDone) {
			t.Errorf("a signal after the end: %v", err)
		}
	})
}

func TestTheProgramSaysWhyAContainerDidNotStart(t *testing.T) {
	eachProgram(t, func(t *testing.T, e underTest) {
		b := e.backend(t)
		r := e.request("true")
		r.User = runtime.User{Kind: runtime.UserID, UID: 1, GID: 1}
		l := prepare(t, b, r)
		if err := l.stage(); err != nil {
			t.Fatal(err)
		}
		// Somebody removes the container between its staging and its start.
		if _, err := l.res.Remove(within(t)); err != nil {
			t.Fatal(err)
		}
		if _, err := l.res.Start(within(t), &runtime.StartRequest{}); !errors.Is(err, runtime.ErrSetup) {
			t.Errorf("%v, want Setup", err)
		}
		if err := prepare(t, b, e.request("no-such-command")).stage(); !errors.Is(err, runtime.ErrCommand) {
			t.Errorf("%v, want Command", err)
		}
	})
}

func TestAnAbsentProgramIsUnsupported(t *testing.T) {
	e := underTest{name: "Docker Engine", program: "docker", endpoint: "unix:///no/such/socket", via: ViaCLI}
	b := e.backend(t, func(d *Definition) { d.Program = "sbx-no-such-program" })
	if _, err := b.Probe(within(t), runtime.ProbeRequest{}); !errors.Is(err, runtime.ErrUnsupported) {
		t.Errorf("%v, want Unsupported", err)
	}
}

func TestAHangingProgramIsEnded(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "engine")
	if err := os.WriteFile(program, []byte("#!/bin/sh\nexec sleep 1000\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	e := underTest{name: "Docker Engine", program: "docker", endpoint: "unix:///no/such/socket", via: ViaCLI}
	b := impatient(e.backend(t, func(d *Definition) { d.Options.Program = program }))
	began := time.Now()
	_, err := b.Probe(within(t), runtime.ProbeRequest{})
	if !errors.Is(err, runtime.ErrSetup) || !strings.Contains(err.Error(), "did not answer") {
		t.Errorf("%v, want Setup", err)
	}
	if d := time.Since(began); d > 10*time.Second {
		t.Errorf("took %v", d)
	}
}

// TestTheProgramLeavesNothingInTheWorkingDirectory runs a command of Podman's out of memory: its monitor writes a file to the directory that
// its starter works in. There is no service between: the program itself is the engine.
func TestTheProgramLeavesNothingInTheWorkingDirectory(t *testing.T) {
	_, image := testhost.Podman(t)
	for _, name := range []string{"DOCKER_HOST", "CONTAINER_HOST"} {
		t.Setenv(name, "") // to be set again after the test
		if err := os.Unsetenv(name); err != nil {
			t.Fatal(err)
		}
	}
	e := underTest{name: "Podman Engine", program: "podman", endpoint: "", image: image, via: ViaCLI}
	r := e.request("sh", "-c", fmt.Sprintf("exec sbx-probe alloc %d", 256<<20))
	r.Limits.Memory = runtime.AtMost(64 << 20)
	r.Run.Dir = t.TempDir()
	here := t.TempDir()
	t.Chdir(here)
	if x := launch(t, e.backend(t), r).wait(); status(x) != 137 {
		t.Fatalf("%+v", x)
	}
	if left, err := os.ReadDir(here); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
	if _, err := os.Stat(filepath.Join(r.Run.Dir, "oom")); err != nil {
		t.Errorf("the monitor's file is not in the run's directory either, so this test shows nothing: %v", err)
	}
}
