//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sbxkit/sbxkit/examples/issuerunner/control"
	"github.com/sbxkit/sbxkit/generated/bwrap"
	"github.com/sbxkit/sbxkit/generated/docker"
	"github.com/sbxkit/sbxkit/generated/podman"
	"github.com/sbxkit/sbxkit/internal/testhost"
	sbx "github.com/sbxkit/sbxkit/runtime"
)

// The environment of a controller that the test starts again as a process of its own, to be killed.
const (
	envPoint   = "ISSUERUNNER_TEST_POINT"
	envDir     = "ISSUERUNNER_TEST_DIR"
	envBackend = "ISSUERUNNER_TEST_BACKEND"
)

func TestMain(m *testing.M) {
	if point := os.Getenv(envPoint); point != "" {
		os.Exit(controller(point))
	}
	os.Exit(m.Run())
}

func realBackend(name string) (sbx.Backend, error) {
	image := os.Getenv("SBX_TEST_IMAGE")
	switch name {
	case "bwrap":
		return bwrap.New(bwrap.Options{})
	case "docker":
		return docker.New(docker.Options{Endpoint: os.Getenv("SBX_TEST_DOCKER_HOST"), Image: image})
	case "podman":
		return podman.New(podman.Options{Endpoint: os.Getenv("SBX_TEST_PODMAN_HOST"), Image: image})
	}
	return nil, fmt.Errorf("no backend %q", name)
}

// dieAt kills this very process with SIGKILL at "begin:STEP" or "end:STEP".
func dieAt(point string) sbx.Observer {
	return sbx.ObserverFunc(func(e sbx.Event) {
		at := "begin:"
		if e.State != "" {
			at = "end:"
		}
		if e.Result == nil && point == at+string(e.Step) {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {} // SIGKILL to ourselves does not return
		}
	})
}

// controller works on one issue; it exits 9 where it did not come by its point.
func controller(point string) int {
	b, err := realBackend(os.Getenv(envBackend))
	if err == nil {
		err = run(context.Background(), b, dieAt(point), os.Getenv(envDir), 1, "1", os.Stderr)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 8
	}
	return 9
}

// killed runs a controller that must die at its point.
func killed(t *testing.T, backend, dir, point string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = []string{envPoint + "=" + point, envBackend + "=" + backend, envDir + "=" + dir}
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "SBX_TEST_IMAGE", "SBX_TEST_DOCKER_HOST", "SBX_TEST_PODMAN_HOST"} {
		cmd.Env = append(cmd.Env, name+"="+os.Getenv(name))
	}
	out, err := cmd.CombinedOutput()
	var e *exec.ExitError
	if !errors.As(err, &e) || ctx.Err() != nil || e.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("the controller did not die at %s: %v\n%s", point, err, out)
	}
}

var steps = []sbx.Step{sbx.StepPrepare, sbx.StepStage, sbx.StepCharge, sbx.StepStart, sbx.StepCapture, sbx.StepExport, sbx.StepImport, sbx.StepRemove}

// attempts is how many of them count in the end, after a death at the point and one more start.
func attempts(point string) int {
	n := 1
	for _, s := range steps {
		for _, at := range []string{"begin:", "end:"} {
			if at+string(s) == "end:charge" {
				n = 2 // the one that died counts
			}
			if at+string(s) == "end:import" {
				n = 1 // and was enough
			}
			if at+string(s) == point {
				return n
			}
		}
	}
	return 0
}

// TestKillNineAnywhereThenResume kills a controller at a step, starts the next one on what is left, and finds one candidate imported, each attempt
// counted once and nothing left. The grid is whole on bwrap; on the engines, which take seconds, it has the points at which most is at stake.
func TestKillNineAnywhereThenResume(t *testing.T) {
	var all []string
	for _, s := range steps {
		all = append(all, "begin:"+string(s), "end:"+string(s))
	}
	for name, c := range map[string]struct {
		need   func(*testing.T)
		points []string
	}{
		"bwrap":  {func(t *testing.T) { testhost.Bwrap(t) }, all},
		"docker": {func(t *testing.T) { testhost.Docker(t) }, []string{"end:start", "end:import"}},
		"podman": {func(t *testing.T) { testhost.Podman(t) }, []string{"end:start"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.need(t)
			for _, point := range c.points {
				t.Run(point, func(t *testing.T) {
					dir := t.TempDir()
					killed(t, name, dir, point)
					b, err := realBackend(name)
					if err != nil {
						t.Fatal(err)
					}
					resumed(t, b, dir, attempts(point))
				})
			}
		})
	}
}

// resumed starts a controller on dir, twice, and checks the end.
func resumed(t *testing.T, b sbx.Backend, dir string, attempts int) {
	t.Helper()
	r, c, err := open(t.Context(), b, nil, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}()
	for range 2 { // a second time there is nothing to do
		if err := r.Work(t.Context(), c.Issues[0]); err != nil {
			t.Fatal(err)
		}
	}
	p := r.Progress("1")
	if p.State != control.Imported || p.Attempts != attempts {
		t.Errorf("%+v, want %d attempts", p, attempts)
	}
	refs, err := git(t.Context(), c.Git.Dir, "for-each-ref", "--format=%(refname) %(objectname) %(parent)", "refs/candidates")
	if want := "refs/candidates/1 " + p.Commit + " " + c.Issues[0].Base; err != nil || refs != want {
		t.Errorf("the candidates are %q, %v; want %q", refs, err, want)
	}
	text, err := git(t.Context(), c.Git.Dir, "show", p.Commit+":greeting.txt")
	if err != nil || text != "hello world" {
		t.Errorf("the candidate has %q, %v", text, err)
	}
	err = c.Journal.List(t.Context(), func(rec sbx.Record, _ bool) error { return fmt.Errorf("run %s is left in the journal", rec.Run.ID) }, func(path string, err error) { t.Errorf("%s: %v", path, err) })
	if err != nil {
		t.Error(err)
	}
	if f, ok := b.(sbx.Reconciler); ok {
		if left, _, err := f.Find(t.Context(), c.Journal.Owner()); err != nil || len(left) != 0 {
			t.Errorf("the engine still has %+v, %v", left, err)
		}
	}
	for _, pattern := range []string{"exports/*", "index-*"} {
		if left, err := filepath.Glob(filepath.Join(c.Dir, pattern)); err != nil || len(left) != 0 {
			t.Errorf("%v are left, %v", left, err)
		}
	}
}

// TestTheWholeJobOnBwrap is what make run-issuerunner shows.
func TestTheWholeJobOnBwrap(t *testing.T) {
	testhost.Bwrap(t)
	b, err := realBackend("bwrap")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := run(t.Context(), b, nil, t.TempDir(), 3, "", &out); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); strings.Count(text, "imported  1 ") != 4 || strings.Count(text, "failed    3 ") != 2 {
		t.Errorf("the table is\n%s", text)
	}
}

// TestOneAndManyAreLaunchedAlikeOnRealBackends holds the plans of two issues, each worked on alone, against the scheduler's.
func TestOneAndManyAreLaunchedAlikeOnRealBackends(t *testing.T) {
	for name, need := range map[string]func(t *testing.T){
		"bwrap":  func(t *testing.T) { testhost.Bwrap(t) },
		"docker": func(t *testing.T) { testhost.Docker(t) },
		"podman": func(t *testing.T) { testhost.Podman(t) },
	} {
		t.Run(name, func(t *testing.T) {
			need(t)
			dir := t.TempDir()
			worked := func(work func(*control.Runner, control.Config) error) map[string]string {
				t.Helper()
				b, err := realBackend(name)
				if err != nil {
					t.Fatal(err)
				}
				r, c, err := open(t.Context(), b, nil, dir)
				if err != nil {
					t.Fatal(err)
				}
				if err := errors.Join(work(r, c), r.Close()); err != nil {
					t.Fatal(err)
				}
				plans := map[string]string{}
				for _, i := range c.Issues {
					plans[i.ID] = r.Progress(i.ID).Plan
				}
				if err := errors.Join(os.RemoveAll(filepath.Join(dir, "state")), os.RemoveAll(filepath.Join(dir, "repository"))); err != nil {
					t.Fatal(err)
				}
				return plans
			}
			one := worked(func(r *control.Runner, c control.Config) error {
				return errors.Join(r.Work(t.Context(), c.Issues[0]), r.Work(t.Context(), c.Issues[1]))
			})
			many := worked(func(r *control.Runner, _ control.Config) error { return r.Schedule(t.Context(), 4) })
			for id, plan := range one {
				if plan != "" && many[id] != plan {
					t.Errorf("issue %s has the plan %q alone and %q by the scheduler", id, plan, many[id])
				}
			}
			if one["1"] == "" || one["2"] == "" || one["1"] == one["2"] {
				t.Errorf("the plans of the two issues are %q and %q", one["1"], one["2"])
			}
		})
	}
}
