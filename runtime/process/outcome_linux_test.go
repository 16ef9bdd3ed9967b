package process

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sbxkit/sbxkit/runtime"
)

// TestEveryOutcomeOfARealSandboxHasItsEvidence takes launches through the driver to each end that a command can have.
func TestEveryOutcomeOfARealSandboxHasItsEvidence(t *testing.T) {
	d := bwrapDefinition()
	d.Description.Stop = []runtime.StopRung{{Signal: int(syscall.SIGTERM)}, {Grace: 10 * time.Second}}
	b := backend(t, d)
	for _, c := range []struct {
		name, text string
		change     func(*runtime.Launch)
		// needs is a limit that a control group keeps.
		needs string
		// cancel ends the caller's context when the command has been started.
		cancel bool

		outcome runtime.Outcome
		code    int
		signal  syscall.Signal
		timeout string
		cause   string
		rungs   string // used, by name
		kind    error
		// note tells that the command ended before it was watched, and was read as ended by a signal: it may be where ptrace is refused.
		note string
	}{
		{name: "exit", text: "exit 3", outcome: runtime.Exited, code: 3},
		{name: "a status that looks like a signal's", text: "sleep 0.3; exit 137", outcome: runtime.Exited, code: 137},
		{name: "such a status at once", text: "exit 137", outcome: runtime.Exited, code: 137, note: "exit status 137 is read as signal 9"},
		{name: "a signal", text: "kill -TERM $$", outcome: runtime.Signaled, code: -1, signal: syscall.SIGTERM},
		{name: "wall time", text: "sleep 1000", change: func(l *runtime.Launch) { l.Timeouts.Wall = 200 * time.Millisecond },
			outcome: runtime.TimedOut, code: -1, signal: syscall.SIGTERM, timeout: "wall", cause: "200ms", rungs: "TERM"},
		{name: "idle time", text: "echo x; sleep 1000", change: func(l *runtime.Launch) { l.Timeouts.Idle = 200 * time.Millisecond },
			outcome: runtime.TimedOut, code: -1, signal: syscall.SIGTERM, timeout: "idle", cause: "200ms", rungs: "TERM"},
		{name: "wall time of a command that ignores TERM", text: "trap '' TERM; while :; do sleep 0.1; done", change: func(l *runtime.Launch) {
			l.Timeouts.Wall, l.Timeouts.Grace = time.Second, 200*time.Millisecond
		}, outcome: runtime.TimedOut, code: -1, signal: syscall.SIGKILL, timeout: "wall", rungs: "TERM kill"},
		{name: "cancellation", text: "echo x; sleep 1000", cancel: true, outcome: runtime.Canceled, code: -1, signal: syscall.SIGTERM, cause: "context", rungs: "TERM"},
		{name: "output limit", text: "while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done", change: func(l *runtime.Launch) { l.Limits.Output = runtime.AtMost(1 << 16) },
			outcome: runtime.OutputLimit, code: -1, cause: "output", rungs: "TERM"},
		{name: "memory", text: "x=xxxxxxxxxxxxxxxx; while :; do x=$x$x; done", needs: "limits.memory", change: func(l *runtime.Launch) {
			l.Limits.Memory, l.Limits.Swap = runtime.AtMost(32<<20), runtime.AtMost(0)
		}, outcome: runtime.OutOfMemory, code: -1, signal: syscall.SIGKILL},
		{name: "never ran", change: func(l *runtime.Launch) { l.Script, l.Argv = nil, []string{"no-such-command"} }, outcome: runtime.NeverRan, code: -1, kind: runtime.ErrCommand},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.needs != "" {
				needGroups(t, b, c.needs)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			box, err := runtime.New(b, runtime.WithObserver(runtime.ObserverFunc(func(e runtime.Event) {
				if c.cancel && e.Step == runtime.StepStart && e.State == runtime.StateDone {
					cancel()
				}
			})))
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			l := runtime.Launch{Script: &runtime.Script{Interpreter: []string{"/bin/sh"}, Text: []byte(c.text)}, Stdout: &out, Timeouts: runtime.Timeouts{Grace: 10 * time.Second}}
			if c.change != nil {
				c.change(&l)
			}
			res, err := box.Run(ctx, l)
			t.Logf("%v: %+v", res, res.Evidence)
			if c.note != "" && ptraceDenied() && slices.Contains(res.Evidence.Notes, c.note) {
				c.outcome, c.code, c.signal = runtime.Signaled, -1, syscall.SIGKILL
			}
			if res.Outcome != c.outcome || res.Code != c.code || c.signal != 0 && res.Signal != c.signal || res.Timeout != c.timeout {
				t.Errorf("%v, code %d, signal %v, timeout %q; want %s %d %v %q", res, res.Code, res.Signal, res.Timeout, c.outcome, c.code, c.signal, c.timeout)
			}
			if c.kind == nil && err != nil || c.kind != nil && !errors.Is(err, c.kind) {
				t.Errorf("error %v, want %v", err, c.kind)
			}
			e := res.Evidence
			var rungs []string
			for _, r := range e.Ladder {
				rungs = append(rungs, r.Name)
			}
			if got := strings.Join(rungs, " "); got != c.rungs && !(c.rungs != "" && strings.HasPrefix(got, c.rungs)) {
				t.Errorf("rungs %q, want %q", got, c.rungs)
			}
			if !strings.Contains(e.Cause, c.cause) || c.cause == "" && c.rungs == "" && e.Cause != "" {
				t.Errorf("the cause is %q, want %q", e.Cause, c.cause)
			}
			if ran := c.outcome != runtime.NeverRan; ran != (e.Observer != "") {
				t.Errorf("observed by %q", e.Observer)
			}
			switch c.outcome {
			case runtime.OutOfMemory:
				if e.OOMKills < 1 || e.MemoryEvents == "" {
					t.Errorf("kills %d of %q", e.OOMKills, e.MemoryEvents)
				}
			case runtime.OutputLimit:
				if n := out.Len(); n != 1<<16 || e.StdoutDropped < 1 {
					t.Errorf("%d bytes came through, %d were dropped", n, e.StdoutDropped)
				}
			}
			if err := box.Close(); err != nil { // the backend's thread starts anew with the next launch
				t.Error(err)
			}
		})
	}
}

// TestAContextThatEndsAtTheFirstByteCancels: the command writes as soon as it is let go, which can be before its start has returned.
func TestAContextThatEndsAtTheFirstByteCancels(t *testing.T) {
	both(t, func(t *testing.T, b *Backend) {
		var options []runtime.Option
		if b.def.Gate == GateExec { // local, which isolates nothing
			options = append(options, runtime.WithMode(runtime.Disabled), runtime.WithUnsandboxed(b))
		}
		box, err := runtime.New(b, options...)
		if err != nil {
			t.Fatal(err)
		}
		for n := range 100 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			res, err := box.Run(ctx, runtime.Launch{
				Script: &runtime.Script{Interpreter: []string{"/bin/sh"}, Text: []byte("echo x; exec sleep 1000")}, Stdout: writes(cancel),
			})
			if err != nil || res.Outcome != runtime.Canceled || res.Evidence.Cause == "" {
				t.Fatalf("run %d: %v, %+v, %v", n, res, res.Evidence, err)
			}
		}
		if err := box.Close(); err != nil {
			t.Error(err)
		}
	})
}

// writes is called at each write.
type writes func()

func (f writes) Write(p []byte) (int, error) {
	f()
	return len(p), nil
}
