package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	sbx "github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/script"
	"pgregory.net/rapid"
)

// plantForeign puts another controller's resources, and one nobody can read, beside ours.
func plantForeign(t interface{ Fatal(...any) }, w *script.World) int {
	planted := []script.Resource{
		{Kind: "container", Name: "sbx-other", Owner: "owner-2", Run: "other", Backend: "fake", State: script.Running},
		{Kind: "volume", Name: "sbx-other-workspace", Owner: "owner-2", Run: "other", Backend: "fake"},
		{Kind: "container", Name: "stranger", Unreadable: true},
		{Kind: "container", Name: "sbx-near", Owner: "owner-1x", Run: "near", Backend: "fake"},
	}
	for _, r := range planted {
		if err := w.Plant(r); err != nil {
			t.Fatal(err)
		}
	}
	return len(planted)
}

// TestACrashAtAnyInstantIsReconciled ends the controller before and after every call it makes, and lets the next one reconcile.
func TestACrashAtAnyInstantIsReconciled(t *testing.T) {
	for _, op := range []script.Op{script.OnProbe, script.OnPlan, script.OnPrepare, script.OnStage, script.OnStart, script.OnHeld, script.OnReleased, script.OnWait, script.OnExport, script.OnRemove} {
		for _, after := range []bool{false, true} {
			for _, dies := range []bool{false, true} {
				name := fmt.Sprintf("before %s", op)
				if after {
					name = fmt.Sprintf("after %s", op)
				}
				if dies {
					name += ", command dies with it"
				}
				t.Run(name, func(t *testing.T) {
					bubble(t, func(t *testing.T) {
						s := &script.Script{
							Do:                 []script.Action{script.Sleep(time.Minute), script.Exit(3)},
							DiesWithController: dies,
							Artifacts:          []script.Artifact{{Path: "/out", Data: []byte("1")}},
							Faults:             []script.Fault{{At: op, After: after, Crash: true, Nth: 1}},
						}
						w, j := script.NewWorld(), script.NewJournal("owner-1", "/state")
						defer w.Close()
						foreign := plantForeign(t, w)
						first := fakeBackend(t, able("fake"), w, s)
						first.OnCrash(func(script.Op) { j.Crash() })
						ctl := &controller{dir: t.TempDir()}
						box, err := sbx.New(first, sbx.WithJournal(j), sbx.WithController(ctl))
						if err != nil {
							t.Fatal(err)
						}
						charged := 0
						l := launch()
						l.Artifacts = &sbx.Artifacts{Paths: []string{"/out"}}
						l.Charge = func(context.Context, *sbx.Plan) error { charged++; return nil }
						res, err := box.Run(t.Context(), l)
						if err == nil || res.Success() {
							t.Fatalf("a crashed controller reports %v, %v", res, err)
						}
						if err := box.Close(); err != nil {
							t.Error(err)
						}
						time.Sleep(time.Hour)

						next, err := sbx.New(fakeBackend(t, able("fake"), w, nil), sbx.WithJournal(j))
						if err != nil {
							t.Fatal(err)
						}
						defer closes(t, next)
						dry, err := next.Reconcile(t.Context(), sbx.ReconcileOptions{DryRun: true})
						if err != nil {
							t.Fatal(err)
						}
						before := len(w.Resources())
						rep, err := next.Reconcile(t.Context(), sbx.ReconcileOptions{})
						if err != nil {
							t.Fatal(err)
						}
						if len(dry.Runs) != len(rep.Runs) || before < len(w.Resources()) {
							t.Errorf("the dry run found %d, the real one %d", len(dry.Runs), len(rep.Runs))
						}
						for _, r := range rep.Runs {
							if !r.Removed || r.Failure != nil {
								t.Errorf("not removed: %+v", r)
							}
							checkOutcome(t, w, r, dies)
							if r.Charged && charged == 0 {
								t.Error("the record says charged")
							}
						}
						if left := w.Resources(); len(left) != foreign {
							t.Errorf("left in the world: %+v", left)
						}
						again, err := next.Reconcile(t.Context(), sbx.ReconcileOptions{})
						if err != nil || len(again.Runs) != 0 || again.Live != 0 {
							t.Errorf("a second reconcile did %+v, %v", again, err)
						}
					})
				})
			}
		}
	}
}

// checkOutcome compares what a reconcile says with what the world saw.
func checkOutcome(t *testing.T, w *script.World, r sbx.Reconciled, dies bool) {
	t.Helper()
	started, finished := false, false
	for _, i := range w.Runs() {
		if i.Run.ID == r.Run.ID {
			started, finished = !i.Started.IsZero(), i.Finished
		}
	}
	switch r.Outcome {
	case sbx.NeverRan:
		if started {
			t.Errorf("the report says never-ran, and the command ran")
		}
	case sbx.Exited:
		if !finished || r.Code != 3 {
			t.Errorf("the report says exited %d (finished %v, step %s)", r.Code, finished, r.Step)
		}
	case sbx.Signaled:
		if !dies {
			t.Errorf("the report says signaled")
		}
	case sbx.UncertainOutcome:
	default:
		t.Errorf("the report says %q", r.Outcome)
	}
}

func TestReopenKillsAndReapsWithoutADriver(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, j := script.NewWorld(), script.NewJournal("owner-1", "/state")
		defer w.Close()
		first := fakeBackend(t, able("fake"), w, &script.Script{Do: []script.Action{script.Hang()}, Faults: []script.Fault{script.CrashAfter(script.OnReleased)}})
		first.OnCrash(func(script.Op) { j.Crash() })
		box, err := sbx.New(first, sbx.WithJournal(j))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := box.Launch(t.Context(), launch()); err == nil {
			t.Fatal("the crash was not seen")
		}
		if len(w.Resources()) != 1 {
			t.Fatalf("resources %+v", w.Resources())
		}
		id := w.Resources()[0].Run
		next := fakeBackend(t, able("fake"), w, nil)
		if _, err := sbx.Reopen(t.Context(), next, j, "none"); !errors.Is(err, sbx.ErrSetup) {
			t.Errorf("reopening a run that is not there: %v", err)
		}
		if _, err := sbx.Reopen(t.Context(), fakeBackend(t, able("other"), w, nil), j, id); !errors.Is(err, sbx.ErrDenied) {
			t.Errorf("reopening by another backend: %v", err)
		}
		r, err := sbx.Reopen(t.Context(), next, j, id)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Signal(t.Context(), 15); !errors.Is(err, sbx.ErrUnsupported) {
			t.Errorf("signalling a reopened run: %v", err)
		}
		for range 10 {
			if err := r.Kill(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := r.Reap(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if left := w.Resources(); len(left) > 0 {
			t.Errorf("left: %+v", left)
		}
	})
}

func TestReconcileLeavesLiveRunsAlone(t *testing.T) {
	bubble(t, func(t *testing.T) {
		st := newStand(t, &script.Script{Do: []script.Action{script.Sleep(time.Hour), script.Exit(0)}})
		r, err := st.box.Launch(t.Context(), launch())
		if err != nil {
			t.Fatal(err)
		}
		other := st.sandbox(fakeBackend(t, able("fake"), st.world, nil))
		defer closes(t, other)
		rep, err := other.Reconcile(t.Context(), sbx.ReconcileOptions{})
		if err != nil || rep.Live != 1 || len(rep.Runs) != 0 {
			t.Errorf("got %+v, %v", rep, err)
		}
		if res, err := r.Wait(t.Context()); err != nil || !res.Success() {
			t.Errorf("got %v, %v", res, err)
		}
		st.clean()
	})
}

func TestTwoReconcilesAtOnceAreSafe(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, j := script.NewWorld(), script.NewJournal("owner-1", "/state")
		defer w.Close()
		for range 20 {
			b := fakeBackend(t, able("fake"), w, &script.Script{Do: []script.Action{script.Hang()}, Faults: []script.Fault{script.CrashAfter(script.OnStart)}})
			b.OnCrash(func(script.Op) { j.Crash() })
			box, err := sbx.New(b, sbx.WithJournal(j))
			if err != nil {
				t.Fatal(err)
			}
			_, _ = box.Launch(t.Context(), launch()) //sbx:allow lostfailure the controller is gone: nobody hears of it
		}
		var wg sync.WaitGroup
		removed := make([]int, 2)
		for i := range removed {
			wg.Go(func() {
				box, err := sbx.New(fakeBackend(t, able("fake"), w, &script.Script{Faults: []script.Fault{script.Slow(script.OnRemove, time.Second)}}), sbx.WithJournal(j))
				if err != nil {
					t.Error(err)
					return
				}
				rep, err := box.Reconcile(t.Context(), sbx.ReconcileOptions{})
				if err != nil {
					t.Error(err)
					return
				}
				for _, r := range rep.Runs {
					if r.Failure != nil {
						t.Error(r.Failure)
					}
					removed[i]++
				}
			})
		}
		wg.Wait()
		if removed[0]+removed[1] != 20 || len(w.Resources()) != 0 {
			t.Errorf("removed %v, left %d", removed, len(w.Resources()))
		}
	})
}

// TestRandomSchedules plays random faults against random scripts and calls, crashes included, and checks after each what must always
// hold: no success without a witnessed exit, nothing left that is not reported, nobody else's touched.
func TestRandomSchedules(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := drawScript(rt)
		calls := rapid.SliceOfN(rapid.SampledFrom([]string{"stop", "kill", "reap", "cancel", "signal", "sleep"}), 0, 3).Draw(rt, "calls")
		wall := rapid.SampledFrom([]time.Duration{0, time.Second, time.Minute}).Draw(rt, "wall")
		journalFull := rapid.IntRange(0, 9).Draw(rt, "full") == 0
		var failed []string
		synctest.Test(t, func(t *testing.T) {
			failed = schedule(t, s, calls, wall, journalFull)
		})
		if len(failed) > 0 {
			rt.Fatalf("%s", strings.Join(failed, "\n"))
		}
	})
}

func drawScript(rt *rapid.T) *script.Script {
	actions := []script.Action{script.Stdout("out"), script.Stderr("err"), script.Sleep(time.Second), script.Sleep(time.Minute), script.Exit(0), script.Exit(7), script.Die(11), script.OutOfMemory(), script.Vanish(), script.Hang(), script.Echo()}
	s := &script.Script{DiesWithController: rapid.Bool().Draw(rt, "dies"), HoldStreams: rapid.SampledFrom([]time.Duration{0, 0, time.Second, -1}).Draw(rt, "hold")}
	for range rapid.IntRange(0, 4).Draw(rt, "actions") {
		s.Do = append(s.Do, rapid.SampledFrom(actions).Draw(rt, "action"))
	}
	if rapid.Bool().Draw(rt, "ignore") {
		s.Ignore = append(s.Ignore, 15)
	}
	ops := []script.Op{script.OnProbe, script.OnPlan, script.OnPrepare, script.OnStage, script.OnStart, script.OnHeld, script.OnReleased, script.OnSignal, script.OnWait, script.OnKill, script.OnRemove}
	for range rapid.IntRange(0, 3).Draw(rt, "faults") {
		f := script.Fault{At: rapid.SampledFrom(ops).Draw(rt, "op"), After: rapid.Bool().Draw(rt, "after"), Nth: rapid.IntRange(1, 2).Draw(rt, "nth")}
		switch rapid.IntRange(0, 3).Draw(rt, "fault") {
		case 0:
			f.Crash = true
		case 1:
			f.Refuse = &sbx.Failure{Kind: rapid.SampledFrom([]sbx.Kind{sbx.Setup, sbx.Unsupported, sbx.Denied, sbx.Uncertain}).Draw(rt, "kind"), Message: "refused"}
		case 2:
			f.Delay = rapid.SampledFrom([]time.Duration{time.Second, time.Minute, time.Hour}).Draw(rt, "delay")
		case 3:
			f.Delay, f.Deaf = time.Hour, rapid.Bool().Draw(rt, "deaf")
		}
		s.Faults = append(s.Faults, f)
	}
	return s
}

// schedule plays one schedule and says what did not hold.
func schedule(t *testing.T, s *script.Script, calls []string, wall time.Duration, full bool) (failed []string) {
	bad := func(format string, args ...any) { failed = append(failed, fmt.Sprintf(format, args...)) }
	w, j := script.NewWorld(), script.NewJournal("owner-1", "/state")
	defer w.Close()
	foreign := plantForeign(t, w)
	first := fakeBackend(t, able("fake"), w, s)
	ended := func() bool {
		return slices.ContainsFunc(w.Runs(), func(i *script.Invocation) bool { return !i.Ended.IsZero() })
	}
	// A signal can be on its way when the run ends by itself: a crash at it that comes when the command has ended and everything of the run
	// is already removed takes nothing from what was witnessed.
	crashed, over := false, false
	first.OnCrash(func(script.Op) {
		crashed, over = true, ended() && len(w.Resources()) == foreign
		j.Crash()
	})
	box, err := sbx.New(first, sbx.WithJournal(j))
	if err != nil {
		t.Fatal(err)
	}
	if full {
		j.SetFull(errors.New("disk full"))
	}
	l := launch()
	l.Timeouts = sbx.Timeouts{Wall: wall, Start: 10 * time.Minute}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r, err := box.Launch(ctx, l)
	var res *sbx.Result
	if r != nil {
		for _, c := range calls {
			call, end := context.WithTimeout(context.Background(), time.Second)
			//sbx:allow lostfailure what a call says of a run that crashes or hangs is no matter here: what is left of it is judged
			switch c {
			case "stop":
				_, _ = r.Stop(call)
			case "kill":
				_ = r.Kill(call)
			case "reap":
				_ = r.Reap(call)
			case "cancel":
				cancel()
			case "signal":
				_ = r.Signal(call, 15)
			case "sleep":
				time.Sleep(30 * time.Second)
			}
			end()
		}
		// What hangs for good is ended, as its executor would.
		limit, end := context.WithTimeout(context.Background(), 3*time.Hour)
		if res, err = r.Wait(limit); res == nil {
			_ = r.Kill(limit) //sbx:allow lostfailure the wait below tells
			again, end := context.WithTimeout(context.Background(), 3*time.Hour)
			if res, err = r.Wait(again); res == nil {
				bad("the run did not end within 3 hours of a kill: %v", err)
			}
			end()
		}
		end()
	}
	var f *sbx.Failure
	if err != nil && !errors.As(err, &f) {
		bad("an untyped error: %v", err)
	}
	if res != nil {
		if res.Outcome == sbx.Exited && !ended() {
			bad("exited %d without a witnessed exit", res.Code)
		}
		if res.Success() && crashed && !over {
			bad("a controller that crashed before its run was over reports success")
		}
	}
	j.SetFull(nil)
	j.Crash()
	reported := err != nil || crashed
	if left := len(w.Resources()) - foreign; left > 0 && !reported {
		bad("%d resources are left and nothing says so", left)
	}
	time.Sleep(2 * time.Hour) // answers that come late have come
	// A reconciling controller can fail or crash as well; the one after it goes on where it stopped. Each fault happens at most twice a
	// run, so that some controller gets through.
	settled := func() bool {
		b := fakeBackend(t, able("fake"), w, nil)
		b.OnCrash(func(script.Op) { j.Crash() })
		next, err := sbx.New(b, sbx.WithJournal(j))
		if err != nil {
			t.Fatal(err)
		}
		rep, err := next.Reconcile(context.Background(), sbx.ReconcileOptions{})
		time.Sleep(2 * time.Hour)
		if err != nil {
			return false
		}
		return len(rep.Runs) == 0
	}
	tries := 0
	for ; tries < 12 && !settled(); tries++ {
	}
	if tries == 12 {
		bad("twelve reconciles did not settle it")
	}
	if left := w.Resources(); len(left) != foreign {
		bad("after reconcile there is %+v", left)
	}
	return failed
}
