package process

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/attest"
	"github.com/sbxkit/sbxkit/runtime/cgroup"
)

func newRun() runtime.RunName { return runtime.RunName{ID: strings.ToLower(rand.Text())} }

// beginRun starts a launch under a run's name, which a control group needs.
func beginRun(t testing.TB, b *Backend, l runtime.Launch) *live {
	t.Helper()
	p := plan(t, b, l, newRun())
	r := &live{res: prepare(t, b, p), stdout: newSink(), stderr: newSink()}
	proc, err := r.res.Start(context.Background(), &runtime.StartRequest{
		Stdin: p.Request.Stdin, Stdout: runtime.Output{Writer: r.stdout}, Stderr: runtime.Output{Writer: r.stderr},
	})
	if err != nil {
		t.Fatalf("starting: %v", err)
	}
	r.Process = proc
	return r
}

// needGroups skips where this user cannot make control groups; that the limit is then refused is tested on its own.
func needGroups(t *testing.T, b *Backend, feature string) {
	t.Helper()
	for _, a := range probe(t, b).Absent {
		if a.Feature == feature {
			t.Skipf("%s: %s", feature, a.Why)
		}
	}
}

func TestAControlGroupKeepsItsLimits(t *testing.T) {
	both(t, func(t *testing.T, b *Backend) {
		for _, f := range []string{"limits.memory", "limits.processes", "limits.cpus", "limits.cpuset"} {
			needGroups(t, b, f)
		}
		l := sh("grep Cpus_allowed_list /proc/self/status; sleep 0.2")
		l.Limits = runtime.Limits{Memory: runtime.AtMost(64<<20 + 5), Processes: runtime.AtMost(20), CPUs: runtime.AtMost(500_000_000), CPUSet: "0"}
		r := beginRun(t, b, l)
		r.wait(t)
		measured := map[string]runtime.Guarantee{}
		for _, g := range r.Guarantees() {
			measured[g.Name] = g
		}
		for _, n := range []string{"limits.memory", "limits.processes", "limits.cpus", "limits.cpuset"} {
			if g := measured[n]; g.Measured != runtime.MeasuredHolds || !g.Required {
				t.Errorf("%s: %+v", n, g)
			}
		}
		if got := strings.Fields(r.stdout.String()); len(got) != 2 || got[1] != "0" {
			t.Errorf("inside: %q", r.stdout)
		}
		groups := r.res.Token().Cgroups
		if len(groups) == 0 {
			t.Fatal("the token names no control group")
		}
		if _, err := r.res.Remove(context.Background()); err != nil {
			t.Fatal(err)
		}
		for _, g := range groups {
			if _, err := os.Stat(g); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s is left: %v", g, err)
			}
		}
	})
}

func TestOutOfMemoryIsToldFromAPlainKill(t *testing.T) {
	both(t, func(t *testing.T, b *Backend) {
		needGroups(t, b, "limits.memory")
		needGroups(t, b, "limits.swap")
		limits := runtime.Limits{Memory: runtime.AtMost(32 << 20), Swap: runtime.AtMost(0)}
		// The shell itself grows: it is the command that is killed.
		l := sh("x=xxxxxxxxxxxxxxxx; while :; do x=$x$x; done")
		l.Limits = limits
		e := beginRun(t, b, l).wait(t)
		if e.Signal != syscall.SIGKILL || !e.OOM || e.OOMKills < 1 || e.MemoryEvents == "" {
			t.Errorf("out of memory came out as %+v", e)
		}
		if e.Usage.PeakMemory < 16<<20 || e.Usage.PeakMemory > 32<<20 {
			t.Errorf("peak of %d bytes under a limit of 32 MiB", e.Usage.PeakMemory)
		}
		l = sh("kill -KILL $$")
		l.Limits = limits
		if e := beginRun(t, b, l).wait(t); e.Signal != syscall.SIGKILL || e.OOM || e.OOMKills != 0 {
			t.Errorf("a plain kill came out as %+v", e)
		}
		// A child is killed, the command goes on: its own end counts.
		l = sh("(x=xxxxxxxxxxxxxxxx; while :; do x=$x$x; done); exit 0")
		l.Limits = limits
		if e := beginRun(t, b, l).wait(t); e.Code != 0 || e.OOM || e.OOMKills < 1 {
			t.Errorf("a child out of memory came out as %+v", e)
		}
	})
}

func TestAForkBombEndsWithItsRun(t *testing.T) {
	both(t, func(t *testing.T, b *Backend) {
		needGroups(t, b, "limits.processes")
		// Of a depth that a machine survives where the limit fails: 255 processes want to be, and 40 may.
		l := sh(`bomb() { if [ $1 -gt 0 ]; then bomb $(($1-1)) & bomb $(($1-1)) & fi; exec sleep 60; }; echo ready; bomb 7`)
		l.Limits = runtime.Limits{Processes: runtime.AtMost(40)}
		r := beginRun(t, b, l)
		r.stdout.await(t, "ready")
		r.stderr.await(t, "fork")
		if n, err := os.ReadFile(filepath.Join(groupOf(t, r, "pids"), "pids.current")); err != nil || number(strings.TrimSpace(string(n))) > 40 {
			t.Errorf("%s processes stand, %v", n, err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		down, err := r.res.Remove(ctx)
		if err != nil || !down.Confirmed {
			t.Fatalf("remove: %+v, %v", down, err)
		}
	})
}

// groupOf is the directory of a run's group that a controller keeps.
func groupOf(t testing.TB, r *live, controller string) string {
	t.Helper()
	groups := r.res.Token().Cgroups
	for _, g := range groups {
		if strings.Contains(g, "/"+controller+"/") || len(groups) == 1 {
			return g
		}
	}
	t.Fatalf("no group of %s in %v", controller, groups)
	return ""
}

func TestAnOrphanInASessionOfItsOwnIsFoundByItsGroup(t *testing.T) {
	b := backend(t, localDefinition())
	needGroups(t, b, "limits.processes")
	// Its parent is gone before anybody looks: neither session nor parents lead to it.
	l := sh("(setsid sleep 300 >/dev/null 2>&1 </dev/null & echo $! >&2); echo out")
	l.Limits = runtime.Limits{Processes: runtime.AtMost(64)}
	r := beginRun(t, b, l)
	r.wait(t)
	pid := number(strings.TrimSpace(r.stderr.String()))
	st, err := attest.ReadStat(pid)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.res.Remove(context.Background()); err != nil {
		t.Fatal(err)
	}
	if again, err := attest.ReadStat(pid); err == nil && again.StartTime == st.StartTime && again.State != 'Z' {
		t.Errorf("process %d is left", pid)
	}
}

func TestALimitThatNoGroupKeepsIsUnsupported(t *testing.T) {
	both(t, func(t *testing.T, b *Backend) {
		absent := false
		for _, a := range probe(t, b).Absent {
			if a.Feature == "limits.memory" {
				absent = true
				if a.Why == "" || a.Cure == "" {
					t.Errorf("%+v", a)
				}
			}
		}
		if !absent {
			t.Skip("this user can make control groups")
		}
		l := sh("true")
		l.Limits.Memory = runtime.AtMost(64 << 20)
		if _, err := tryPlan(t, b, l, newRun()); !errors.Is(err, runtime.ErrUnsupported) || runtime.AsFailure(err, runtime.Setup).Feature != "limits.memory" {
			t.Errorf("got %v", err)
		}
	})
}

// TestALostControlGroupIsCaughtBeforeTheCommandRuns breaks each limit that a control group keeps while the sandbox is held.
func TestALostControlGroupIsCaughtBeforeTheCommandRuns(t *testing.T) {
	// set puts another value where the limit is, by its name in either version of the kernel's interface.
	set := func(value string, names ...string) func([]string, int) error {
		return func(groups []string, _ int) error {
			for _, dir := range groups {
				for _, n := range names {
					if _, err := os.Stat(filepath.Join(dir, n)); err == nil {
						return os.WriteFile(filepath.Join(dir, n), []byte(value), 0)
					}
				}
			}
			return fmt.Errorf("none of %q in %q", names, groups)
		}
	}
	moveOut := func(groups []string, pid int) error {
		var errs []error
		for _, dir := range groups {
			errs = append(errs, os.WriteFile(filepath.Join(filepath.Dir(dir), "cgroup.procs"), []byte(itoa(pid)), 0))
		}
		return errors.Join(errs...)
	}
	memory := runtime.AtMost(64 << 20)
	broken := map[string]bool{}
	for _, c := range []struct {
		name, feature string
		ask           runtime.Limits
		spoil         func(groups []string, pid int) error
	}{
		{"more processes", "limits.processes", runtime.Limits{Processes: runtime.AtMost(50)}, set("51", "pids.max")},
		{"moved out of its count of processes", "limits.processes", runtime.Limits{Processes: runtime.AtMost(50)}, moveOut},
		{"more memory", "limits.memory", runtime.Limits{Memory: memory}, set("128M", "memory.max", "memory.limit_in_bytes")},
		{"moved out of its memory", "limits.memory", runtime.Limits{Memory: memory}, moveOut},
		{"more swap", "limits.swap", runtime.Limits{Memory: memory, Swap: runtime.AtMost(0)}, set("128M", "memory.swap.max", "memory.memsw.limit_in_bytes")},
		{"more processor time", "limits.cpus", runtime.Limits{CPUs: runtime.AtMost(500_000_000)}, set("90000", "cpu.max", "cpu.cfs_quota_us")},
		{"moved out of its processor time", "limits.cpus", runtime.Limits{CPUs: runtime.AtMost(500_000_000)}, moveOut},
		{"moved out of its processors", "limits.cpuset", runtime.Limits{CPUSet: "0"}, moveOut},
	} {
		broken[c.feature] = true
		t.Run(c.name, func(t *testing.T) {
			both(t, func(t *testing.T, b *Backend) {
				needGroups(t, b, c.feature)
				l := sh("echo ran; read x")
				l.Stdin.Mode = runtime.StdinPipe
				l.Limits = c.ask
				p := plan(t, b, l, newRun())
				res := prepare(t, b, p)
				out := newSink()
				_, err := res.Start(context.Background(), &runtime.StartRequest{
					Stdin: runtime.StdinPipe, Stdout: runtime.Output{Writer: out},
					Record: func(token runtime.Token) error {
						return c.spoil(token.Cgroups, token.Processes[len(token.Processes)-1].PID)
					},
				})
				f := runtime.AsFailure(err, runtime.Setup)
				if !errors.Is(err, runtime.ErrSetup) || f.Feature != c.feature {
					t.Errorf("got %v, want a setup failure about %s", err, c.feature)
				}
				if out.String() != "" && !(ptraceDenied() && b.def.Gate == GateExec) {
					t.Errorf("the command ran: %q", out)
				}
			})
		})
	}
	for _, n := range cgroup.Limits {
		if !broken[n] {
			t.Errorf("%s is not broken here", n)
		}
	}
}

func TestAReopenedRunsGroupIsRemoved(t *testing.T) {
	both(t, func(t *testing.T, b *Backend) {
		needGroups(t, b, "limits.processes")
		l := sh("echo ready; sleep 300")
		l.Limits.Processes = runtime.AtMost(50)
		r := beginRun(t, b, l)
		r.stdout.await(t, "ready")
		token := r.res.Token()
		again, err := b.Reopen(context.Background(), token)
		if err != nil {
			t.Fatal(err)
		}
		for range 10 {
			if down, err := again.Remove(context.Background()); err != nil || !down.Confirmed {
				t.Fatalf("remove: %+v, %v", down, err)
			}
		}
		for _, g := range token.Cgroups {
			if _, err := os.Stat(g); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s is left: %v", g, err)
			}
		}
	})
}
