package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/sbxkit/sbxkit/internal/testhost"
	sbx "github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/journal"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"sbxctl": func() {
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
			code := Main(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
			stop()
			os.Exit(code)
		},
	})
}

// TestScripts runs the command line on bubblewrap, and where nothing can run. A script says by its first line what it needs.
func TestScripts(t *testing.T) {
	testscript.Run(t, params("testdata/script", ""))
}

// TestEngines runs the same scripts on each engine of this host.
func TestEngines(t *testing.T) {
	for name, host := range map[string]func(testing.TB) (string, string){"docker": testhost.Docker, "podman": testhost.Podman} {
		t.Run(name, func(t *testing.T) {
			host(t)
			testscript.Run(t, params("testdata/engine", name))
		})
	}
}

func params(dir, backend string) testscript.Params {
	return testscript.Params{
		Dir:                 dir,
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("BACKEND", backend)
			e.Setenv("SBX_STATE", e.WorkDir+"/state")
			e.Setenv("GORACE", "atexit_sleep_ms=0") // with the race detector, each command waits a second before it ends without it
			for _, name := range []string{"SBX_TEST_IMAGE", "SBX_TEST_TOOLBOX", "CONTAINERS_CONF", "CONTAINERS_STORAGE_CONF"} {
				e.Setenv(name, os.Getenv(name))
			}
			e.Setenv("DOCKER_HOST", os.Getenv("SBX_TEST_DOCKER_HOST"))
			e.Setenv("CONTAINER_HOST", os.Getenv("SBX_TEST_PODMAN_HOST"))
			return nil
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "bwrap":
				_, err := exec.LookPath("bwrap")
				return err == nil, nil
			case "docker", "podman":
				return cond == backend, nil
			}
			return false, fmt.Errorf("no condition is called %q", cond)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "devices": devices, "record": record},
	}
}

// exits runs "exits CODE COMMAND..." and fails where the command ends with another code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := "0"
	if e, ok := asExit(err); ok {
		code = e
	} else if err != nil {
		ts.Fatalf("%v: %v", args[1:], err)
	}
	if code != args[0] {
		ts.Fatalf("%v exited %s, want %s", args[1:], code, args[0])
	}
}

// devices compares the network devices that the last command printed as /proc/net/dev with the loopback device alone, or with "devices
// host" with this host's.
func devices(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 1 || len(args) == 1 && args[0] != "host" {
		ts.Fatalf("usage: devices [host]")
	}
	want := []string{"lo"}
	if len(args) == 1 {
		want = deviceNames(ts.ReadFile("/proc/net/dev"))
	}
	if got := deviceNames(ts.ReadFile("stdout")); !slices.Equal(got, want) {
		ts.Fatalf("the devices inside are %q, want %q", got, want)
	}
}

// deviceNames are the names in the text of /proc/net/dev that stay: the two ends of other containers' links come and go.
func deviceNames(text string) (names []string) {
	for line := range strings.Lines(text) {
		name, _, found := strings.Cut(strings.TrimSpace(line), ":")
		if found && !strings.HasPrefix(name, "veth") && !strings.HasPrefix(name, "br-") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func asExit(err error) (string, bool) {
	var e *exec.ExitError
	if !errors.As(err, &e) {
		return "", false
	}
	return strconv.Itoa(e.ExitCode()), true
}

// record runs "record BACKEND ID STEP OUTCOME CODE": it leaves the record of a run whose controller has died, as the driver writes it.
func record(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 5 {
		ts.Fatalf("usage: record BACKEND ID STEP OUTCOME CODE")
	}
	ctx := context.Background()
	j, err := journal.Open(ctx, ts.Getenv("SBX_STATE"))
	ts.Check(err)
	code, err := strconv.Atoi(args[4])
	ts.Check(err)
	run := sbx.RunName{ID: args[1], Owner: j.Owner(), Dir: j.RunDir(args[1])}
	e, err := j.Create(ctx, sbx.Record{
		Version: sbx.RecordVersion, Run: run, Backend: args[0], Step: sbx.StepPrepare, Token: sbx.Token{Backend: args[0], Run: run},
		Created: time.Now().UnixNano(), Labels: []sbx.Label{{Name: "task", Value: "7"}},
	})
	ts.Check(err)
	r := e.Record()
	r.Step, r.Charged, r.Code = sbx.Step(args[2]), true, code
	if args[3] != "-" {
		r.Outcome = sbx.Outcome(args[3])
	}
	ts.Check(e.Update(r, false))
	ts.Check(e.Close())
}
