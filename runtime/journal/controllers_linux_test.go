package journal_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/journal"
)

// childChurn makes runs and gives them up, and reconciles whatever it finds; it reports how many it removed.
func childChurn(args []string) error {
	ctx := context.Background()
	j, err := journal.Open(ctx, args[0])
	if err != nil {
		return err
	}
	removed := 0
	for n := range 40 {
		e, err := j.Create(ctx, small(j, fmt.Sprintf("%s-%d", args[1], n), runtime.StepPrepare))
		if err != nil {
			return err
		}
		if n%2 == 0 {
			err = e.Close()
		} else {
			removed++
			err = e.Remove()
		}
		if err != nil {
			return err
		}
		err = j.List(ctx, func(r runtime.Record, live bool) error {
			if live {
				return nil
			}
			t, err := j.Take(ctx, r.Run.ID)
			if errors.Is(err, runtime.ErrBusy) || errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil {
				return err
			}
			removed++
			return t.Remove()
		}, func(p string, e error) { err = errors.Join(err, fmt.Errorf("%s: %w", p, e)) })
		if err != nil {
			return err
		}
	}
	fmt.Println(j.Owner(), removed)
	return nil
}

// Every run is removed by exactly one of several processes that create and reconcile in one state directory.
func TestSeveralControllersInOneStateDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	const processes = 4
	var outs []io.Reader
	var cmds []*exec.Cmd
	for n := range processes {
		cmd := child(t, "churn", dir, fmt.Sprintf("p%d", n))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		outs, cmds = append(outs, out), append(cmds, cmd)
	}
	total := 0
	var owners []string
	for n, out := range outs {
		b, err := io.ReadAll(out)
		if err != nil {
			t.Fatal(err)
		}
		if err := cmds[n].Wait(); err != nil {
			t.Fatalf("process %d: %v", n, err)
		}
		var owner string
		removed := 0
		if _, err := fmt.Sscan(string(b), &owner, &removed); err != nil {
			t.Fatalf("process %d said %q: %v", n, b, err)
		}
		owners = append(owners, owner)
		total += removed
	}
	slices.Sort(owners)
	if len(slices.Compact(owners)) != 1 {
		t.Errorf("owners %v", owners)
	}
	l := list(t, open(t, dir))
	if total+len(l.dead) != 40*processes || len(l.live) != 0 || len(l.bad) != 0 {
		t.Errorf("%d were removed and %d are left, of %d (live %v, bad %v)", total, len(l.dead), 40*processes, l.live, l.bad)
	}
}

// childList lists, over and over, until it is killed. Anything that is not a whole run is an error.
func childList(args []string) error {
	ctx := context.Background()
	j, err := journal.Open(ctx, args[0])
	if err != nil {
		return err
	}
	fmt.Println("ready")
	for {
		if err := j.List(ctx, func(r runtime.Record, live bool) error {
			if live && strings.HasPrefix(r.Run.ID, "dead") {
				return fmt.Errorf("dead run %s was listed as live", r.Run.ID)
			}
			return nil
		}, func(p string, e error) { err = errors.Join(err, fmt.Errorf("%s: %w", p, e)) }); err != nil {
			return err
		}
		if err != nil {
			return err
		}
	}
}

// A listing meets every instant of a run's coming and going, and neither disturbs it nor takes what it meets for damage.
func TestListingBesideRunsThatComeAndGo(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	j := open(t, dir)
	for n := range 3 {
		if err := create(t, j, fmt.Sprintf("dead%d", n)).Close(); err != nil {
			t.Fatal(err)
		}
	}
	var listers []*exec.Cmd
	for range 2 {
		cmd := child(t, "list", dir)
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
		listers = append(listers, cmd)
	}
	for n := range 500 {
		e, err := j.Create(t.Context(), small(j, fmt.Sprint(n), runtime.StepPrepare))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Lstat(filepath.Join(e.Dir(), "lock")); err != nil {
			t.Fatalf("run %d: a live run lost its lock file: %v", n, err)
		}
		if err := e.Update(small(j, fmt.Sprint(n), runtime.StepStart), false); err != nil {
			t.Fatal(err)
		}
		if err := e.Remove(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Lstat(e.Dir()); !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("run %d: its directory is there after Remove: %v", n, err)
		}
	}
	for _, cmd := range listers {
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		var exit *exec.ExitError
		if err := cmd.Wait(); !errors.As(err, &exit) || exit.Exited() {
			t.Errorf("a lister ended by itself: %v", err)
		}
	}
}
