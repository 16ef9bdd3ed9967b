//go:build linux

package crashtest

import (
	"bytes"
	"context"
	"encoding/json"
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
	var all sync.WaitGroup
	for range n {
		how, after := random.IntN(3), time.Duration(random.Int64N(int64(300*time.Millisecond)))
		all.Go(func() { killEarly(t, backend, state, marker, how, after) })
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

// killEarly starts a controller and signals it after a while.
func killEarly(t *testing.T, backend, state, marker string, how int, after time.Duration) {
	self, err := os.Executable()
	if err != nil {
		t.Error(err)
		return
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	point := pointUnheard
	if how == byTermHeard {
		point = pointHeard
	}
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(os.Environ(), envPoint+"="+point, envBackend+"="+backend, envState+"="+state, envMarker+"="+marker)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	var why bytes.Buffer
	cmd.Stderr = &why
	says, err := cmd.StdoutPipe()
	if err != nil {
		t.Error(err)
		return
	}
	if err := cmd.Start(); err != nil {
		t.Error(err)
		return
	}
	if _, err := io.ReadFull(says, make([]byte, len(preparing))); err != nil {
		_ = cmd.Wait()
		t.Errorf("the controller did not come to prepare anything: %v: %s", err, &why)
		return
	}
	// Not a wait for anything: the moment is what is tried.
	time.Sleep(after)
	sig := syscall.SIGTERM
	if how == byKill {
		sig = syscall.SIGKILL
	}
	if err := cmd.Process.Signal(sig); err != nil {
		t.Errorf("the controller ended before it was killed: %v", err)
	}
	_ = cmd.Wait() // how it died is not the question
	if ctx.Err() != nil {
		t.Error("a controller did not end by its signal")
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
