//go:build linux

package enginetest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	sbx "github.com/sbxkit/sbxkit/runtime"
	driver "github.com/sbxkit/sbxkit/runtime/engine"
	"github.com/sbxkit/sbxkit/runtime/journal"
)

// crowd is how many launches share one backend, and so one client.
const crowd = 50

// TestFiftyLaunchesShareOneClientAndLeaveNothing starts them together: each has its own end and its own bytes, and afterwards neither the
// engine nor this process has anything of them.
func TestFiftyLaunchesShareOneClientAndLeaveNothing(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		before := descriptors(t)
		state := filepath.Join(t.TempDir(), "state")
		j, err := journal.Open(t.Context(), state)
		if err != nil {
			t.Fatal(err)
		}
		b, err := e.backend(e.host)
		if err != nil {
			t.Fatal(err)
		}
		box, err := sbx.New(b, sbx.WithJournal(j))
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		var all sync.WaitGroup
		for n := range crowd {
			all.Go(func() {
				out := sbx.NewTail(100, 0)
				res, err := box.Run(t.Context(), sbx.Launch{
					Script: &sbx.Script{Interpreter: []string{"sh"}, Text: fmt.Appendf(nil, "cat; echo %d; exit %d", n, n)}, Image: sbx.Image{Ref: e.image},
					Stdin: sbx.Stdin{Mode: sbx.StdinPipe, Reader: strings.NewReader("in ")}, Stdout: out,
				})
				if err != nil || res.Outcome != sbx.Exited || res.Code != n || out.String() != fmt.Sprintf("in %d\n", n) {
					t.Errorf("launch %d: %v, %v, %q", n, res, err, out)
				}
			})
		}
		all.Wait()
		t.Logf("%d launches in %v", crowd, time.Since(began))
		if err := box.Close(); err != nil {
			t.Error(err)
		}
		for what, n := range e.owned(t, j.Owner()) {
			t.Errorf("the engine still has %d %s", n, what)
		}
		if left, err := os.ReadDir(filepath.Dir(j.RunDir("x"))); err != nil && !os.IsNotExist(err) || len(left) != 0 {
			t.Errorf("%d run directories are left, %v", len(left), err)
		}
		// A connection that was told to close does so on its own goroutine.
		eventually(t, fmt.Sprintf("no more than the %d descriptors from before are open", before), func() bool { return descriptors(t) <= before })
	}, driver.ViaAPI)
}

// owned counts what the engine has of an owner, by kind; a kind it has nothing of is left out.
func (e engine) owned(t *testing.T, owner string) map[string]int {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	filters := "filters=" + url.QueryEscape(fmt.Sprintf(`{"label":["%sowner=%s"]}`, sbx.LabelPrefix, owner))
	var containers, networks []struct{}
	var volumes struct{ Volumes []struct{} }
	for path, into := range map[string]any{"/containers/json?all=true&": &containers, "/volumes?": &volumes, "/networks?": &networks} {
		if err := e.read(ctx, path+filters, into); err != nil {
			t.Fatal(err)
		}
	}
	counts := map[string]int{}
	for what, n := range map[string]int{"containers": len(containers), "volumes": len(volumes.Volumes), "networks": len(networks)} {
		if n != 0 {
			counts[what] = n
		}
	}
	return counts
}

// descriptors counts what this process holds open.
func descriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}
