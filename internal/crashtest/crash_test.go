//go:build linux

// Package crashtest kills a real controller at every step boundary on every real backend of this host, and lets the next one reconcile.
// It holds tests only: a crash point is an observer or a journal of the test's own, so that nothing of it is compiled into the seam.
//
//sbx:seam its tests drive every real backend
package crashtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sbxkit/sbxkit/generated/bwrap"
	"github.com/sbxkit/sbxkit/generated/docker"
	"github.com/sbxkit/sbxkit/generated/podman"
	"github.com/sbxkit/sbxkit/internal/testhost"
	sbx "github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/journal"
)

// The environment of a controller that the test starts again as a process of its own.
const (
	envPoint   = "SBX_CRASH_POINT"
	envBackend = "SBX_CRASH_BACKEND"
	envState   = "SBX_CRASH_STATE"
	envMarker  = "SBX_CRASH_MARKER"
)

// Points of controllers that somebody else ends by a signal: one knows nothing of signals, the other gives its launch up at TERM. Both say
// when they begin to make something, and are then let go by the end of their stdin.
const (
	pointUnheard = "unheard"
	pointHeard   = "heard"
	preparing    = "preparing\n"
)

func TestMain(m *testing.M) {
	if p := os.Getenv(envPoint); p != "" {
		os.Exit(controller(p))
	}
	os.Exit(m.Run())
}

func newBackend(name string) (sbx.Backend, error) {
	switch name {
	case "bwrap":
		return bwrap.New(bwrap.Options{})
	case "docker":
		return docker.New(docker.Options{Endpoint: os.Getenv("SBX_TEST_DOCKER_HOST")})
	case "podman":
		return podman.New(podman.Options{Endpoint: os.Getenv("SBX_TEST_PODMAN_HOST")})
	}
	return nil, fmt.Errorf("no backend %q", name)
}

// point is a place to die at: "begin:STEP", "end:STEP" (around a step of the driver), "update:N" (after the Nth write of the record, which
// also happens inside steps), "running" (while the command runs), or one of the points at which somebody else ends it.
type killer struct {
	sbx.Journal
	point   string
	updates int
}

func die() {
	// SIGKILL to ourselves does not return.
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

func (k *killer) Event(e sbx.Event) {
	if e.Result != nil {
		return
	}
	at := "begin:"
	if e.State != "" {
		at = "end:"
	}
	if k.point == at+string(e.Step) {
		die()
	}
	if (k.point == pointHeard || k.point == pointUnheard) && at == "begin:" && e.Step == sbx.StepPrepare {
		fmt.Print(preparing)
		_, _ = io.Copy(io.Discard, os.Stdin) // until it is let go
	}
}

func (k *killer) Create(ctx context.Context, r sbx.Record) (sbx.JournalEntry, error) {
	e, err := k.Journal.Create(ctx, r)
	if err != nil {
		return nil, err
	}
	k.updated()
	return &entry{e, k}, nil
}

func (k *killer) updated() {
	k.updates++
	if k.point == "update:"+strconv.Itoa(k.updates) {
		die()
	}
}

type entry struct {
	sbx.JournalEntry
	k *killer
}

func (e *entry) Update(r sbx.Record, sync bool) error {
	err := e.JournalEntry.Update(r, sync)
	e.k.updated()
	return err
}

// job is a command that can be found by its marker on the host: it stays when stay is set, and ends with 3 otherwise.
func job(backend, marker string, stay bool) sbx.Launch {
	text := "exit 3"
	if stay {
		text = "while :; do sleep 1; done"
	}
	l := sbx.Launch{
		Script: &sbx.Script{Interpreter: []string{"/bin/sh"}, Text: []byte(text), Args: []string{marker}},
		Labels: map[string]string{"marker": marker},
	}
	if backend != "bwrap" {
		l.Image.Ref = os.Getenv("SBX_TEST_IMAGE")
	}
	return l
}

// controller is the process that dies. It exits 9 where its point did not come.
func controller(point string) int {
	fail := func(err error) int {
		fmt.Fprintln(os.Stderr, err)
		return 8
	}
	b, err := newBackend(os.Getenv(envBackend))
	if err != nil {
		return fail(err)
	}
	j, err := journal.Open(context.Background(), os.Getenv(envState))
	if err != nil {
		return fail(err)
	}
	k := &killer{Journal: j, point: point}
	box, err := sbx.New(b, sbx.WithJournal(k), sbx.WithObserver(k))
	if err != nil {
		return fail(err)
	}
	ctx := context.Background()
	if point == pointUnheard || point == pointHeard {
		var stop context.CancelFunc
		ctx, stop = context.WithCancel(ctx)
		if point == pointHeard {
			ctx, stop = signal.NotifyContext(ctx, syscall.SIGTERM)
		}
		defer stop()
	}
	stay := point == "running" || point == pointUnheard || point == pointHeard || point == "begin:capture" || strings.HasPrefix(point, "update:") || point == "end:start"
	r, err := box.Launch(ctx, job(os.Getenv(envBackend), os.Getenv(envMarker), stay))
	if ctx.Err() != nil {
		return 9
	}
	if err != nil {
		return fail(err)
	}
	if point == "running" {
		die()
	}
	if point == pointHeard || point == pointUnheard {
		<-ctx.Done()
		if err := r.Kill(context.Background()); err != nil {
			return fail(err)
		}
		<-r.Done()
		return 9
	}
	if strings.HasPrefix(point, "update:") {
		if _, err := r.Stop(context.Background()); err != nil {
			return fail(err)
		}
	}
	if res, err := r.Wait(context.Background()); err != nil {
		return fail(fmt.Errorf("the run ended %v: %w", res, err))
	}
	return 9
}

// crash runs a controller until it dies at point; came is false where it ended without coming by there.
func crash(t *testing.T, backend, state, marker, point string) (came bool) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(os.Environ(), envPoint+"="+point, envBackend+"="+backend, envState+"="+state, envMarker+"="+marker)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	var e *exec.ExitError
	if errors.As(err, &e) {
		if ws := e.Sys().(syscall.WaitStatus); ws.Signaled() && ws.Signal() == syscall.SIGKILL && ctx.Err() == nil {
			return true
		}
		if e.ExitCode() == 9 {
			return false
		}
	}
	t.Fatalf("the controller ended with %v\n%s", err, &out)
	return false
}

// processes finds the processes of this host whose command line has the marker.
func processes(t *testing.T, marker string) (pids []string) {
	t.Helper()
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range lines {
		b, err := os.ReadFile(p)
		if err == nil && bytes.Contains(b, []byte(marker)) {
			pids = append(pids, filepath.Base(filepath.Dir(p)))
		}
	}
	return pids
}

// gone waits until no process has the marker: a killed process is gone a moment after its kill.
func gone(t *testing.T, marker string) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		pids := processes(t, marker)
		if len(pids) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("processes %v are left", pids)
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func runDirs(t *testing.T, state string) (names []string) {
	t.Helper()
	j, err := journal.Open(t.Context(), state)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(filepath.Dir(j.RunDir("x")))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func reconcile(t *testing.T, backend, state string) *sbx.ReconcileReport {
	t.Helper()
	b, err := newBackend(backend)
	if err != nil {
		t.Fatal(err)
	}
	j, err := journal.Open(t.Context(), state)
	if err != nil {
		t.Fatal(err)
	}
	box, err := sbx.New(b, sbx.WithJournal(j))
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, box)
	rep, err := box.Reconcile(t.Context(), sbx.ReconcileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

// closed closes a driver and fails the test where that fails.
func closed(t *testing.T, box *sbx.Sandbox) {
	t.Helper()
	if err := box.Close(); err != nil {
		t.Error(err)
	}
}

// found lists what an owner has on an engine.
func found(t *testing.T, backend, owner string) []sbx.Token {
	t.Helper()
	b, err := newBackend(backend)
	if err != nil {
		t.Fatal(err)
	}
	f, ok := b.(sbx.Reconciler)
	if !ok {
		return nil
	}
	tokens, _, err := f.Find(t.Context(), owner)
	if err != nil {
		t.Fatal(err)
	}
	return tokens
}

// points are the step boundaries a launch comes by, in order.
func points() (list []string) {
	for _, s := range []sbx.Step{sbx.StepPrepare, sbx.StepStage, sbx.StepCharge, sbx.StepStart, sbx.StepCapture, sbx.StepExport, sbx.StepImport, sbx.StepRemove} {
		list = append(list, "begin:"+string(s), "end:"+string(s))
	}
	return append(list, "running")
}

func backends(t *testing.T) map[string]func(testing.TB) {
	return map[string]func(testing.TB){
		"bwrap":  testhost.Bwrap,
		"docker": func(t testing.TB) { testhost.Docker(t) },
		"podman": func(t testing.TB) { testhost.Podman(t) },
	}
}

// TestKillNineAtEveryStep is the crash grid: a kill at each boundary, then one reconcile that removes everything and tells the truth, then
// a second one that finds nothing. Another controller's run on the same engine lives through all of it.
func TestKillNineAtEveryStep(t *testing.T) {
	for name, need := range backends(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			need(t)
			other := startForeign(t, name)
			for _, point := range points() {
				t.Run(point, func(t *testing.T) {
					state := filepath.Join(t.TempDir(), "state")
					marker := "sbxmark" + strconv.FormatInt(time.Now().UnixNano(), 36)
					if !crash(t, name, state, marker, point) {
						t.Fatalf("the launch did not come by %s", point)
					}
					settled(t, name, state, marker, point)
				})
			}
			other.lives(t)
		})
	}
}

// TestKillNineAtEveryRecord dies after each write of the record, some of which are in the middle of a step.
func TestKillNineAtEveryRecord(t *testing.T) {
	for name, need := range backends(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			need(t)
			n := 1
			for ; n < 40; n++ {
				point := "update:" + strconv.Itoa(n)
				came := false
				t.Run(point, func(t *testing.T) {
					state := filepath.Join(t.TempDir(), "state")
					marker := "sbxmark" + strconv.FormatInt(time.Now().UnixNano(), 36)
					if came = crash(t, name, state, marker, point); came {
						settled(t, name, state, marker, point)
					}
				})
				if !came {
					break
				}
			}
			if n < 8 {
				t.Errorf("a launch writes its record only %d times", n-1)
			}
		})
	}
}

// settled reconciles twice and checks that nothing is left and the outcome is true.
func settled(t *testing.T, backend, state, marker, point string) {
	t.Helper()
	rep := reconcile(t, backend, state)
	if rep.Live != 0 || len(rep.Bad) != 0 || len(rep.Runs) > 1 {
		t.Errorf("reconcile found %+v", rep)
	}
	for _, r := range rep.Runs {
		if !r.Removed || r.Failure != nil {
			t.Errorf("not removed: %+v: %v", r, r.Failure)
		}
		switch point {
		case "begin:prepare", "end:prepare", "begin:stage", "end:stage", "begin:charge", "end:charge":
			if r.Outcome != sbx.NeverRan {
				t.Errorf("a launch that died at %s has the outcome %s", point, r.Outcome)
			}
			if r.Charged && point != "end:charge" {
				t.Errorf("a launch that died at %s is charged", point)
			}
		case "running", "begin:capture":
			if r.Outcome == sbx.Exited || r.Outcome == sbx.NeverRan {
				t.Errorf("a command that was running has the outcome %s", r.Outcome)
			}
		}
		// An engine's record of a command that was being stopped gives 128 and the signal's number.
		if r.Outcome == sbx.Exited && r.Code != 3 && !strings.HasPrefix(point, "update:") {
			t.Errorf("exited %d, and the command exits 3", r.Code)
		}
	}
	gone(t, marker)
	if left := found(t, backend, rep.Owner); len(left) != 0 {
		t.Errorf("the engine still has %+v", left)
	}
	if left := runDirs(t, state); len(left) != 0 {
		t.Errorf("run directories %v are left", left)
	}
	if again := reconcile(t, backend, state); len(again.Runs) != 0 || again.Owner != rep.Owner {
		t.Errorf("a second reconcile did %+v", again)
	}
}

// foreign is another controller's living run.
type foreign struct {
	run    *sbx.Run
	marker string
}

func startForeign(t *testing.T, backend string) *foreign {
	t.Helper()
	b, err := newBackend(backend)
	if err != nil {
		t.Fatal(err)
	}
	j, err := journal.Open(t.Context(), filepath.Join(t.TempDir(), "other"))
	if err != nil {
		t.Fatal(err)
	}
	box, err := sbx.New(b, sbx.WithJournal(j))
	if err != nil {
		t.Fatal(err)
	}
	f := &foreign{marker: "sbxother" + strconv.FormatInt(time.Now().UnixNano(), 36)}
	if f.run, err = box.Launch(t.Context(), job(backend, f.marker, true)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.run.Kill(context.Background()); err != nil {
			t.Error(err)
		}
		if err := box.Close(); err != nil {
			t.Error(err)
		}
		gone(t, f.marker)
	})
	return f
}

func (f *foreign) lives(t *testing.T) {
	t.Helper()
	select {
	case <-f.run.Done():
		t.Error("another controller's run was ended")
	default:
	}
	if len(processes(t, f.marker)) == 0 {
		t.Error("another controller's command is gone")
	}
}
