package runtime_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	sbx "github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/script"
)

// able is a description that can do everything a launch can name.
func able(name string) *sbx.Description {
	d := &sbx.Description{
		Name: name, Kind: "script", Exports: true,
		Stop: []sbx.StopRung{{Signal: int(syscall.SIGTERM), Grace: 5 * time.Second}, {Grace: 10 * time.Second}},
		Policy: sbx.Policy{
			NetworkAccept: []sbx.NetworkMode{sbx.NetworkHost, sbx.NetworkPrivate},
			Environment:   sbx.EnvironmentPolicy{Accept: []string{"CI"}},
			Workspace:     sbx.WorkspacePolicy{Target: "/workspace", Accept: []sbx.WorkspaceMode{sbx.WorkspaceBindRW, sbx.WorkspaceCopy}},
		},
	}
	for _, n := range sbx.Vocabulary() {
		d.Features = append(d.Features, sbx.Feature{Name: n, How: sbx.HowBy, By: "script"})
	}
	return d
}

// stand is one controller over a world, with the journal it would have.
type stand struct {
	t       *testing.T
	world   *script.World
	backend *script.Backend
	journal *script.Journal
	box     *sbx.Sandbox
	events  *events
}

type events struct {
	mu   sync.Mutex
	list []sbx.Event
}

func (e *events) Event(v sbx.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.list = append(e.list, v)
}

func (e *events) String() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var b strings.Builder
	for _, v := range e.list {
		if v.State != "" && v.Result == nil {
			fmt.Fprintf(&b, "%s:%s ", v.Step, v.State)
		}
	}
	return strings.TrimSpace(b.String())
}

func fakeBackend(t *testing.T, d *sbx.Description, w *script.World, s *script.Script) *script.Backend {
	t.Helper()
	b, err := script.New(script.Definition{
		Description: d, World: w, Script: s,
		Argv: func(r *sbx.Request) []string { return append([]string{"fake"}, r.Command...) },
		Explain: func(r *sbx.Request) []sbx.Word {
			words := []sbx.Word{{Text: "fake", Spec: "fake.yaml:1"}}
			for _, c := range r.Command {
				words = append(words, sbx.Word{Text: c, Spec: "fake.yaml:2", For: "command"})
			}
			return words
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func newStand(t *testing.T, s *script.Script, opts ...sbx.Option) *stand {
	t.Helper()
	st := &stand{t: t, world: script.NewWorld(), journal: script.NewJournal("owner-1", "/state"), events: &events{}}
	st.backend = fakeBackend(t, able("fake"), st.world, s)
	st.box = st.sandbox(st.backend, opts...)
	t.Cleanup(func() {
		if err := st.box.Close(); err != nil {
			t.Error(err)
		}
		if err := st.world.Close(); err != nil {
			t.Error(err)
		}
	})
	return st
}

func (st *stand) sandbox(b sbx.Backend, opts ...sbx.Option) *sbx.Sandbox {
	st.t.Helper()
	box, err := sbx.New(b, append([]sbx.Option{sbx.WithJournal(st.journal), sbx.WithObserver(st.events), sbx.WithEnviron(func() []string { return nil })}, opts...)...)
	if err != nil {
		st.t.Fatal(err)
	}
	return box
}

// clean fails the test where anything of a run is left.
func (st *stand) clean() {
	st.t.Helper()
	if left := st.world.Resources(); len(left) > 0 {
		st.t.Errorf("left in the world: %+v", left)
	}
	st.empty()
}

// closes closes c, and fails the test where that fails: what a defer drops is lost.
func closes(t testing.TB, c io.Closer) {
	t.Helper()
	if err := c.Close(); err != nil {
		t.Errorf("closing: %v", err)
	}
}

func (st *stand) empty() {
	st.t.Helper()
	err := st.journal.List(context.Background(), func(r sbx.Record, live bool) error {
		st.t.Errorf("left in the journal: %s at %s, live %v", r.Run.ID, r.Step, live)
		return nil
	}, func(string, error) {})
	if err != nil {
		st.t.Error(err)
	}
}

// bubble runs a case where an hour takes no time.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

func launch() sbx.Launch { return sbx.Launch{Argv: []string{"job"}} }

func TestEveryOutcomeHasItsEvidence(t *testing.T) {
	hangs := []script.Action{script.Hang()}
	for _, c := range []struct {
		name   string
		script script.Script
		change func(*sbx.Launch)
		during func(t *testing.T, r *sbx.Run)
		want   sbx.Outcome
		code   int
		signal syscall.Signal
		which  string
		cause  string
		rungs  string
		exit   int
		kind   error
	}{
		{name: "exit 0", want: sbx.Exited, exit: 0},
		{name: "exit 7", script: script.Script{Do: []script.Action{script.Exit(7)}}, want: sbx.Exited, code: 7, exit: 7},
		{name: "signal", script: script.Script{Do: []script.Action{script.Die(syscall.SIGSEGV)}}, want: sbx.Signaled, code: -1, signal: syscall.SIGSEGV, exit: 139},
		{name: "out of memory", script: script.Script{Do: []script.Action{script.OutOfMemory()}}, want: sbx.OutOfMemory, code: -1, signal: syscall.SIGKILL, exit: 137},
		{name: "wall", script: script.Script{Do: hangs}, change: func(l *sbx.Launch) { l.Timeouts.Wall = time.Hour }, want: sbx.TimedOut, code: -1, signal: syscall.SIGTERM, which: "wall", cause: "longer than", rungs: "TERM", exit: 124},
		{name: "idle", script: script.Script{Do: []script.Action{script.Repeat(3, script.Stdout("x"), script.Sleep(50*time.Minute)), script.Hang()}}, change: func(l *sbx.Launch) { l.Timeouts.Idle = time.Hour }, want: sbx.TimedOut, code: -1, signal: syscall.SIGTERM, which: "idle", cause: "no output", rungs: "TERM", exit: 124},
		{name: "a command that ignores TERM is killed after its grace", script: script.Script{Do: hangs, Ignore: []syscall.Signal{syscall.SIGTERM}}, change: func(l *sbx.Launch) { l.Timeouts.Wall, l.Timeouts.Grace = time.Minute, time.Second }, want: sbx.TimedOut, code: -1, signal: syscall.SIGKILL, which: "wall", cause: "longer than", rungs: "TERM kill", exit: 124},
		{name: "output limit", script: script.Script{Do: []script.Action{script.Stdout(strings.Repeat("x", 100)), script.Hang()}}, change: func(l *sbx.Launch) { l.Limits.Output = sbx.AtMost(10) }, want: sbx.OutputLimit, code: -1, signal: syscall.SIGTERM, cause: "more than 10 bytes", rungs: "TERM", exit: 125},
		{name: "stop", script: script.Script{Do: hangs}, during: func(t *testing.T, r *sbx.Run) {
			if _, err := r.Stop(t.Context()); err != nil {
				t.Error(err)
			}
		}, want: sbx.Canceled, code: -1, signal: syscall.SIGTERM, cause: "Stop", rungs: "TERM", exit: 130},
		{name: "kill", script: script.Script{Do: hangs, Ignore: []syscall.Signal{syscall.SIGTERM}}, during: func(t *testing.T, r *sbx.Run) {
			if err := r.Kill(t.Context()); err != nil {
				t.Error(err)
			}
		}, want: sbx.Canceled, code: -1, signal: syscall.SIGKILL, cause: "Kill", rungs: "kill", exit: 130},
		{name: "a kill overtakes a stop", script: script.Script{Do: hangs, Ignore: []syscall.Signal{syscall.SIGTERM}}, during: func(t *testing.T, r *sbx.Run) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if _, err := r.Stop(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Stop gave %v", err)
			}
			if err := r.Kill(t.Context()); err != nil {
				t.Error(err)
			}
		}, want: sbx.Canceled, code: -1, signal: syscall.SIGKILL, cause: "Stop", rungs: "TERM kill", exit: 130},
		{name: "liveness says no", script: script.Script{Do: hangs}, change: func(l *sbx.Launch) {
			l.Timeouts.Liveness = time.Minute
			n := 0
			l.Liveness = sbx.LivenessFunc(func(context.Context, sbx.LivenessView) error {
				if n++; n > 3 {
					return errors.New("no pulse")
				}
				return nil
			})
		}, want: sbx.TimedOut, code: -1, signal: syscall.SIGTERM, which: "idle", cause: "no pulse", rungs: "TERM", exit: 124},
		{name: "heartbeat stops", script: script.Script{Do: []script.Action{script.Repeat(5, script.Beat(), script.Sleep(50*time.Second)), script.Hang()}}, change: func(l *sbx.Launch) { l.Heartbeat = time.Minute }, want: sbx.TimedOut, code: -1, signal: syscall.SIGTERM, which: "idle", cause: "no heartbeat", rungs: "TERM", exit: 124},
		{name: "vanished", script: script.Script{Do: []script.Action{script.Vanish()}}, want: sbx.UncertainOutcome, code: -1, exit: 125, kind: sbx.ErrUncertain},
		{name: "the wait fails", script: script.Script{Faults: []script.Fault{script.Refuse(script.OnWait, sbx.Uncertain, "the engine died")}}, want: sbx.UncertainOutcome, code: -1, exit: 125, kind: sbx.ErrUncertain},
		{name: "removal is uncertain", script: script.Script{Faults: []script.Fault{script.Refuse(script.OnRemove, sbx.Uncertain, "the engine does not answer")}}, want: sbx.Exited, exit: 125, kind: sbx.ErrUncertain},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				st := newStand(t, &c.script)
				l := launch()
				if c.change != nil {
					c.change(&l)
				}
				r, err := st.box.Launch(t.Context(), l)
				if err != nil {
					t.Fatal(err)
				}
				if c.during != nil {
					c.during(t, r)
				}
				res, err := r.Wait(t.Context())
				if res == nil {
					t.Fatal(err)
				}
				if !errors.Is(err, c.kind) || (c.kind == nil) != (err == nil) {
					t.Errorf("error %v, want %v", err, c.kind)
				}
				if res.Outcome != c.want || res.Code != c.code || res.Signal != c.signal || res.Timeout != c.which {
					t.Errorf("got %s code %d signal %v timeout %q, want %s %d %v %q", res.Outcome, res.Code, res.Signal, res.Timeout, c.want, c.code, c.signal, c.which)
				}
				if !strings.Contains(res.Evidence.Cause, c.cause) || (c.cause == "" && res.Evidence.Cause != "") {
					t.Errorf("cause %q, want %q", res.Evidence.Cause, c.cause)
				}
				var rungs []string
				for _, g := range res.Evidence.Ladder {
					rungs = append(rungs, g.Name)
				}
				if got := strings.Join(rungs, " "); got != c.rungs {
					t.Errorf("ladder %q, want %q", got, c.rungs)
				}
				if res.ExitCode() != c.exit {
					t.Errorf("exit code %d, want %d", res.ExitCode(), c.exit)
				}
				if res.Success() != (c.exit == 0) {
					t.Errorf("success is %v", res.Success())
				}
				if c.kind == nil || !strings.Contains(c.name, "removal") {
					st.clean()
				}
			})
		})
	}
}

func TestARefusalAtEachStep(t *testing.T) {
	for _, c := range []struct {
		op      script.Op
		step    sbx.Step
		charged bool
		outcome sbx.Outcome
	}{
		{script.OnProbe, sbx.StepProbe, false, sbx.NeverRan},
		{script.OnPlan, sbx.StepPlan, false, sbx.NeverRan},
		{script.OnPrepare, sbx.StepPrepare, false, sbx.NeverRan},
		{script.OnStage, sbx.StepStage, false, sbx.NeverRan},
		{script.OnStart, sbx.StepStart, true, sbx.NeverRan},
		{script.OnHeld, sbx.StepStart, true, sbx.NeverRan},
		{script.OnExport, sbx.StepExport, true, sbx.Exited},
	} {
		for _, kind := range []sbx.Kind{sbx.Unsupported, sbx.Denied, sbx.Setup} {
			t.Run(string(c.op)+" "+string(kind), func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					st := newStand(t, &script.Script{Faults: []script.Fault{script.Refuse(c.op, kind, "not today")}}, sbx.WithController(&controller{dir: t.TempDir()}))
					charges := 0
					l := launch()
					l.Artifacts = &sbx.Artifacts{Paths: []string{"/out"}}
					l.Charge = func(context.Context, *sbx.Plan) error { charges++; return nil }
					res, err := st.box.Run(t.Context(), l)
					var f *sbx.Failure
					if !errors.As(err, &f) {
						t.Fatalf("no failure but %v", err)
					}
					if f.Kind != kind || f.Step != c.step || f.Charged != c.charged || f.Backend == "" {
						t.Errorf("got kind %s step %s charged %v backend %q", f.Kind, f.Step, f.Charged, f.Backend)
					}
					if (charges > 0) != c.charged || charges > 1 {
						t.Errorf("charged %d times", charges)
					}
					if res.Outcome != c.outcome || res.Success() || res.ExitCode() != 125 {
						t.Errorf("outcome %s, exit code %d", res.Outcome, res.ExitCode())
					}
					st.clean()
				})
			})
		}
	}
}

// controller counts what it is asked.
type controller struct {
	dir              string
	verify, imported error
	verified, taken  []*sbx.Candidate
}

func (c *controller) ExportDir(context.Context, *sbx.Plan) (string, error) { return c.dir, nil }
func (c *controller) Verify(_ context.Context, x *sbx.Candidate) error {
	c.verified = append(c.verified, x)
	return c.verify
}
func (c *controller) Import(_ context.Context, x *sbx.Candidate) error {
	c.taken = append(c.taken, x)
	return c.imported
}

func TestTheControllerVerifiesBeforeItImports(t *testing.T) {
	for _, c := range []struct {
		name     string
		ctl      controller
		script   script.Script
		step     sbx.Step
		verified int
		imported int
	}{
		{name: "both", verified: 1, imported: 1},
		{name: "verification refuses", ctl: controller{verify: errors.New("bad tree")}, step: sbx.StepImport, verified: 1},
		{name: "import fails", ctl: controller{imported: errors.New("busy")}, step: sbx.StepImport, verified: 1, imported: 1},
		{name: "a partial export is no candidate", script: script.Script{ExportStops: 1}, step: sbx.StepExport},
		{name: "an end nobody saw is no candidate", script: script.Script{Do: []script.Action{script.Vanish()}}, step: sbx.StepCapture},
		{name: "a failed command's output is the controller's to judge", script: script.Script{Do: []script.Action{script.Exit(1)}}, verified: 1, imported: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				c.script.Artifacts = []script.Artifact{{Path: "/out/a", Data: []byte("1")}, {Path: "/out/b", Data: []byte("2")}}
				c.ctl.dir = t.TempDir()
				st := newStand(t, &c.script, sbx.WithController(&c.ctl))
				l := launch()
				l.Artifacts = &sbx.Artifacts{Paths: []string{"/out"}}
				_, err := st.box.Run(t.Context(), l)
				var f *sbx.Failure
				if errors.As(err, &f) != (c.step != "") || (f != nil && f.Step != c.step) {
					t.Errorf("failure %v, want one at %q", err, c.step)
				}
				if len(c.ctl.verified) != c.verified || len(c.ctl.taken) != c.imported {
					t.Errorf("verified %d, imported %d", len(c.ctl.verified), len(c.ctl.taken))
				}
				for _, x := range c.ctl.taken {
					if x.Manifest == nil || !x.Manifest.Whole || x.RunID == "" || x.PlanDigest == "" {
						t.Errorf("candidate %+v", x)
					}
				}
				st.clean()
			})
		})
	}
}

func TestModes(t *testing.T) {
	open := func() *sbx.Description { d := able("open"); d.Unsandboxed = true; return d }
	for _, c := range []struct {
		name  string
		mode  sbx.Mode
		probe sbx.Kind // of the sandboxed backend's refusal, empty for none
		later script.Op
		with  bool
		want  string // backend that ran, or the kind of the refusal
	}{
		{name: "required runs the sandbox", mode: sbx.Required, want: "fake"},
		{name: "required refuses what is unsupported", mode: sbx.Required, probe: sbx.Unsupported, with: true, want: "unsupported"},
		{name: "preferred runs the sandbox", mode: sbx.Preferred, with: true, want: "fake"},
		{name: "preferred goes open on unsupported", mode: sbx.Preferred, probe: sbx.Unsupported, with: true, want: "open"},
		{name: "preferred without an open backend refuses", mode: sbx.Preferred, probe: sbx.Unsupported, want: "unsupported"},
		{name: "preferred does not go open on setup", mode: sbx.Preferred, probe: sbx.Setup, with: true, want: "setup"},
		{name: "preferred does not go open on denied", mode: sbx.Preferred, probe: sbx.Denied, with: true, want: "denied"},
		{name: "preferred does not go open on uncertain", mode: sbx.Preferred, probe: sbx.Uncertain, with: true, want: "uncertain"},
		{name: "preferred does not go open on unsupported at plan", mode: sbx.Preferred, later: script.OnPlan, with: true, want: "unsupported"},
		{name: "preferred does not go open on unsupported at prepare", mode: sbx.Preferred, later: script.OnPrepare, with: true, want: "unsupported"},
		{name: "preferred does not go open on unsupported at start", mode: sbx.Preferred, later: script.OnStart, with: true, want: "unsupported"},
		{name: "disabled goes open", mode: sbx.Disabled, with: true, want: "open"},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := script.NewWorld()
				defer w.Close()
				s := &script.Script{}
				if c.probe != "" {
					s.Faults = append(s.Faults, script.Refuse(script.OnProbe, c.probe, "no"))
				}
				if c.later != "" {
					s.Faults = append(s.Faults, script.Refuse(c.later, sbx.Unsupported, "no"))
				}
				opts := []sbx.Option{sbx.WithMode(c.mode)}
				if c.with {
					opts = append(opts, sbx.WithUnsandboxed(fakeBackend(t, open(), w, nil)))
				}
				box, err := sbx.New(fakeBackend(t, able("fake"), w, s), opts...)
				if err != nil {
					t.Fatal(err)
				}
				defer closes(t, box)
				res, err := box.Run(t.Context(), launch()) //sbx:allow lostfailure which backend took it, or refused, is all that is asked
				got := res.Facts.Identity.Backend
				var f *sbx.Failure
				if errors.As(err, &f) {
					got = string(f.Kind)
				}
				if got != c.want {
					t.Errorf("got %s (%v), want %s", got, err, c.want)
				}
				if res.Facts.Unsandboxed != (got == "open") || (res.Facts.UnsandboxedReason != "") != (got == "open") {
					t.Errorf("facts say unsandboxed %v because %q", res.Facts.Unsandboxed, res.Facts.UnsandboxedReason)
				}
			})
		})
	}
}

func TestNewRefusesWhatWouldFailOpen(t *testing.T) {
	w := script.NewWorld()
	defer w.Close()
	closed := fakeBackend(t, able("fake"), w, nil)
	d := able("open")
	d.Unsandboxed = true
	open := fakeBackend(t, d, w, nil)
	for name, make := range map[string]func() (*sbx.Sandbox, error){
		"an unsandboxed backend as the sandbox":   func() (*sbx.Sandbox, error) { return sbx.New(open) },
		"an unsandboxed backend as preferred":     func() (*sbx.Sandbox, error) { return sbx.New(open, sbx.WithMode(sbx.Preferred)) },
		"a sandbox as the unsandboxed backend":    func() (*sbx.Sandbox, error) { return sbx.New(closed, sbx.WithUnsandboxed(closed)) },
		"disabled without an unsandboxed backend": func() (*sbx.Sandbox, error) { return sbx.New(closed, sbx.WithMode(sbx.Disabled)) },
		"no backend":          func() (*sbx.Sandbox, error) { return sbx.New(nil) },
		"a mode that is none": func() (*sbx.Sandbox, error) { return sbx.New(closed, sbx.WithMode("maybe")) },
	} {
		if box, err := make(); !errors.Is(err, sbx.ErrDenied) || box != nil {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestChargeRefusesBeforeAnythingStarts(t *testing.T) {
	bubble(t, func(t *testing.T) {
		st := newStand(t, nil)
		cause := errors.New("no budget")
		l := launch()
		l.Charge = func(context.Context, *sbx.Plan) error { return cause }
		_, err := st.box.Run(t.Context(), l)
		var f *sbx.Failure
		if !errors.As(err, &f) || f.Kind != sbx.Denied || f.Step != sbx.StepCharge || f.Charged || !errors.Is(err, cause) {
			t.Fatalf("got %v", err)
		}
		if ops := st.ops(); slices.Contains(ops, script.OnStart) {
			t.Errorf("the backend was asked %v", ops)
		}
		st.clean()
	})
}

func (st *stand) ops() (list []script.Op) {
	for _, c := range st.world.Calls() {
		list = append(list, c.Op)
	}
	return list
}

func TestAPanicOfTheChargeCallbackLeavesNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		st := newStand(t, nil)
		l := launch()
		l.Charge = func(context.Context, *sbx.Plan) error { panic("charge") }
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic was swallowed")
				}
			}()
			_, err := st.box.Launch(t.Context(), l)
			t.Errorf("Launch returned, with %v", err)
		}()
		st.clean()
	})
}

func TestACanceledContextStopsARunAndNotALaunchedOne(t *testing.T) {
	bubble(t, func(t *testing.T) {
		st := newStand(t, &script.Script{Do: []script.Action{script.Sleep(time.Hour), script.Exit(3)}})
		ctx, cancel := context.WithCancel(t.Context())
		r, err := st.box.Launch(ctx, launch())
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		if _, err := r.Wait(ctx); !errors.Is(err, context.Canceled) {
			t.Fatalf("Wait gave %v", err)
		}
		if res, err := r.Wait(t.Context()); err != nil || res.Code != 3 {
			t.Errorf("got %v, %v", res, err)
		}
		ctx, cancel = context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		res, err := st.box.Run(ctx, launch())
		if err != nil || res.Outcome != sbx.Canceled {
			t.Errorf("got %v, %v", res, err)
		}
		st.clean()
	})
}

func TestALaunchGivenUpAtTheChargeStartsNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		st := newStand(t, nil)
		ctx, cancel := context.WithCancel(t.Context())
		l := launch()
		l.Charge = func(context.Context, *sbx.Plan) error { cancel(); return nil }
		res, err := st.box.Run(ctx, l)
		if res.Outcome != sbx.Canceled || !errors.Is(err, sbx.ErrSetup) || !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, %v", res, err)
		}
		if ops := st.ops(); slices.Contains(ops, script.OnStart) {
			t.Errorf("the backend was asked %v", ops)
		}
		st.clean()
	})
}

func TestTooMuchOutputIsTheOutcomeHoweverSoonTheCommandEnds(t *testing.T) {
	bubble(t, func(t *testing.T) {
		st := newStand(t, &script.Script{Do: []script.Action{script.Stdout(strings.Repeat("x", 100)), script.Exit(3)}})
		for n := range 100 {
			l := launch()
			l.Limits.Output = sbx.AtMost(10)
			if res, err := st.box.Run(t.Context(), l); err != nil || res.Outcome != sbx.OutputLimit || res.Evidence.Cause == "" {
				t.Fatalf("run %d: %v, cause %q, %v", n, res, res.Evidence.Cause, err)
			}
		}
		st.clean()
	})
}

func TestStartTimeoutCoversPrepareToReady(t *testing.T) {
	for _, c := range []struct {
		name   string
		script script.Script
		change func(*sbx.Launch)
	}{
		{name: "slow prepare", script: script.Script{Faults: []script.Fault{script.Slow(script.OnPrepare, time.Hour)}}},
		{name: "slow stage", script: script.Script{Faults: []script.Fault{script.Slow(script.OnStage, time.Hour)}}},
		{name: "slow start", script: script.Script{Faults: []script.Fault{script.Slow(script.OnStart, time.Hour)}}},
		{name: "a start that cannot be taken back", script: script.Script{
			Do: []script.Action{script.Hang()}, Faults: []script.Fault{{At: script.OnReleased, After: true, Delay: 90 * time.Second, Deaf: true}},
		}},
		{name: "never ready", script: script.Script{Do: []script.Action{script.Hang()}}, change: func(l *sbx.Launch) { l.Ready = &sbx.Ready{Line: "listening"} }},
		{name: "unhealthy for long", script: script.Script{Do: []script.Action{script.Hang()}, Health: []script.Health{{Status: "starting"}}}, change: func(l *sbx.Launch) { l.Ready = &sbx.Ready{Health: true} }},
		{name: "port never opens", script: script.Script{Do: []script.Action{script.Hang()}}, change: func(l *sbx.Launch) { l.Ready = &sbx.Ready{Port: 80} }},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				st := newStand(t, &c.script)
				l := launch()
				l.Timeouts.Start = time.Minute
				if c.change != nil {
					c.change(&l)
				}
				began := time.Now()
				res, err := st.box.Run(t.Context(), l)
				if res.Outcome != sbx.TimedOut || res.Timeout != sbx.TimeoutStart || !errors.Is(err, sbx.ErrSetup) || res.ExitCode() != 124 {
					t.Errorf("got %v %v, exit %d", res, err, res.ExitCode())
				}
				if d := time.Since(began); d < time.Minute || d > 2*time.Minute {
					t.Errorf("took %v", d)
				}
				st.clean()
			})
		})
	}
}

func TestACancelThatAStartIsDeafToIsTheRuns(t *testing.T) {
	bubble(t, func(t *testing.T) {
		st := newStand(t, &script.Script{
			Do: []script.Action{script.Hang()}, Faults: []script.Fault{{At: script.OnReleased, After: true, Delay: time.Second, Deaf: true}},
		})
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second/2, errors.New("enough"))
		defer cancel()
		res, err := st.box.Run(ctx, launch())
		if err != nil || res.Outcome != sbx.Canceled || !strings.Contains(res.Evidence.Cause, "enough") || len(res.Evidence.Ladder) == 0 {
			t.Errorf("got %v, %+v, %v", res, res.Evidence, err)
		}
		st.clean()
	})
}

func TestReady(t *testing.T) {
	wait := script.Sleep(time.Second)
	for _, c := range []struct {
		name   string
		script script.Script
		ready  sbx.Ready
	}{
		{"line across writes", script.Script{Do: []script.Action{wait, script.Stdout("now listen"), wait, script.Stderr("x"), script.Stdout("ing on 1\n"), script.Hang()}}, sbx.Ready{Line: "listening on"}},
		{"notify", script.Script{Do: []script.Action{wait, script.Notify("STATUS=a\nREADY=1\n"), script.Hang()}}, sbx.Ready{Notify: true}},
		{"health", script.Script{Do: []script.Action{script.Hang()}, Health: []script.Health{{Status: "starting"}, {From: time.Second, Status: "healthy"}}}, sbx.Ready{Health: true}},
		{"port", script.Script{Do: []script.Action{script.Hang()}, Ports: map[int]time.Duration{80: time.Second}}, sbx.Ready{Port: 80}},
		{"exec", script.Script{Do: []script.Action{script.Hang()}, Exec: []script.ExecAnswer{{Code: 1}, {Takes: time.Second, Code: 0}}}, sbx.Ready{Exec: []string{"check"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				st := newStand(t, &c.script)
				l := launch()
				l.Ready, l.Timeouts.Start = &c.ready, time.Minute
				began := time.Now()
				r, err := st.box.Launch(t.Context(), l)
				if err != nil {
					t.Fatal(err)
				}
				if d := time.Since(began); d < time.Second || d > 10*time.Second {
					t.Errorf("ready after %v", d)
				}
				if err := r.Kill(t.Context()); err != nil {
					t.Error(err)
				}
				st.clean()
			})
		})
	}
	// The end and the sign that came before it are seen by different goroutines, in any order.
	for _, c := range []struct {
		name   string
		script script.Script
		ready  sbx.Ready
	}{
		{"line", script.Script{Do: []script.Action{script.Stdout("listening")}}, sbx.Ready{Line: "listening"}},
		{"line of stderr", script.Script{Do: []script.Action{script.Stderr("listening"), script.Exit(3)}}, sbx.Ready{Line: "listening"}},
		{"notify", script.Script{Do: []script.Action{script.Notify("READY=1")}}, sbx.Ready{Notify: true}},
		{"notify and a signal", script.Script{Do: []script.Action{script.Notify("READY=1"), script.Die(syscall.SIGSEGV)}}, sbx.Ready{Notify: true}},
	} {
		t.Run("a command that says so and ends at once was ready by "+c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				st := newStand(t, &c.script)
				for n := range 100 {
					l := launch()
					l.Ready, l.Timeouts.Start = &c.ready, time.Minute
					r, err := st.box.Launch(t.Context(), l)
					if err != nil {
						t.Fatalf("launch %d: %v", n, err)
					}
					<-r.Done()
				}
				st.clean()
			})
		})
	}
	t.Run("a command that ends first is not ready", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			st := newStand(t, &script.Script{Do: []script.Action{wait, script.Exit(4)}})
			l := launch()
			l.Ready = &sbx.Ready{Line: "listening"}
			res, err := st.box.Run(t.Context(), l)
			if !errors.Is(err, sbx.ErrCommand) || res.Outcome != sbx.Exited || res.Code != 4 || res.ExitCode() != 125 {
				t.Errorf("got %v, %v", res, err)
			}
			st.clean()
		})
	})
}

func TestHungDaemonIsBounded(t *testing.T) {
	for _, c := range []struct {
		name   string
		faults []script.Fault
		within time.Duration
	}{
		{"signal hangs", []script.Fault{script.Hung(script.OnSignal)}, 30 * time.Second},
		{"signal and kill hang", []script.Fault{script.Hung(script.OnSignal), script.Hung(script.OnKill)}, 90 * time.Second},
		{"everything hangs", []script.Fault{script.Hung(script.OnSignal), script.Hung(script.OnKill), script.Hung(script.OnRemove)}, 5 * time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				st := newStand(t, &script.Script{Do: []script.Action{script.Hang()}, Faults: c.faults})
				l := launch()
				l.Timeouts.Wall = time.Minute
				began := time.Now()
				res, err := st.box.Run(t.Context(), l)
				if d := time.Since(began); d > time.Minute+c.within {
					t.Errorf("took %v", d)
				}
				if res.Success() || res.Outcome == sbx.Exited {
					t.Errorf("a hung daemon gave %v", res)
				}
				if len(c.faults) > 2 {
					var f *sbx.Failure
					if !errors.As(err, &f) || f.Kind != sbx.Uncertain || len(f.Left) == 0 || f.Left[0].Settle == "" {
						t.Errorf("what is left is not said: %v", err)
					}
				}
			})
		})
	}
}

func TestStreams(t *testing.T) {
	t.Run("a pipe keeps every byte for a slow reader", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			want := strings.Repeat("0123456789", 30000)
			st := newStand(t, &script.Script{Do: []script.Action{script.Stdout(want), script.Exit(0)}})
			l := launch()
			l.Stdout = sbx.Pipe
			r, err := st.box.Launch(t.Context(), l)
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Hour)
			got, err := io.ReadAll(r.Stdout())
			if err != nil || string(got) != want {
				t.Errorf("%d bytes, %v", len(got), err)
			}
			if res, err := r.Wait(t.Context()); err != nil || !res.Success() || res.Usage.StdoutSize != int64(len(want)) {
				t.Errorf("got %v, %v", res, err)
			}
		})
	})
	t.Run("a pipe nobody reads does not hold up a kill", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			st := newStand(t, &script.Script{Do: []script.Action{script.Stdout(strings.Repeat("x", 1<<20)), script.Hang()}})
			l := launch()
			l.Stdout = sbx.Pipe
			r, err := st.box.Launch(t.Context(), l)
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Kill(t.Context()); err != nil {
				t.Error(err)
			}
			st.clean()
		})
	})
	t.Run("stdin is fed, half-closed and answered", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			st := newStand(t, &script.Script{Do: []script.Action{script.Echo(), script.Stdout("end"), script.Exit(0)}})
			var out bytes.Buffer
			l := launch()
			l.Stdin = sbx.Stdin{Mode: sbx.StdinPipe, Reader: strings.NewReader("abc")}
			l.Stdout = &out
			if res, err := st.box.Run(t.Context(), l); err != nil || !res.Success() || out.String() != "abcend" {
				t.Errorf("%q, %v, %v", out.String(), res, err)
			}
		})
	})
	t.Run("the same sink twice keeps the order", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			st := newStand(t, &script.Script{Do: []script.Action{script.Stdout("1"), script.Stderr("2"), script.Stdout("3"), script.Stderr("4")}})
			var out bytes.Buffer
			l := launch()
			l.Stdout, l.Stderr = &out, &out
			if _, err := st.box.Run(t.Context(), l); err != nil || out.String() != "1234" {
				t.Errorf("%q, %v", out.String(), err)
			}
		})
	})
	t.Run("a limit keeps the head and counts the rest", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			st := newStand(t, &script.Script{Do: []script.Action{script.Stdout("abcdef"), script.Stderr("ghi"), script.Stdout("jkl"), script.Hang()}})
			var out, errs bytes.Buffer
			l := launch()
			l.Stdout, l.Stderr, l.Limits.Output = &out, &errs, sbx.AtMost(8)
			res, err := st.box.Run(t.Context(), l)
			if err != nil || res.Outcome != sbx.OutputLimit {
				t.Fatal(res, err)
			}
			// Which of the two streams is read first is not ours to say; each keeps its own head.
			if out.Len()+errs.Len() != 8 || !strings.HasPrefix("abcdefjkl", out.String()) || !strings.HasPrefix("ghi", errs.String()) || res.Evidence.StdoutDropped+res.Evidence.StderrDropped != res.Usage.StdoutSize+res.Usage.StderrSize-8 {
				t.Errorf("%q %q dropped %d %d", out.String(), errs.String(), res.Evidence.StdoutDropped, res.Evidence.StderrDropped)
			}
		})
	})
	t.Run("a sink that fails does not fail the run", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			st := newStand(t, &script.Script{Do: []script.Action{script.Stdout("abc"), script.Stdout("def"), script.Exit(0)}})
			l := launch()
			l.Stdout = refusing{}
			res, err := st.box.Run(t.Context(), l)
			if err != nil || !res.Success() || res.Evidence.StdoutDropped != 6 || !strings.Contains(fmt.Sprint(res.Evidence.Notes), "no space") {
				t.Errorf("%v %v %+v", res, err, res.Evidence)
			}
		})
	})
	t.Run("streams held open after the end are cut and reported", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			st := newStand(t, &script.Script{Do: []script.Action{script.Stdout("abc"), script.Exit(0)}, HoldStreams: -1})
			var out bytes.Buffer
			l := launch()
			l.Stdout = &out
			began := time.Now()
			res, err := st.box.Run(t.Context(), l)
			if err != nil || !res.Success() || !res.Evidence.DrainCut || out.String() != "abc" || time.Since(began) > 10*time.Second {
				t.Errorf("%q %v %v after %v", out.String(), res, err, time.Since(began))
			}
			st.clean()
		})
	})
}

type refusing struct{}

func (refusing) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestAFullJournalRefusesBeforeTheCharge(t *testing.T) {
	bubble(t, func(t *testing.T) {
		st := newStand(t, nil)
		st.journal.SetFull(syscall.ENOSPC)
		l := launch()
		l.Charge = func(context.Context, *sbx.Plan) error { t.Error("charged"); return nil }
		_, err := st.box.Run(t.Context(), l)
		var f *sbx.Failure
		if !errors.As(err, &f) || f.Kind != sbx.Setup || f.Step != sbx.StepPrepare || f.Charged || !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("got %v", err)
		}
		st.journal.SetFull(nil)
		st.clean()
	})
}

func TestAJournalThatFillsUpDoesNotKeepARunFromEnding(t *testing.T) {
	bubble(t, func(t *testing.T) {
		st := newStand(t, &script.Script{Do: []script.Action{script.Sleep(time.Minute), script.Exit(0)}})
		r, err := st.box.Launch(t.Context(), launch())
		if err != nil {
			t.Fatal(err)
		}
		st.journal.SetFull(syscall.ENOSPC)
		if res, err := r.Wait(t.Context()); err != nil || !res.Success() {
			t.Errorf("got %v, %v", res, err)
		}
		st.clean()
	})
}

func TestStepsAreWalkedInOrderAndReported(t *testing.T) {
	bubble(t, func(t *testing.T) {
		st := newStand(t, nil)
		res, err := st.box.Run(t.Context(), launch())
		if err != nil || !res.Success() {
			t.Fatal(res, err)
		}
		want := "probe:done plan:done prepare:done stage:nothing charge:nothing start:done capture:done export:nothing import:nothing remove:done"
		if got := st.events.String(); got != want {
			t.Errorf("events\n%s, want\n%s", got, want)
		}
		var facts []string
		for _, f := range res.Facts.Steps {
			facts = append(facts, string(f.Step)+":"+f.State)
			if f.State == sbx.StateNothing && f.Note == "" {
				t.Errorf("%s did nothing and does not say why", f.Step)
			}
		}
		if got := strings.Join(facts, " "); got != want {
			t.Errorf("facts\n%s, want\n%s", got, want)
		}
	})
}

func TestRunHandlesAreIdempotent(t *testing.T) {
	bubble(t, func(t *testing.T) {
		st := newStand(t, &script.Script{Do: []script.Action{script.Hang()}})
		r, err := st.box.Launch(t.Context(), launch())
		if err != nil {
			t.Fatal(err)
		}
		for range 10 {
			if err := r.Kill(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := r.Reap(t.Context()); err != nil {
				t.Fatal(err)
			}
			if res, err := r.Stop(t.Context()); err != nil || res.Outcome != sbx.Canceled {
				t.Fatal(res, err)
			}
			if err := r.Signal(t.Context(), syscall.SIGTERM); !errors.Is(err, os.ErrProcessDone) {
				t.Fatalf("signal after the end: %v", err)
			}
		}
		st.clean()
	})
}

func TestErrorsKeepTheirCauses(t *testing.T) {
	for _, c := range []struct {
		name   string
		refuse error
		is     error
		exit   int
	}{
		{"not found", (&sbx.Failure{Kind: sbx.Command, Message: "job is not there"}).Because(&exec.Error{Name: "job", Err: exec.ErrNotFound}), exec.ErrNotFound, 127},
		{"not executable", (&sbx.Failure{Kind: sbx.Command, Message: "job"}).Because(&fs.PathError{Op: "exec", Path: "job", Err: fs.ErrPermission}), fs.ErrPermission, 126},
		{"an errno of the host", fmt.Errorf("forking: %w", syscall.EAGAIN), syscall.EAGAIN, 125},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				st := newStand(t, &script.Script{Faults: []script.Fault{{At: script.OnStart, Refuse: c.refuse}}})
				res, err := st.box.Run(t.Context(), launch())
				if !errors.Is(err, c.is) || res.ExitCode() != c.exit || res.Outcome != sbx.NeverRan {
					t.Errorf("%v, exit %d", err, res.ExitCode())
				}
			})
		})
	}
}
