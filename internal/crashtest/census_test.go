//go:build linux

package crashtest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sbxkit/sbxkit/generated/bwrap"
	"github.com/sbxkit/sbxkit/internal/testhost"
	sbx "github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/journal"
	"go.uber.org/goleak"
)

// TestTwoHundredLaunchesAtOnceLeaveNothing starts them together and counts afterwards: goroutines, descriptors, processes, control groups
// and directories.
func TestTwoHundredLaunchesAtOnceLeaveNothing(t *testing.T) {
	testhost.Bwrap(t)
	ignore := goleak.IgnoreCurrent()
	fds := descriptors(t)
	ids := make([]string, 200) // other packages' tests make control groups at the same time: only these runs' count
	state := filepath.Join(t.TempDir(), "state")
	marker := "sbxcensus" + strings.ReplaceAll(filepath.Base(filepath.Dir(state)), "/", "")
	func() {
		b, err := bwrap.New(bwrap.Options{})
		if err != nil {
			t.Fatal(err)
		}
		j, err := journal.Open(t.Context(), state)
		if err != nil {
			t.Fatal(err)
		}
		box, err := sbx.New(b, sbx.WithJournal(j))
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := box.Close(); err != nil {
				t.Error(err)
			}
		}()
		id, err := box.Probe(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		grouped := !slices.ContainsFunc(id.Absent, func(a sbx.Absence) bool { return a.Feature == "limits.processes" })
		// One stands until the others are gone, and shows that the group of a run is found by its name.
		first := sbx.Launch{Argv: []string{"/bin/cat"}, Stdin: sbx.Stdin{Mode: sbx.StdinPipe}}
		if grouped {
			first.Limits.Processes = sbx.AtMost(32)
		}
		held, err := box.Launch(t.Context(), first)
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for i := range ids {
			all.Go(func() {
				out := sbx.NewTail(100, 0)
				l := sbx.Launch{
					Script: &sbx.Script{Interpreter: []string{"/bin/sh"}, Text: fmt.Appendf(nil, "echo %d; exit %d", i, i%100), Args: []string{marker}},
					Stdout: out,
				}
				if grouped && i%2 == 0 {
					l.Limits.Processes = sbx.AtMost(32)
				}
				run, err := box.Launch(t.Context(), l)
				if err != nil {
					t.Errorf("launch %d: %v", i, err)
					return
				}
				ids[i] = run.ID()
				res, err := run.Wait(t.Context())
				if err != nil || res.Outcome != sbx.Exited || res.Code != i%100 || out.String() != fmt.Sprintln(i) {
					t.Errorf("launch %d: %v, %v, %q", i, res, err, out)
				}
			})
		}
		all.Wait()
		if grouped && len(testhost.ControlGroups(t, held.ID())) == 0 {
			t.Errorf("no control group has the name of the run %s that stands", held.ID())
		}
		ids = append(ids, held.ID())
		if err := held.CloseWrite(); err != nil {
			t.Error(err)
		}
		if res, err := held.Wait(t.Context()); err != nil || !res.Success() {
			t.Errorf("the run that stood: %v, %v", res, err)
		}
	}()
	gone(t, marker)
	goleak.VerifyNone(t, ignore)
	if left := runDirs(t, state); len(left) != 0 {
		t.Errorf("run directories %v are left", left)
	}
	if now := descriptors(t); len(now) > len(fds) {
		t.Errorf("descriptors before\n%v\nand after\n%v", fds, now)
	}
	for _, g := range testhost.ControlGroups(t, "sbx") {
		if slices.ContainsFunc(ids, func(id string) bool { return id != "" && strings.Contains(g, id) }) {
			t.Errorf("the control group %s is left", g)
		}
	}
}

// descriptors lists what this process holds open.
func descriptors(t *testing.T) (list []string) {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		to, err := os.Readlink("/proc/self/fd/" + e.Name())
		if err == nil && !strings.HasPrefix(to, "/proc/") {
			list = append(list, e.Name()+" "+to)
		}
	}
	return list
}
