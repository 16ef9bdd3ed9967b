//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
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
	"github.com/sbxkit/sbxkit/generated/local"
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

// places are the backends of this host.
var places = []struct {
	name  string
	need  func(*testing.T)
	times int // how often a controller is killed by chance
}{
	{"local", func(*testing.T) {}, 10},
	{"bwrap", func(t *testing.T) { testhost.Bwrap(t) }, 10},
	{"docker", func(t *testing.T) { testhost.Docker(t) }, 3},
	{"podman", func(t *testing.T) { testhost.Podman(t) }, 3},
}

// place is a backend as a controller is wired to it.
type place struct {
	sbx.Backend // nil where there is no sandbox
	opts        []sbx.Option
}

// at gives the place of a name. Without a sandbox is said openly: the program itself has no name for that.
func at(name string) (p place, err error) {
	image := os.Getenv("SBX_TEST_IMAGE")
	switch name {
	case "local":
		b, err := local.New(local.Options{})
		return place{opts: []sbx.Option{sbx.WithMode(sbx.Disabled), sbx.WithUnsandboxed(b)}}, err
	case "bwrap":
		p.Backend, err = bwrap.New(bwrap.Options{})
	case "docker":
		p.Backend, err = docker.New(docker.Options{Endpoint: os.Getenv("SBX_TEST_DOCKER_HOST"), Image: image})
	case "podman":
		p.Backend, err = podman.New(podman.Options{Endpoint: os.Getenv("SBX_TEST_PODMAN_HOST"), Image: image})
	default:
		err = fmt.Errorf("no backend %q", name)
	}
	return p, err
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
	p, err := at(os.Getenv(envBackend))
	if err == nil {
		err = run(context.Background(), p.Backend, os.Getenv(envDir), 1, "1", os.Stderr, append(p.opts, sbx.WithObserver(dieAt(point)))...)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 8
	}
	return 9
}

// anywhere is a point that a controller does not come by: it is killed from outside, or ends.
const anywhere = "anywhere"

// started starts a controller as a process of its own.
func started(t *testing.T, backend, dir, point string) (cmd *exec.Cmd, said *bytes.Buffer) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	said = &bytes.Buffer{}
	cmd = exec.CommandContext(t.Context(), self)
	cmd.Stdout, cmd.Stderr = said, said
	cmd.Env = []string{envPoint + "=" + point, envBackend + "=" + backend, envDir + "=" + dir}
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "GORACE", "SBX_TEST_IMAGE", "SBX_TEST_DOCKER_HOST", "SBX_TEST_PODMAN_HOST"} {
		cmd.Env = append(cmd.Env, name+"="+os.Getenv(name))
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, said
}

// killed runs a controller that must die at its point.
func killed(t *testing.T, backend, dir, point string) {
	t.Helper()
	cmd, said := started(t, backend, dir, point)
	hangs := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Signal(syscall.SIGABRT) })
	err := cmd.Wait()
	var e *exec.ExitError
	if !hangs.Stop() || !errors.As(err, &e) || e.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("the controller did not die at %s: %v\n%s", point, err, said)
	}
	settled(t, dir)
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

// TestKillNineAtEachStepThenResume kills a controller at a step, starts the next one on what is left, and finds one candidate imported, each
// attempt counted once and nothing left. What one step's end and the next one's begin tell apart is seen on the other backends: on Podman,
// whose controllers take seconds to start, the begins are left to make soak.
func TestKillNineAtEachStepThenResume(t *testing.T) {
	for _, where := range places {
		t.Run(where.name, func(t *testing.T) {
			t.Parallel()
			where.need(t)
			for _, s := range steps {
				points := []string{"begin:" + string(s), "end:" + string(s)}
				if where.name == "podman" && !testhost.Soak() {
					points = points[1:]
				}
				for _, point := range points {
					t.Run(point, func(t *testing.T) {
						dir := t.TempDir()
						killed(t, where.name, dir, point)
						resumed(t, where.name, dir, attempts(point), attempts(point))
					})
				}
			}
		})
	}
}

// TestKillNineAtAnyTimeThenResume kills a controller at a moment that chance chooses out of the time one takes that is left alone.
func TestKillNineAtAnyTimeThenResume(t *testing.T) {
	for _, where := range places {
		t.Run(where.name, func(t *testing.T) {
			t.Parallel()
			where.need(t)
			times := where.times
			if testhost.Soak() {
				times *= 10
			}
			began, dir := time.Now(), t.TempDir()
			cmd, said := started(t, where.name, dir, anywhere)
			var e *exec.ExitError
			if err := cmd.Wait(); !errors.As(err, &e) || e.ExitCode() != 9 {
				t.Fatalf("a controller that is left alone: %v\n%s", err, said)
			}
			takes := time.Since(began)
			for n := range times {
				after := rand.N(takes)
				t.Run(fmt.Sprintf("%d after %v", n, after.Round(time.Millisecond)), func(t *testing.T) {
					dir := t.TempDir()
					cmd, said := started(t, where.name, dir, anywhere)
					killing := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
					err := cmd.Wait()
					killing.Stop()
					if !errors.As(err, &e) || e.ExitCode() != 9 && e.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
						t.Fatalf("neither killed nor done: %v\n%s", err, said)
					}
					settled(t, dir)
					resumed(t, where.name, dir, 1, 2)
				})
			}
		})
	}
}

// settled waits for the programs that a killed controller had started to work in dir, which end by themselves.
func settled(t *testing.T, dir string) {
	t.Helper()
	for limit := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		files, err := filepath.Glob("/proc/[0-9]*/cmdline")
		if err != nil {
			t.Fatal(err)
		}
		var left []string
		for _, f := range files {
			// What is gone by now is not left.
			if words, err := os.ReadFile(f); err == nil && bytes.HasPrefix(words, []byte("git\x00")) && bytes.Contains(words, []byte(dir)) {
				left = append(left, string(bytes.ReplaceAll(words, []byte{0}, []byte(" "))))
			}
		}
		if len(left) == 0 {
			return
		}
		if time.Now().After(limit) {
			t.Fatalf("%q have not ended", left)
		}
	}
}

// resumed starts a controller on dir, twice, and checks the end; least and most are how many attempts count then.
func resumed(t *testing.T, backend, dir string, least, most int) {
	t.Helper()
	where, err := at(backend)
	if err != nil {
		t.Fatal(err)
	}
	r, c, err := open(t.Context(), where.Backend, dir, where.opts...)
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
	if p.State != control.Imported || p.Attempts < least || p.Attempts > most {
		t.Errorf("%+v, want %d to %d attempts", p, least, most)
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
	if f, ok := where.Backend.(sbx.Reconciler); ok {
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
	p, err := at("bwrap")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := run(t.Context(), p.Backend, t.TempDir(), 3, "", &out); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); strings.Count(text, "imported  1 ") != 4 || strings.Count(text, "failed    3 ") != 2 {
		t.Errorf("the table is\n%s", text)
	}
}

// TestOneAndManyAreLaunchedAlikeOnRealBackends holds the plans of two issues, each worked on alone, against the scheduler's.
func TestOneAndManyAreLaunchedAlikeOnRealBackends(t *testing.T) {
	for _, where := range places {
		t.Run(where.name, func(t *testing.T) {
			t.Parallel()
			where.need(t)
			dir := t.TempDir()
			worked := func(work func(*control.Runner, control.Config) error) map[string]string {
				t.Helper()
				p, err := at(where.name)
				if err != nil {
					t.Fatal(err)
				}
				r, c, err := open(t.Context(), p.Backend, dir, p.opts...)
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
