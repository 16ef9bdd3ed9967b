package script_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/script"
)

// walk makes every call a driver makes, up to and with the one that fails, and says which that was.
func walk(t *testing.T, b *script.Backend, id string, ctx context.Context) (script.Op, error) {
	t.Helper()
	req := request(id, "owner")
	identity, err := b.Probe(ctx, runtime.ProbeRequest{})
	if err != nil {
		return script.OnProbe, err
	}
	if _, err := b.Ensure(ctx, runtime.Image{Ref: "img"}, nil); err != nil {
		return script.OnEnsure, err
	}
	p, err := b.Plan(runtime.PlanInput{Request: req, Identity: *identity})
	if err != nil {
		return script.OnPlan, err
	}
	res, err := b.Prepare(ctx, p)
	if err != nil {
		return script.OnPrepare, err
	}
	if _, err := res.Stage(ctx, &runtime.Stage{}); err != nil {
		return script.OnStage, err
	}
	proc, err := res.Start(ctx, &runtime.StartRequest{Stdout: runtime.Output{Writer: &buffer{}}, Stderr: runtime.Output{Writer: &buffer{}}, Terminal: &runtime.Terminal{}})
	if err != nil {
		return script.OnStart, err
	}
	for _, c := range []struct {
		op script.Op
		do func() error
	}{
		{script.OnHealth, func() error { _, err := proc.Health(ctx); return err }},
		{script.OnExec, func() error { _, err := proc.Exec(ctx, []string{"true"}); return err }},
		{script.OnDial, func() error { _, err := proc.Dial(ctx, 80); return err }},
		{script.OnResize, func() error { return proc.Resize(80, 25) }},
		{script.OnSignal, func() error { return proc.Signal(ctx, syscall.SIGTERM) }},
		{script.OnWait, func() error { _, err := proc.Wait(ctx, 0); return err }},
		{script.OnExport, func() error { _, err := res.Export(ctx, t.TempDir(), &runtime.Artifacts{}); return err }},
		{script.OnKill, func() error { return res.Kill(ctx) }},
		{script.OnRemove, func() error { _, err := res.Remove(ctx); return err }},
		{script.OnReopen, func() error { _, err := b.Reopen(ctx, res.Token()); return err }},
		{script.OnFind, func() error { _, _, err := b.Find(ctx, "owner"); return err }},
	} {
		if err := c.do(); err != nil {
			return c.op, err
		}
	}
	return "", nil
}

func steady(faults ...script.Fault) *script.Script {
	return &script.Script{
		Do: []script.Action{script.Hang()}, Exec: []script.ExecAnswer{{}}, Ports: map[int]time.Duration{80: 0}, Faults: faults,
	}
}

// failsIn is the call in which a fault at op shows.
func failsIn(op script.Op) script.Op {
	if op == script.OnHeld || op == script.OnReleased {
		return script.OnStart
	}
	return op
}

// faultable are the ops walk comes by.
func faultable() []script.Op {
	var list []script.Op
	for _, op := range script.Ops() {
		if op != script.OnWitnessed {
			list = append(list, op)
		}
	}
	return list
}

func TestNothingGoesWrongByItself(t *testing.T) {
	bubble(t, func(t *testing.T) {
		if op, err := walk(t, newBackend(t, nil, steady()), runID, t.Context()); err != nil {
			t.Errorf("%s: %v", op, err)
		}
	})
}

func TestEveryCallCanBeRefusedWithEveryKind(t *testing.T) {
	for _, op := range faultable() {
		for _, kind := range []runtime.Kind{runtime.Unsupported, runtime.Denied, runtime.Setup, runtime.Command, runtime.Uncertain} {
			for _, after := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s %s after=%v", op, kind, after), func(t *testing.T) {
					bubble(t, func(t *testing.T) {
						f := script.Refuse(op, kind, "no")
						f.After = after
						b := newBackend(t, nil, steady(f))
						at, err := walk(t, b, runID, t.Context())
						var failure *runtime.Failure
						if at != failsIn(op) || !errors.As(err, &failure) || failure.Kind != kind || failure.Message != "no" || failure.Step == "" {
							t.Fatalf("%s failed with %v", at, err)
						}
						// A driver fills in failures; the next one must not see that.
						failure.Backend = "somebody"
						if _, again := walk(t, newBackend(t, b.World(), steady(f)), "b", t.Context()); errors.As(again, &failure) && failure.Backend != "" {
							t.Error("two calls share one Failure")
						}
						exists := len(b.World().Resources()) > 0
						if op == script.OnPrepare && exists != after {
							t.Errorf("a Prepare refused after=%v left something: %v", after, exists)
						}
					})
				})
			}
		}
	}
}

func TestACauseKeepsItsIdentity(t *testing.T) {
	bubble(t, func(t *testing.T) {
		missing := &runtime.Failure{Kind: runtime.Command, Message: "not found inside", Err: exec.ErrNotFound}
		b := newBackend(t, nil, &script.Script{Faults: []script.Fault{{At: script.OnStart, Refuse: missing}, {At: script.OnRemove, Refuse: fs.ErrPermission}}})
		r, err := prepare(t, b, request(runID, "owner"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.res.Start(t.Context(), &r.start); !errors.Is(err, exec.ErrNotFound) || !errors.Is(err, runtime.ErrCommand) {
			t.Errorf("Start: %v", err)
		}
		d, err := r.res.Remove(t.Context())
		var f *runtime.Failure
		if !errors.Is(err, fs.ErrPermission) || !errors.As(err, &f) || len(f.Left) != 1 || f.Left[0].Name != "sbx-"+runID || f.Left[0].Settle == "" || d.Confirmed {
			t.Errorf("Remove: %+v, %v; want what is left", d, err)
		}
	})
}

func TestASlowCallEndsWithItsContextAndADeafOneDoesNot(t *testing.T) {
	for _, op := range faultable() {
		if op == script.OnPlan || op == script.OnResize {
			continue // they have no context
		}
		for _, deaf := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s deaf=%v", op, deaf), func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					b := newBackend(t, nil, steady(script.Fault{At: op, Delay: time.Hour, Deaf: deaf}))
					ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
					defer cancel()
					began := time.Now()
					at, err := walk(t, b, runID, ctx)
					want := time.Minute
					if deaf {
						want = time.Hour
					}
					if took := time.Since(began); at != failsIn(op) || !errors.Is(err, context.DeadlineExceeded) || took != want {
						t.Errorf("%s gave %v after %v, want the deadline after %v", at, err, took, want)
					}
				})
			})
		}
	}
}

func TestAFaultOfTheNthCallOnly(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := script.Refuse(script.OnRemove, runtime.Uncertain, "busy")
		f.Nth = 2
		r := start(t, steady(f))
		for n, fails := range []bool{false, true, false} {
			if _, err := r.res.Remove(t.Context()); (err != nil) != fails {
				t.Errorf("Remove %d: %v", n+1, err)
			}
		}
	})
}

// A lost call is an engine that lies: it answers and does nothing.
func TestLostCalls(t *testing.T) {
	lost := func(op script.Op) *script.Script { return steady(script.Fault{At: op, Lost: true}) }
	t.Run("kill", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			r := start(t, lost(script.OnKill))
			if err := r.res.Kill(t.Context()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Hour)
			if !r.record().Ended.IsZero() {
				t.Error("the command was killed")
			}
		})
	})
	t.Run("remove", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			r := start(t, lost(script.OnRemove))
			if _, err := r.res.Remove(t.Context()); err != nil {
				t.Fatal(err)
			}
			if len(r.b.World().Resources()) != 1 {
				t.Error("the container was removed")
			}
		})
	})
	t.Run("signal", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			r := start(t, lost(script.OnSignal))
			if err := r.proc.Signal(t.Context(), syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			if got := r.record().Signals; len(got) != 0 {
				t.Errorf("signals %v reached the command", got)
			}
		})
	})
	t.Run("start: the wait answers for a command that never ran", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			r := start(t, lost(script.OnStart))
			if x := r.end(); x.Ran || x.Code != 0 {
				t.Errorf("exit %+v, want one that says nobody ran", x)
			}
			if !r.record().Started.IsZero() {
				t.Error("the command was started")
			}
		})
	})
}

func TestAnUnreachableWorld(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := start(t, &script.Script{Do: []script.Action{script.Sleep(time.Hour), script.Exit(4)}})
		w := r.b.World()
		w.SetDown(syscall.ECONNREFUSED)
		for what, err := range map[string]error{
			"probe": func() error { _, err := r.b.Probe(t.Context(), runtime.ProbeRequest{}); return err }(),
			"kill":  r.res.Kill(t.Context()),
			"remove": func() error {
				_, err := r.res.Remove(t.Context())
				return err
			}(),
		} {
			var f *runtime.Failure
			if !errors.Is(err, syscall.ECONNREFUSED) || !errors.As(err, &f) {
				t.Errorf("%s: %v", what, err)
			} else if want := map[bool]runtime.Kind{true: runtime.Setup, false: runtime.Uncertain}[what == "probe"]; f.Kind != want {
				t.Errorf("%s: kind %s, want %s", what, f.Kind, want)
			}
		}
		w.SetDown(nil)
		if x := r.wait(); x.Code != 4 {
			t.Errorf("exit %+v: the command did not run on", x)
		}
	})
}

func TestARecordThatCannotBeWrittenRefusesTheStart(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBackend(t, nil, &script.Script{Do: []script.Action{script.Stdout("ran")}})
		r, err := prepare(t, b, request(runID, "owner"))
		if err != nil {
			t.Fatal(err)
		}
		r.start.Record = func(runtime.Token) error { return syscall.ENOSPC }
		r.start.Started = func() { t.Error("the command was let go") }
		if _, err := r.res.Start(t.Context(), &r.start); !errors.Is(err, syscall.ENOSPC) || !errors.Is(err, runtime.ErrSetup) {
			t.Errorf("Start: %v", err)
		}
		if i := r.record(); !i.Started.IsZero() || i.Stdout.Bytes != 0 {
			t.Errorf("the command ran: %+v", i)
		}
	})
}

func TestGuaranteesAreUnattestedUnlessTheScriptSaysOtherwise(t *testing.T) {
	bubble(t, func(t *testing.T) {
		req := request(runID, "owner")
		req.Required = []string{"hardening.new-session"}
		holds := runtime.Guarantee{Name: "hardening.new-session", Measured: runtime.MeasuredHolds, Evidence: "sid differs"}
		r := startOn(t, newBackend(t, nil, &script.Script{Guarantees: []runtime.Guarantee{holds}}), req)
		got := map[string]runtime.Measured{}
		for _, g := range r.proc.Guarantees() {
			got[g.Name] = g.Measured
		}
		if len(got) != 2 || got["hardening.new-session"] != runtime.MeasuredHolds || got["environment"] != runtime.MeasuredClaimed {
			t.Errorf("guarantees %v", got)
		}
	})
	bubble(t, func(t *testing.T) {
		broken := runtime.Guarantee{Name: "environment", Measured: runtime.MeasuredBroken, Evidence: "one more variable"}
		r, err := prepare(t, newBackend(t, nil, &script.Script{Guarantees: []runtime.Guarantee{broken}}), request(runID, "owner"))
		if err != nil {
			t.Fatal(err)
		}
		var f *runtime.Failure
		if _, err := r.res.Start(t.Context(), &r.start); !errors.As(err, &f) || f.Kind != runtime.Setup || f.Feature != "environment" {
			t.Errorf("Start with a broken guarantee: %v", err)
		}
		if !r.record().Started.IsZero() {
			t.Error("the command ran")
		}
	})
}
