package journal_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/journal"
)

// childHold creates a run, says so, and waits to be killed.
func childHold(args []string) error {
	j, err := journal.Open(context.Background(), args[0])
	if err != nil {
		return err
	}
	if _, err := j.Create(context.Background(), small(j, args[1], runtime.StepStart)); err != nil {
		return err
	}
	fmt.Println("ready")
	for {
		time.Sleep(time.Hour)
	}
}

func TestALockEndsWithItsProcessHoweverThatEnds(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	cmd := child(t, "hold", dir, "a")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	j := open(t, dir)
	list(t, j).is(t, []string{"a"}, nil, 0)
	if _, err := j.Take(t.Context(), "a"); !errors.Is(err, runtime.ErrBusy) {
		t.Errorf("taking a run of a live process: %v", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed, and says so
	list(t, j).is(t, nil, []string{"a"}, 0)
	e, err := j.Take(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Remove(); err != nil {
		t.Error(err)
	}
}

// A child of the controller that outlives it does not hold the run's lock.
func TestALockIsNotInheritedByWhatTheControllerStarts(t *testing.T) {
	j := open(t, filepath.Join(t.TempDir(), "state"))
	e := create(t, j, "a")
	cat := exec.Command("/bin/cat")
	in, err := cat.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cat.Start(); err != nil {
		t.Fatal(err)
	}
	defer cat.Wait()
	defer in.Close()
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	list(t, j).is(t, nil, []string{"a"}, 0)
}

// childUpdate goes through create, updates and remove, over and over, until it is killed.
func childUpdate(args []string) error {
	j, err := journal.Open(context.Background(), args[0])
	if err != nil {
		return err
	}
	fmt.Println("ready")
	for n := 0; ; n++ {
		e, err := j.Create(context.Background(), small(j, fmt.Sprintf("%s-%d", args[1], n), runtime.StepPrepare))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(e.Dir(), "workspace"), nil, 0o600); err != nil {
			return err
		}
		for i, s := range runtime.Steps() {
			r := e.Record()
			r.Step, r.PlanDigest = s, strings.Repeat("x", 100*i)
			if err := e.Update(r, i == 3); err != nil {
				return err
			}
		}
		if err := e.Remove(); err != nil {
			return err
		}
	}
}

func TestKilledInTheMiddleOfAnythingTheRecordIsWholeOrNotThere(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	j := open(t, dir)
	rnd := rand.New(rand.NewPCG(1, 2))
	began := 0
	for n := range 60 {
		cmd := child(t, "update", dir, fmt.Sprint(n))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		// The instant of the kill is what is being varied, not something that is waited for.
		time.Sleep(time.Duration(rnd.IntN(4000)) * time.Microsecond)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		l := list(t, j)
		if len(l.live) != 0 || len(l.bad) != 0 || len(l.dead) > 1 {
			t.Fatalf("kill %d left live %v, dead %v, bad %v", n, l.live, l.dead, l.bad)
		}
		for _, id := range l.dead {
			began++
			e, err := j.Take(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			if err := e.Remove(); err != nil {
				t.Fatal(err)
			}
		}
		if left, err := os.ReadDir(filepath.Join(dir, "runs")); err != nil || len(left) != 0 {
			t.Fatalf("kill %d: after the reconcile there is %v, %v", n, left, err)
		}
	}
	if began == 0 {
		t.Error("no kill met a run; the test says nothing")
	}
}
