package script_test

import (
	"errors"
	"os"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/script"
)

const (
	sigCHLD syscall.Signal = 17
	sigSTOP syscall.Signal = 19
)

func TestSignals(t *testing.T) {
	hang := []script.Action{script.Hang()}
	tests := []struct {
		name   string
		script script.Script
		send   []syscall.Signal
		alive  bool
		code   int
		signal syscall.Signal
		out    string
	}{
		{name: "the default of TERM is death", script: script.Script{Do: hang}, send: []syscall.Signal{syscall.SIGTERM}, code: -1, signal: syscall.SIGTERM},
		{name: "the default of CHLD is nothing", script: script.Script{Do: hang}, send: []syscall.Signal{sigCHLD}, alive: true},
		{name: "ignored", script: script.Script{Do: hang, Ignore: []syscall.Signal{syscall.SIGTERM}}, send: []syscall.Signal{syscall.SIGTERM, syscall.SIGTERM}, alive: true},
		{name: "KILL cannot be ignored", script: script.Script{Do: hang, Ignore: []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL}},
			send: []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL}, code: -1, signal: syscall.SIGKILL},
		{name: "a trap that exits", script: script.Script{Do: hang, Traps: map[syscall.Signal][]script.Action{
			syscall.SIGTERM: {script.Sleep(time.Second), script.Stdout("cleaned up"), script.Exit(3)}}},
			send: []syscall.Signal{syscall.SIGTERM}, code: 3, out: "cleaned up"},
		{name: "a trap interrupts a long wait", script: script.Script{Do: []script.Action{script.Sleep(time.Hour), script.Stdout("never")},
			Traps: map[syscall.Signal][]script.Action{syscall.SIGINT: nil}}, send: []syscall.Signal{syscall.SIGINT}, code: 0},
		{name: "KILL in a trap", script: script.Script{Do: hang, Traps: map[syscall.Signal][]script.Action{syscall.SIGTERM: hang}},
			send: []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL}, code: -1, signal: syscall.SIGKILL},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := start(t, &tt.script)
				for _, s := range tt.send {
					synctest.Wait()
					if err := r.proc.Signal(t.Context(), s); err != nil {
						t.Fatalf("Signal(%v): %v", s, err)
					}
				}
				if got := r.record().Signals; !slices.Equal(got, tt.send) {
					t.Errorf("recorded %v, want %v", got, tt.send)
				}
				if tt.alive {
					time.Sleep(time.Hour)
					if !r.record().Ended.IsZero() {
						t.Error("the command ended")
					}
					return
				}
				if x := r.wait(); x.Code != tt.code || x.Signal != tt.signal {
					t.Errorf("exit %+v, want %d, %v", x, tt.code, tt.signal)
				}
				if r.out.String() != tt.out {
					t.Errorf("stdout %q, want %q", r.out, tt.out)
				}
				if err := r.proc.Signal(t.Context(), syscall.SIGTERM); !errors.Is(err, os.ErrProcessDone) {
					t.Errorf("Signal after the end: %v, want os.ErrProcessDone", err)
				}
			})
		})
	}
}

func TestStopSignalsAreRefusedAndNotPlayedWrong(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := start(t, &script.Script{Do: []script.Action{script.Hang()}})
		if err := r.proc.Signal(t.Context(), sigSTOP); !errors.Is(err, runtime.ErrUnsupported) {
			t.Errorf("SIGSTOP: %v, want Unsupported", err)
		}
	})
}

func TestKillAndRemoveAreIdempotentInEveryState(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBackend(t, nil, &script.Script{Do: []script.Action{script.Hang()}})
		r, err := prepare(t, b, request(runID, "owner"))
		if err != nil {
			t.Fatal(err)
		}
		ten := func(state string) {
			t.Helper()
			for range 10 {
				if err := r.res.Kill(t.Context()); err != nil {
					t.Errorf("%s: Kill: %v", state, err)
				}
			}
		}
		ten("created")
		if r.proc, err = r.res.Start(t.Context(), &r.start); err != nil {
			t.Fatal(err)
		}
		ten("running")
		if x := r.wait(); x.Signal != syscall.SIGKILL {
			t.Errorf("exit %+v", x)
		}
		ten("exited")
		for n := range 10 {
			d, err := r.res.Remove(t.Context())
			want := "nothing"
			if n == 0 {
				want = "removed"
			}
			if err != nil || d.How != want || !d.Confirmed {
				t.Errorf("Remove %d: %+v, %v", n, d, err)
			}
		}
		ten("removed")
		if _, err := r.res.Start(t.Context(), &r.start); !errors.Is(err, runtime.ErrSetup) {
			t.Errorf("Start after Remove: %v, want Setup", err)
		}
	})
}

func TestRemoveBesideEverythingElse(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := start(t, &script.Script{Do: []script.Action{script.Repeat(1000, script.Stdout("x"), script.Sleep(time.Millisecond))}})
		done := make(chan error, 20)
		for range 10 {
			go func() { _, err := r.res.Remove(t.Context()); done <- err }()
			go func() { done <- r.res.Kill(t.Context()) }()
		}
		for range 20 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if x := r.wait(); x.Signal != syscall.SIGKILL {
			t.Errorf("exit %+v", x)
		}
		if left := r.b.World().Resources(); len(left) != 0 {
			t.Errorf("left: %v", left)
		}
	})
}
