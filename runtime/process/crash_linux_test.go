package process

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/attest"
	"github.com/sbxkit/sbxkit/runtime/mounts"
)

// A controller that dies by SIGKILL is this binary again, with crashWord, the backend, the moment, and a directory.
const crashWord = "sbx-test-crash"

// crashAt is what the dying controller does: it starts a run whose command leaves a file in dir, and dies at the moment.
func crashAt(name, moment, dir string) {
	die := func() {
		unix.Kill(os.Getpid(), unix.SIGKILL)
		select {}
	}
	d := localDefinition()
	if name == "bwrap" {
		d = bwrapDefinition()
	}
	if moment == "running, without parent-death" {
		d.Description.Policy.Hardening = nil
	}
	b, err := New(d)
	check(err)
	id, err := b.Probe(context.Background(), runtime.ProbeRequest{})
	check(err)
	//sbx:allow rawshell the test's own text, run in the sandbox; how a script is staged is another test's subject
	l := runtime.Launch{Argv: []string{"/bin/sh", "-c", "echo x >ran; sleep 300 & sleep 300"}, Workspace: &runtime.Workspace{Source: dir}}
	run := runtime.RunName{ID: filepath.Base(dir)}
	req, dropped, err := runtime.Resolve(runtime.ResolveInput{Description: b.Describe(), Launch: &l, Run: run, Identity: *id})
	check(err)
	p, err := b.Plan(runtime.PlanInput{Request: req, Identity: *id, Host: mounts.OS{}, Dropped: dropped})
	check(err)
	res, err := b.Prepare(context.Background(), p)
	check(err)
	say := func(t runtime.Token) {
		text, err := json.Marshal(t)
		check(err)
		fmt.Println(string(text))
	}
	say(res.Token())
	_, err = res.Start(context.Background(), &runtime.StartRequest{
		Stdout: runtime.Output{Writer: io.Discard}, Stderr: runtime.Output{Writer: os.Stderr},
		Record: func(t runtime.Token) error {
			if moment == "before the record" {
				die()
			}
			say(t)
			if moment == "after the record" {
				die()
			}
			return nil
		},
		Started: func() {
			if moment == "before it is let go" {
				die()
			}
		},
	})
	check(err)
	for {
		if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
			die()
		}
		time.Sleep(time.Millisecond)
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
}

// TestAControllerThatDiesLeavesNothingThatItsTokenDoesNotFind kills the controller at each moment of a start.
func TestAControllerThatDiesLeavesNothingThatItsTokenDoesNotFind(t *testing.T) {
	both(t, func(t *testing.T, b *Backend) {
		for _, moment := range []string{"before the record", "after the record", "before it is let go", "running", "running, without parent-death"} {
			t.Run(moment, func(t *testing.T) {
				if b.def.Gate == GateExec && moment == "before the record" && ptraceDenied() {
					t.Skip("nothing holds a plain process then: one that did not ask to die with its parent runs before anybody knows of it")
				}
				dir := filepath.Join(t.TempDir(), newRun().ID)
				if err := errorsOf(os.Mkdir(dir, 0o777), os.Chmod(dir, 0o777)); err != nil {
					t.Fatal(err)
				}
				cmd := exec.Command(os.Args[0], crashWord, b.def.Description.Name, moment, dir)
				cmd.Stderr = os.Stderr
				out, err := cmd.Output()
				if status := cmd.ProcessState.Sys().(syscall.WaitStatus); !status.Signaled() || status.Signal() != unix.SIGKILL {
					t.Fatalf("the controller ended otherwise: %v, %s", err, out)
				}
				lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
				var token runtime.Token
				if err := json.Unmarshal(lines[len(lines)-1], &token); err != nil {
					t.Fatal(err)
				}
				again, err := b.Reopen(context.Background(), token)
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
				defer cancel()
				for range 3 {
					if down, err := again.Remove(ctx); err != nil || !down.Confirmed {
						t.Fatalf("remove: %+v, %v", down, err)
					}
				}
				// The kernel kills what a dead tracer left at a stop; that takes it a moment.
				var left []member
				for limit := time.Now().Add(5 * time.Second); ; {
					if left, err = processes(func(pid int, s attest.Stat) bool { return s.State != 'Z' && sameDir(pid, dir) }); err != nil {
						t.Fatal(err)
					}
					if len(left) == 0 || time.Now().After(limit) {
						break
					}
					time.Sleep(endPause)
				}
				marked, err := markedAs(token.Run.Name())
				if err != nil {
					t.Fatal(err)
				}
				for _, m := range append(left, marked...) {
					if fd, err := openIdentity(m.id); err == nil {
						signalPidfd(fd, unix.SIGKILL)
						unix.Close(fd)
					}
				}
				if len(left)+len(marked) > 0 {
					t.Errorf("left: %+v %+v", left, marked)
				}
				_, err = os.Stat(filepath.Join(dir, "ran"))
				traced := !ptraceDenied()
				if before := moment != "running" && moment != "running, without parent-death"; before && traced && err == nil {
					t.Errorf("the command ran before it was let go")
				}
			})
		}
	})
}

// sameDir reports whether a process stands in a directory of the host.
func sameDir(pid int, dir string) bool {
	var a, b unix.Stat_t
	return unix.Stat(fmt.Sprintf("/proc/%d/cwd", pid), &a) == nil && unix.Stat(dir, &b) == nil && a.Dev == b.Dev && a.Ino == b.Ino
}
