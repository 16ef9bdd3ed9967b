package script_test

import (
	"errors"
	"fmt"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/script"
)

// The grid: the controller ends before and after every call; the next one finds what is left by owner, and nobody else's.
func TestACrashAtEveryCallLeavesWhatTheNextControllerCanFind(t *testing.T) {
	for _, op := range faultable() {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s after=%v", op, after), func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					w := script.NewWorld()
					foreign := script.Resource{Kind: "container", Name: "theirs", Owner: "somebody", Run: "r", Backend: "fake", State: script.Running}
					if err := w.Plant(foreign); err != nil {
						t.Fatal(err)
					}
					first := newBackend(t, w, steady(script.Fault{At: op, After: after, Crash: true}))
					var at []script.Op
					first.OnCrash(func(o script.Op) { at = append(at, o) })
					op2, err := walk(t, first, runID, t.Context())
					if op2 != failsIn(op) || !errors.Is(err, script.ErrCrashed) {
						t.Fatalf("%s failed with %v, want a crash in %s", op2, err, failsIn(op))
					}
					if !slices.Equal(at, []script.Op{op}) {
						t.Errorf("hooks were told %v", at)
					}
					before := w.Resources()
					if op2, err := walk(t, first, "b", t.Context()); op2 != script.OnProbe || !errors.Is(err, script.ErrCrashed) {
						t.Errorf("the crashed controller goes on: %s, %v", op2, err)
					}
					if got := w.Resources(); len(got) != len(before) {
						t.Errorf("the crashed controller changed the world: %v", got)
					}

					next := newBackend(t, w, nil)
					found, others, err := next.Find(t.Context(), "owner")
					if err != nil || others != 1 || len(found) != len(before)-1 {
						t.Fatalf("found %v, %d of others, %v; want %d and 1", found, others, err, len(before)-1)
					}
					for _, tk := range found {
						res, err := next.Reopen(t.Context(), tk)
						if err != nil {
							t.Fatal(err)
						}
						// The run's script crashes whoever makes that call again; a fresh controller is in no script of that kind.
						if op == script.OnReopen || op == script.OnKill || op == script.OnRemove {
							continue
						}
						if err := res.Kill(t.Context()); err != nil {
							t.Error(err)
						}
						if _, err := res.Remove(t.Context()); err != nil {
							t.Error(err)
						}
					}
					if op == script.OnKill || op == script.OnRemove {
						return
					}
					if left := w.Resources(); len(left) != 1 || left[0].Name != "theirs" || left[0].State != script.Running {
						t.Errorf("left: %v, want what is theirs, untouched", left)
					}
				})
			})
		}
	}
}

func TestACommandAndItsController(t *testing.T) {
	tests := []struct {
		name string
		dies bool
	}{{"lives on as a container does", false}, {"dies with it as under die-with-parent", true}}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := start(t, &script.Script{DiesWithController: tt.dies, Do: []script.Action{
					script.Stdout("before"), script.ReadEOF(), script.Sleep(time.Minute), script.Stdout("after"), script.Exit(9),
				}})
				synctest.Wait()
				r.b.Crash()
				synctest.Wait()
				if _, err := r.proc.Wait(t.Context(), 0); !errors.Is(err, script.ErrCrashed) || !errors.Is(err, runtime.ErrUncertain) {
					t.Errorf("Wait of a crashed controller: %v", err)
				}
				if _, err := r.proc.Stdin().Write([]byte("x")); !errors.Is(err, script.ErrCrashed) {
					t.Errorf("writing stdin of a crashed controller: %v", err)
				}
				next := newBackend(t, r.b.World(), nil)
				res, err := next.Reopen(t.Context(), r.res.Token())
				if err != nil {
					t.Fatal(err)
				}
				x, err := res.(runtime.Witness).Witnessed(t.Context())
				if err != nil || (x == nil) == tt.dies {
					t.Errorf("witnessed %+v, %v right after the crash", x, err)
				}
				time.Sleep(time.Hour)
				x, err = res.(runtime.Witness).Witnessed(t.Context())
				switch {
				case err != nil || x == nil:
					t.Errorf("witnessed %+v, %v", x, err)
				case tt.dies && x.Signal != syscall.SIGKILL, !tt.dies && x.Code != 9:
					t.Errorf("exit %+v", x)
				}
				if r.out.String() != "before" {
					t.Errorf("the crashed controller's sink got %q", r.out)
				}
			})
		})
	}
}

func TestAHookMayPanic(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBackend(t, nil, steady(script.CrashAfter(script.OnPrepare)))
		b.OnCrash(func(op script.Op) { panic(op) })
		defer func() {
			if got := recover(); got != script.OnPrepare {
				t.Errorf("recovered %v", got)
			}
			if len(b.World().Resources()) != 1 {
				t.Error("what was prepared is gone")
			}
		}()
		_, err := walk(t, b, runID, t.Context())
		t.Errorf("went on with %v", err)
	})
}

func TestWitnessedTellsNeverRanFromGone(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBackend(t, nil, &script.Script{})
		r, err := prepare(t, b, request(runID, "owner"))
		if err != nil {
			t.Fatal(err)
		}
		w := r.res.(runtime.Witness)
		if x, err := w.Witnessed(t.Context()); err != nil || x == nil || x.Ran {
			t.Errorf("before the start: %+v, %v", x, err)
		}
		if _, err := r.res.Remove(t.Context()); err != nil {
			t.Fatal(err)
		}
		if x, err := w.Witnessed(t.Context()); !errors.Is(err, runtime.ErrUncertain) {
			t.Errorf("after the removal: %+v, %v", x, err)
		}
	})
}

func TestARebootEndsCommandsAndKeepsContainers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := start(t, &script.Script{Do: []script.Action{script.Hang()}})
		w := r.b.World()
		boot := w.BootID()
		if got := r.proc.Identity(); got.BootID != boot || got.PID <= 1<<22 {
			t.Errorf("identity %+v", got)
		}
		w.Reboot()
		if w.BootID() == boot {
			t.Error("the boot id is the same")
		}
		if _, err := r.proc.Wait(t.Context(), 0); !errors.Is(err, runtime.ErrUncertain) {
			t.Errorf("Wait over a reboot: %v", err)
		}
		if left := w.Resources(); len(left) != 1 || left[0].State != script.Exited {
			t.Errorf("after the reboot: %v", left)
		}
	})
}

func TestFindTakesNothingThatIsNotExactlyThisOwners(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := script.NewWorld()
		b := newBackend(t, w, nil)
		mine := func(kind, name, run string) script.Resource {
			return script.Resource{Kind: kind, Name: name, Run: run, Owner: "me", Backend: "fake"}
		}
		for _, r := range []script.Resource{
			mine("container", "sbx-1", "1"), mine("volume", "sbx-1-0", "1"), mine("volume", "sbx-2-0", "2"),
			{Kind: "container", Name: "a", Run: "3", Owner: "me2", Backend: "fake"},
			{Kind: "container", Name: "b", Run: "4", Owner: "m", Backend: "fake"},
			{Kind: "container", Name: "c", Run: "5", Backend: "fake"},
			{Kind: "container", Name: "d", Run: "6", Owner: "me", Backend: "fake", Unreadable: true},
			{Kind: "container", Name: "e", Run: "", Owner: "me", Backend: "fake"},
			{Kind: "container", Name: "f", Run: "7", Owner: "me", Backend: "docker"},
		} {
			if err := w.Plant(r); err != nil {
				t.Fatal(err)
			}
		}
		found, foreign, err := b.Find(t.Context(), "me")
		if err != nil || foreign != 6 || len(found) != 2 {
			t.Fatalf("found %+v, %d, %v", found, foreign, err)
		}
		if found[0].Name != "sbx-1" || !slices.Equal(found[0].Volumes, []string{"sbx-1-0"}) || found[1].Name != "sbx-2" || !slices.Equal(found[1].Volumes, []string{"sbx-2-0"}) {
			t.Errorf("found %+v", found)
		}
		if found, foreign, err := b.Find(t.Context(), ""); len(found) != 0 || foreign != 9 || err != nil {
			t.Errorf("an empty owner finds %v, %d, %v", found, foreign, err)
		}
	})
}
