package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/attest"
)

// census counts what this process holds and has started.
type census struct {
	children           int
	descriptors, paths string
}

func count(t *testing.T, dir string) census {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	// Zombies count: who started them has to reap them.
	kids, err := processes(func(_ int, s attest.Stat) bool { return s.Parent == os.Getpid() })
	if err != nil {
		t.Fatal(err)
	}
	paths, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range paths {
		names = append(names, p.Name())
	}
	var open []string
	for _, fd := range fds {
		if target, err := os.Readlink("/proc/self/fd/" + fd.Name()); err == nil {
			kind, _, _ := strings.Cut(target, "[") // without the number of this one pipe
			open = append(open, kind)
		}
	}
	slices.Sort(open)
	return census{len(kids), strings.Join(open, " "), strings.Join(names, " ")}
}

// TestTwoHundredLaunchesAtOnceLeaveNothing starts many runs at once, some of which fail, are cancelled, killed or removed while they run.
func TestTwoHundredLaunchesAtOnceLeaveNothing(t *testing.T) {
	launches := 200
	if testing.Short() || os.Getenv(again) != "" {
		launches = 40
	}
	both(t, func(t *testing.T, b *Backend) {
		state := t.TempDir()
		id := probe(t, b)
		groups := true
		for _, a := range id.Absent {
			groups = groups && a.Feature != "limits.processes"
		}
		// The poller's own descriptors and the spawner's goroutine stand from the first launch on.
		launchOnce(t, b, plan(t, b, sh("true"), newRunIn(state)))
		before := count(t, state)
		running := goleak.IgnoreCurrent()

		var wg sync.WaitGroup
		var made []string
		for i := range launches {
			l := sh(fmt.Sprintf("echo %d; exit %d", i, i%7))
			switch i % 5 {
			case 1:
				l.Argv = []string{"no-such-command"}
			case 2, 3:
				l = sh("sleep 100 & sleep 100")
			}
			if groups && i%10 == 0 {
				l.Limits.Processes = runtime.AtMost(50)
			}
			p := plan(t, b, l, newRunIn(state))
			made = append(made, p.Token.Cgroups...)
			wg.Go(func() { oneOfMany(t, b, p, i) })
		}
		wg.Wait()
		for _, g := range made {
			if _, err := os.Stat(g); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s is left: %v", g, err)
			}
		}
		if err := goleak.Find(running); err != nil {
			t.Errorf("goroutines are left: %v", err)
		}
		if after := count(t, state); after != before {
			t.Errorf("before %+v, after %+v", before, after)
		}
	})
}

func newRunIn(state string) runtime.RunName {
	r := newRun()
	r.Dir = filepath.Join(state, r.ID)
	return r
}

func oneOfMany(t *testing.T, b *Backend, p *runtime.Plan, i int) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	res, err := b.Prepare(ctx, p)
	if err != nil {
		t.Errorf("launch %d: preparing: %v", i, err)
		return
	}
	defer func() {
		if down, err := res.Remove(ctx); err != nil || !down.Confirmed {
			t.Errorf("launch %d: removing: %+v, %v", i, down, err)
		}
	}()
	startCtx := ctx
	if i%5 == 3 {
		var giveUp context.CancelFunc
		startCtx, giveUp = context.WithTimeout(ctx, time.Duration(i)*time.Millisecond/4)
		defer giveUp()
	}
	out := newSink()
	proc, err := res.Start(startCtx, &runtime.StartRequest{Stdout: runtime.Output{Writer: out}, Stderr: runtime.Output{Writer: io.Discard}})
	if err != nil {
		if i%5 != 1 && startCtx.Err() == nil {
			t.Errorf("launch %d: starting: %v", i, err)
		}
		return
	}
	switch i % 5 {
	case 1:
		t.Errorf("launch %d: started a command that is not there", i)
	case 2:
		if err := res.Kill(ctx); err != nil {
			t.Errorf("launch %d: killing: %v", i, err)
		}
	case 3:
		return // removed while it runs
	}
	e, err := proc.Wait(ctx, 10*time.Second)
	if err != nil {
		t.Errorf("launch %d: waiting: %v", i, err)
		return
	}
	if i%5 == 0 || i%5 == 4 {
		if !e.Ran || e.Code != i%7 || out.String() != fmt.Sprintf("%d\n", i) {
			t.Errorf("launch %d: exit %+v, stdout %q", i, e, out)
		}
	}
}
