//go:build linux

package crashtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sbxkit/sbxkit/internal/testhost"
	sbx "github.com/sbxkit/sbxkit/runtime"
)

// How many controllers are killed on each engine, and how many in a soak.
const (
	earlyKills  = 30
	soakedKills = 300
)

// atOnce is how many of them start, and die, together at most: after one alone the reconcile comes while the engine is still at it, and many
// keep the engine busy.
const atOnce = 8

// TestControllersKilledEarlyLeaveNothing kills controllers at random moments of the 300 ms after their launch begins to make something, in
// which an engine makes a volume and a container and starts it: by KILL, by TERM to one that knows nothing of it, and by TERM to one that gives its launch up. One reconcile afterwards, by
// another process, leaves nothing on the engine and nothing in the journal, also of what the engine was still making when its client died.
func TestControllersKilledEarlyLeaveNothing(t *testing.T) {
	kills := earlyKills
	if testhost.Soak() {
		kills = soakedKills
	}
	for name, host := range map[string]func(testing.TB) (string, string){"docker": testhost.Docker, "podman": testhost.Podman} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			endpoint, _ := host(t)
			seed := uint64(time.Now().UnixNano())
			t.Logf("seed %d", seed)
			random := rand.New(rand.NewPCG(seed, 0))
			other := startForeign(t, name)
			census := map[string]int{}
			for left := kills; left > 0; {
				n := min(left, 1+random.IntN(atOnce))
				killTogether(t, name, endpoint, random, n, census)
				left -= n
			}
			other.lives(t)
			t.Logf("what %d killed controllers had come to: %v", kills, census)
		})
	}
}

// killTogether kills n controllers of one state directory, reconciles once, and looks for what is left.
func killTogether(t *testing.T, backend, endpoint string, random *rand.Rand, n int, census map[string]int) {
	t.Helper()
	state := filepath.Join(t.TempDir(), "state")
	marker := "sbxmark" + strconv.FormatInt(time.Now().UnixNano(), 36)
	// They probe one after another, so that the engine has time for each, and are let go together.
	var doomed []*doomed
	for range n {
		doomed = append(doomed, startDoomed(t, backend, state, marker, random.IntN(3)))
	}
	var all sync.WaitGroup
	for _, d := range doomed {
		after := time.Duration(random.Int64N(int64(300 * time.Millisecond)))
		all.Go(func() { d.killAfter(t, after) })
	}
	all.Wait()
	rep := reconcile(t, backend, state)
	if rep.Live != 0 || len(rep.Bad) != 0 {
		t.Errorf("reconcile found %+v", rep)
	}
	census["no record"] += n - len(rep.Runs)
	for _, r := range rep.Runs {
		census[string(r.Step)]++
		if !r.Removed || r.Failure != nil {
			t.Errorf("not removed: %+v: %v", r, r.Failure)
		}
	}
	for what, names := range owned(t, endpoint, rep.Owner) {
		if len(names) != 0 {
			t.Errorf("the engine still has the %s %v", what, names)
		}
	}
	if left := runDirs(t, state); len(left) != 0 {
		t.Errorf("run directories %v are left", left)
	}
	gone(t, marker)
	// What the engine was still at when it was asked would be there by now.
	if again := reconcile(t, backend, state); len(again.Runs) != 0 {
		t.Errorf("a second reconcile did %+v", again)
	}
}

// The ways a controller dies early.
const (
	byKill = iota
	byTerm
	byTermHeard
)

// doomed is a controller that stands before the first thing it makes.
type doomed struct {
	how int
	cmd *exec.Cmd
	let io.WriteCloser
}

// startDoomed starts a controller and waits until it stands there.
func startDoomed(t *testing.T, backend, state, marker string, how int) *doomed {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	point := pointUnheard
	if how == byTermHeard {
		point = pointHeard
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel) // which ends one that was not killed
	d := &doomed{how: how, cmd: exec.CommandContext(ctx, self)}
	d.cmd.Env = append(os.Environ(), envPoint+"="+point, envBackend+"="+backend, envState+"="+state, envMarker+"="+marker)
	d.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	var why bytes.Buffer
	d.cmd.Stderr = &why
	says, err := d.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if d.let, err = d.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(says, make([]byte, len(preparing))); err != nil {
		_ = d.cmd.Wait() // it ended by itself
		t.Fatalf("the controller did not come to prepare anything: %v: %s", err, &why)
	}
	return d
}

// killAfter lets it go and signals it after a while.
func (d *doomed) killAfter(t *testing.T, after time.Duration) {
	if err := d.let.Close(); err != nil {
		t.Error(err)
	}
	// Not a wait for anything: the moment is what is tried.
	time.Sleep(after)
	sig := syscall.SIGTERM
	if d.how == byKill {
		sig = syscall.SIGKILL
	}
	if err := d.cmd.Process.Signal(sig); err != nil {
		t.Errorf("the controller ended before it was killed: %v", err)
	}
	var e *exec.ExitError
	if err := d.cmd.Wait(); !errors.As(err, &e) {
		t.Errorf("a controller ended well: %v", err)
	} else if ws := e.Sys().(syscall.WaitStatus); ws.Signaled() && ws.Signal() != sig {
		t.Errorf("a controller did not end by its signal, but by %v", ws.Signal())
	}
}

// owned asks the engine itself what it has of an owner.
func owned(t *testing.T, endpoint, owner string) map[string][]string {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", strings.TrimPrefix(endpoint, "unix://"))
	}}}
	filter := url.QueryEscape(fmt.Sprintf(`{"label":["%sowner=%s"]}`, sbx.LabelPrefix, owner))
	get := func(path string, into any) {
		resp, err := client.Get("http://engine" + path + "filters=" + filter)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("GET %s: %s: %s, %v", path, resp.Status, b, err)
		}
		if err := json.Unmarshal(b, into); err != nil {
			t.Fatal(err)
		}
	}
	var containers []struct{ Names []string }
	var volumes struct{ Volumes []struct{ Name string } }
	var networks []struct{ Name string }
	get("/containers/json?all=true&", &containers)
	get("/volumes?", &volumes)
	get("/networks?", &networks)
	found := map[string][]string{}
	for _, c := range containers {
		found["containers"] = append(found["containers"], c.Names...)
	}
	for _, v := range volumes.Volumes {
		found["volumes"] = append(found["volumes"], v.Name)
	}
	for _, n := range networks {
		found["networks"] = append(found["networks"], n.Name)
	}
	return found
}
