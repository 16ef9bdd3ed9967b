package script_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/script"
)

// driverDescription is a backend that takes whatever a launch asks for.
func driverDescription() *runtime.Description {
	d := *description
	for _, name := range runtime.Vocabulary() {
		d.Features = append(d.Features, runtime.Feature{Name: name, How: runtime.HowBy, By: "script"})
	}
	slices.SortFunc(d.Features, func(a, b runtime.Feature) int { return strings.Compare(a.Name, b.Name) })
	return &d
}

func sandbox(t *testing.T, s *script.Script, opts ...runtime.Option) (*runtime.Sandbox, *script.Backend) {
	t.Helper()
	def := definition(nil, s)
	def.Description = driverDescription()
	b, err := script.New(def)
	if err != nil {
		t.Fatal(err)
	}
	sb, err := runtime.New(b, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sb.Close(); err != nil {
			t.Error(err)
		}
		if err := b.World().Close(); err != nil {
			t.Error(err)
		}
	})
	return sb, b
}

func TestTheDriverOverTheFake(t *testing.T) {
	argv := []string{"job"}
	tests := []struct {
		name    string
		script  script.Script
		launch  runtime.Launch
		outcome runtime.Outcome
		code    int
		timeout string
		takes   time.Duration
	}{
		{name: "exit", script: script.Script{Do: []script.Action{script.Exit(7)}}, outcome: runtime.Exited, code: 7},
		{name: "an hour of silence is idle", script: script.Script{Do: []script.Action{script.Stdout("x"), script.Hang()}},
			launch: runtime.Launch{Timeouts: runtime.Timeouts{Idle: time.Hour}}, outcome: runtime.TimedOut, code: -1, timeout: runtime.TimeoutIdle, takes: time.Hour},
		{name: "output keeps it from being idle", script: script.Script{Do: []script.Action{script.Repeat(10, script.Sleep(50*time.Minute), script.Stdout("."))}},
			launch: runtime.Launch{Timeouts: runtime.Timeouts{Idle: time.Hour}}, outcome: runtime.Exited, takes: 500 * time.Minute},
		{name: "the ladder ends what ignores TERM", script: script.Script{Do: []script.Action{script.Hang()}, Ignore: []syscall.Signal{syscall.SIGTERM}},
			launch: runtime.Launch{Timeouts: runtime.Timeouts{Wall: time.Minute}}, outcome: runtime.TimedOut, code: -1, timeout: runtime.TimeoutWall, takes: time.Minute + 5*time.Second},
		{name: "beats keep it alive and their end does not", script: script.Script{Do: []script.Action{script.Repeat(5, script.Sleep(time.Minute), script.Beat()), script.Hang()}},
			launch: runtime.Launch{Heartbeat: 90 * time.Second}, outcome: runtime.TimedOut, code: -1, timeout: runtime.TimeoutIdle, takes: 5*time.Minute + 90*time.Second},
		{name: "out of memory", script: script.Script{Do: []script.Action{script.OutOfMemory()}}, outcome: runtime.OutOfMemory, code: -1},
		{name: "vanished", script: script.Script{Do: []script.Action{script.Vanish()}}, outcome: runtime.UncertainOutcome, code: -1},
		{name: "a wait that answers for a command that never ran", script: script.Script{Faults: []script.Fault{{At: script.OnStart, Lost: true}}}, outcome: runtime.NeverRan, code: -1},
		{name: "too much output", script: script.Script{Do: []script.Action{script.Repeat(100, script.Stdout("0123456789")), script.Hang()}},
			launch: runtime.Launch{Limits: runtime.Limits{Output: runtime.AtMost(500)}}, outcome: runtime.OutputLimit, code: -1},
		{name: "never ready", script: script.Script{Do: []script.Action{script.Hang()}, Health: []script.Health{{Status: "starting"}}},
			launch:  runtime.Launch{Ready: &runtime.Ready{Health: true}, Timeouts: runtime.Timeouts{Start: 30 * time.Second}},
			outcome: runtime.TimedOut, code: -1, timeout: runtime.TimeoutStart, takes: 30 * time.Second},
		{name: "an engine too slow to start", script: script.Script{Faults: []script.Fault{script.Slow(script.OnPrepare, time.Hour)}},
			launch: runtime.Launch{Timeouts: runtime.Timeouts{Start: time.Minute}}, outcome: runtime.TimedOut, code: -1, timeout: runtime.TimeoutStart, takes: time.Minute},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			real := time.Now()
			bubble(t, func(t *testing.T) {
				began := time.Now()
				tt.launch.Argv = argv
				sb, b := sandbox(t, &tt.script)
				res, err := sb.Run(t.Context(), tt.launch)
				if res.Outcome != tt.outcome || res.Code != tt.code || res.Timeout != tt.timeout || res.Failure != nil && !errors.Is(err, res.Failure) {
					t.Errorf("result %v (code %d, timeout %q), failure %v", res, res.Code, res.Timeout, err)
				}
				if took := time.Since(began); took < tt.takes || took > tt.takes+time.Second {
					t.Errorf("took %v, want %v", took, tt.takes)
				}
				if left := b.World().Resources(); len(left) != 0 {
					t.Errorf("left: %v", left)
				}
			})
			if d := time.Since(real); d > 5*time.Second {
				t.Errorf("took %v of real time", d)
			}
		})
	}
}

func TestADuplexTalkThroughTheDriver(t *testing.T) {
	bubble(t, func(t *testing.T) {
		sb, b := sandbox(t, &script.Script{Do: []script.Action{
			script.Read("ping\n"), script.Stdout("pong\n"), script.Sleep(time.Hour), script.ReadEOF(), script.Exit(0),
		}})
		r, err := sb.Launch(t.Context(), runtime.Launch{Argv: []string{"agent"}, Stdin: runtime.Stdin{Mode: runtime.StdinPipe}, Stdout: runtime.Pipe})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(r.Stdin(), "ping\n"); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, 5)
		if _, err := io.ReadFull(r.Stdout(), got); err != nil || string(got) != "pong\n" {
			t.Fatalf("read %q, %v", got, err)
		}
		if err := r.CloseWrite(); err != nil {
			t.Fatal(err)
		}
		if rest, err := io.ReadAll(r.Stdout()); len(rest) != 0 || err != nil {
			t.Errorf("then read %q, %v", rest, err)
		}
		res, err := r.Wait(t.Context())
		if err != nil || !res.Success() {
			t.Errorf("result %v, %v", res, err)
		}
		if err := b.World().Check(); err != nil {
			t.Error(err)
		}
	})
}

func TestACrashOfTheDriverAndItsReconcile(t *testing.T) {
	for _, tt := range []struct {
		at      script.Op
		after   bool
		outcome runtime.Outcome
	}{
		{script.OnPrepare, false, runtime.NeverRan}, {script.OnPrepare, true, runtime.NeverRan}, {script.OnStage, true, runtime.NeverRan},
		{script.OnHeld, false, runtime.NeverRan}, {script.OnStart, true, runtime.Exited}, {script.OnWait, true, runtime.Exited},
	} {
		t.Run(string(tt.at), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				j := script.NewJournal("me", "/state")
				sb, b := sandbox(t, &script.Script{
					Do:     []script.Action{script.Sleep(time.Minute), script.Exit(5)},
					Faults: []script.Fault{{At: tt.at, After: tt.after, Crash: true}},
				}, runtime.WithJournal(j))
				b.OnCrash(func(script.Op) { j.Crash() })
				if res, err := sb.Run(t.Context(), runtime.Launch{Argv: []string{"job"}}); !errors.Is(err, script.ErrCrashed) {
					t.Fatalf("the crashed controller gave %v, %v", res, err)
				}
				time.Sleep(time.Hour) // the command ends with nobody there

				def := definition(b.World(), nil)
				def.Description = driverDescription()
				nb, err := script.New(def)
				if err != nil {
					t.Fatal(err)
				}
				next, err := runtime.New(nb, runtime.WithJournal(j))
				if err != nil {
					t.Fatal(err)
				}
				defer closes(t, next)
				rep, err := next.Reconcile(t.Context(), runtime.ReconcileOptions{})
				if err != nil || len(rep.Runs) != 1 || !rep.Runs[0].Removed || rep.Runs[0].Outcome != tt.outcome {
					t.Fatalf("reconciled %+v, %v; want one run, removed, %s", rep, err, tt.outcome)
				}
				if tt.outcome == runtime.Exited && rep.Runs[0].Code != 5 {
					t.Errorf("code %d", rep.Runs[0].Code)
				}
				if left := b.World().Resources(); len(left) != 0 {
					t.Errorf("left: %v", left)
				}
				if rep, err = next.Reconcile(t.Context(), runtime.ReconcileOptions{}); err != nil || len(rep.Runs) != 0 {
					t.Errorf("a second reconcile did %+v, %v", rep, err)
				}
			})
		})
	}
}

func TestCancelingTheCallersContextStopsByTheLadder(t *testing.T) {
	bubble(t, func(t *testing.T) {
		sb, b := sandbox(t, &script.Script{Do: []script.Action{script.Hang()}})
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			time.Sleep(time.Hour)
			cancel()
		}()
		res, err := sb.Run(ctx, runtime.Launch{Argv: []string{"job"}})
		if res.Outcome != runtime.Canceled {
			t.Errorf("result %v, %v", res, err)
		}
		if got := b.World().Runs()[0].Signals; !slices.Equal(got, []syscall.Signal{syscall.SIGTERM}) {
			t.Errorf("signals %v", got)
		}
		synctest.Wait()
	})
}
