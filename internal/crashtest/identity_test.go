//go:build linux

package crashtest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sbxkit/sbxkit/internal/testhost"
	sbx "github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/journal"
)

// TestAPidIsNotAnIdentity gives the journal of a dead run the pid of a stranger: under another start time (the pid was used again), and
// under another boot. Neither is touched, and the run is settled all the same.
func TestAPidIsNotAnIdentity(t *testing.T) {
	testhost.Bwrap(t)
	for _, c := range []struct {
		name   string
		change func(*sbx.ProcessIdentity)
	}{
		{"the pid was used again", func(p *sbx.ProcessIdentity) { p.StartTime-- }},
		{"the machine was started again", func(p *sbx.ProcessIdentity) { p.BootID = "00000000-0000-4000-8000-000000000000" }},
		{"the record has no start time", func(p *sbx.ProcessIdentity) { p.StartTime = 0 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			stranger := exec.Command("sleep", "300")
			stranger.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
			if err := stranger.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := stranger.Process.Kill(); err != nil {
					t.Errorf("the stranger: %v", err)
				}
				_ = stranger.Wait()
			}()
			id := sbx.ProcessIdentity{PID: stranger.Process.Pid, StartTime: startTime(t, stranger.Process.Pid), BootID: boot(t)}
			c.change(&id)
			state := filepath.Join(t.TempDir(), "state")
			plant(t, state, "bwrap", func(r *sbx.Record) { r.Token.Processes = []sbx.ProcessIdentity{id} })
			rep := reconcile(t, "bwrap", state)
			if len(rep.Runs) != 1 || !rep.Runs[0].Removed {
				t.Errorf("reconcile did %+v", rep)
			}
			if err := stranger.Process.Signal(syscall.Signal(0)); err != nil {
				t.Errorf("the stranger is gone: %v", err)
			}
			if left := runDirs(t, state); len(left) != 0 {
				t.Errorf("run directories %v are left", left)
			}
		})
	}
}

// TestAnotherBootDoesNotHideAContainer changes the boot id of a dead run's record: it decides which pids still mean anything, and nothing
// else.
func TestAnotherBootDoesNotHideAContainer(t *testing.T) {
	testhost.Docker(t)
	state := filepath.Join(t.TempDir(), "state")
	marker := "sbxmark" + strconv.FormatInt(time.Now().UnixNano(), 36)
	if !crash(t, "docker", state, marker, "running") {
		t.Fatal("the launch did not come to run")
	}
	j, err := journal.Open(t.Context(), state)
	if err != nil {
		t.Fatal(err)
	}
	var dead sbx.Record
	if err := j.List(t.Context(), func(r sbx.Record, _ bool) error { dead = r; return nil }, func(p string, err error) { t.Error(p, err) }); err != nil {
		t.Fatal(err)
	}
	e, err := j.Take(t.Context(), dead.Run.ID)
	if err != nil {
		t.Fatal(err)
	}
	dead.BootID = "00000000-0000-4000-8000-000000000000"
	for i := range dead.Token.Processes {
		dead.Token.Processes[i].BootID = dead.BootID
	}
	if err := e.Update(dead, false); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	settled(t, "docker", state, marker, "running")
}

// plant leaves the record of a run that died while its command ran.
func plant(t *testing.T, state, backend string, change func(*sbx.Record)) {
	t.Helper()
	j, err := journal.Open(t.Context(), state)
	if err != nil {
		t.Fatal(err)
	}
	run := sbx.RunName{ID: strings.Repeat("a", 26), Owner: j.Owner(), Dir: j.RunDir(strings.Repeat("a", 26))}
	r := sbx.Record{Version: sbx.RecordVersion, Run: run, Backend: backend, Step: sbx.StepCapture, Token: sbx.Token{Backend: backend, Run: run},
		BootID: boot(t), Created: time.Now().UnixNano(), Updated: time.Now().UnixNano(), Charged: true}
	change(&r)
	e, err := j.Create(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

func boot(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		t.Fatal(err)
	}
	return string(bytes.TrimSpace(b))
}

// startTime is field 22 of /proc/<pid>/stat; the name in field 2 may hold anything but ends at the last parenthesis.
func startTime(t *testing.T, pid int) uint64 {
	t.Helper()
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	n, err := strconv.ParseUint(fields[19], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
