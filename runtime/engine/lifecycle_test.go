package engine

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sbxkit/sbxkit/runtime"
)

func TestExitStatusIsTheCommandsOwn(t *testing.T) {
	eachEngine(t, func(t *testing.T, e underTest) {
		b := e.backend(t)
		for _, c := range []struct {
			name     string
			script   string
			init     bool
			code     int
			out, err string
		}{
			{"success", "exit 0", false, 0, "", ""},
			{"failure", "exit 7", false, 7, "", ""},
			{"125", "exit 125", false, 125, "", ""},
			{"126", "exit 126", false, 126, "", ""},
			{"127", "exit 127", true, 127, "", ""},
			{"137 without a kill", "exit 137", true, 137, "", ""},
			{"both streams", "echo out; echo err >&2", false, 0, "out\n", "err\n"},
			{"killed under an init", "kill -9 $$", true, 137, "", ""},
		} {
			t.Run(c.name, func(t *testing.T) {
				r := e.request("sh", "-c", c.script)
				r.Hardening.Init = c.init
				l := launch(t, b, r)
				x := l.wait()
				// Whether a signal is told from a status depends on whether the command lived to be watched; the status never does.
				if !x.Ran || status(x) != c.code || x.OOM {
					t.Errorf("exit %+v, want code %d", x, c.code)
				}
				if l.out.String() != c.out || l.err.String() != c.err {
					t.Errorf("stdout %q, stderr %q; want %q, %q", l.out.String(), l.err.String(), c.out, c.err)
				}
			})
		}
	})
}

func TestHalfCloseEndsInputAndNotOutput(t *testing.T) {
	eachEngine(t, func(t *testing.T, e underTest) {
		r := e.request("sh", "-c", "cat; echo end")
		r.Stdin = runtime.StdinPipe
		l := launch(t, e.backend(t), r)
		if _, err := l.proc.Stdin().Write([]byte("abc")); err != nil {
			t.Fatal(err)
		}
		if err := l.proc.Stdin().Close(); err != nil {
			t.Fatal(err)
		}
		if err := l.proc.Stdin().Close(); err != nil {
			t.Errorf("a second close: %v", err)
		}
		if x := l.wait(); x.Code != 0 || l.out.String() != "abcend\n" {
			t.Errorf("exit %+v, stdout %q", x, l.out.String())
		}
	})
}

func TestCommandThatCannotRunIsAnErrorOfItsOwn(t *testing.T) {
	eachEngine(t, func(t *testing.T, e underTest) {
		b := e.backend(t)
		for _, c := range []struct {
			name    string
			command string
			init    bool
			want    error
		}{
			{"not found in PATH", "no-such-command", false, exec.ErrNotFound},
			{"not found in PATH, with init", "no-such-command", true, exec.ErrNotFound},
			{"not found by path", "/bin/no-such-command", true, exec.ErrNotFound},
			{"a directory", "/etc", true, fs.ErrPermission},
			{"no permission to execute", "/etc/passwd", true, fs.ErrPermission},
		} {
			t.Run(c.name, func(t *testing.T) {
				r := e.request(c.command)
				r.Hardening.Init = c.init
				err := prepare(t, b, r).stage()
				if !errors.Is(err, runtime.ErrCommand) || !errors.Is(err, c.want) {
					t.Errorf("error %v, want a Command failure that is %v", err, c.want)
				}
			})
		}
	})
}

func TestAbsentImageIsSetupWithThePullCommand(t *testing.T) {
	eachEngine(t, func(t *testing.T, e underTest) {
		b := e.backend(t)
		if _, err := b.Probe(within(t), runtime.ProbeRequest{}); err != nil {
			t.Fatal(err)
		}
		_, err := b.Ensure(within(t), runtime.Image{Ref: "sbx-no-such-image:1", Pull: runtime.PullNever}, nil)
		f := runtime.AsFailure(err, "")
		if !errors.Is(err, runtime.ErrSetup) || !strings.Contains(f.Cure, "pull sbx-no-such-image:1") {
			t.Errorf("error %v, want Setup with the pull command", err)
		}
	})
}

func TestSignalsReachTheCommand(t *testing.T) {
	eachEngine(t, func(t *testing.T, e underTest) {
		r := e.request("sh", "-c", "trap 'echo got; exit 5' TERM; echo ready; while true; do sleep 0.1; done")
		l := launch(t, e.backend(t), r)
		waitFor(t, "the command to be ready", func() bool { return strings.Contains(l.out.String(), "ready") })
		if err := l.proc.Signal(within(t), syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if x := l.wait(); x.Code != 5 || l.out.String() != "ready\ngot\n" {
			t.Errorf("exit %+v, stdout %q", x, l.out.String())
		}
		for range 10 {
			if err := l.proc.Signal(within(t), syscall.SIGTERM); !errors.Is(err, os.ErrProcessDone) {
				t.Errorf("a signal after the end: %v", err)
			}
		}
	})
}

func TestKillAndRemoveAreIdempotentInEveryState(t *testing.T) {
	eachEngine(t, func(t *testing.T, e underTest) {
		b := e.backend(t)
		ten := func(t *testing.T, r runtime.Resources) {
			for range 10 {
				if err := r.Kill(within(t)); err != nil {
					t.Errorf("kill: %v", err)
				}
			}
			how := map[string]int{}
			for range 10 {
				d, err := r.Remove(within(t))
				if err != nil || !d.Confirmed {
					t.Fatalf("remove: %+v, %v", d, err)
				}
				how[d.How]++
			}
			if how["removed"] != 1 || how["nothing"] != 9 {
				t.Errorf("ten removals: %v, want one removed and nine nothing", how)
			}
			if err := r.Kill(within(t)); err != nil {
				t.Errorf("kill of what is gone: %v", err)
			}
		}
		t.Run("created", func(t *testing.T) { ten(t, prepare(t, b, e.request("true")).res) })
		t.Run("running", func(t *testing.T) { ten(t, launch(t, b, e.request("sleep", "1000")).res) })
		t.Run("exited", func(t *testing.T) {
			l := launch(t, b, e.request("true"))
			l.wait()
			ten(t, l.res)
		})
		t.Run("reopened", func(t *testing.T) {
			l := launch(t, b, e.request("sleep", "1000"))
			r, err := e.backend(t).Reopen(within(t), l.res.Token())
			if err != nil {
				t.Fatal(err)
			}
			ten(t, r)
		})
		t.Run("never made", func(t *testing.T) {
			r, err := b.Reopen(within(t), runtime.Token{Backend: e.program, Run: runtime.RunName{ID: "none"}, Name: "sbx-none", Endpoint: e.endpoint})
			if err != nil {
				t.Fatal(err)
			}
			for range 10 {
				if d, err := r.Remove(within(t)); err != nil || d.How != "nothing" {
					t.Fatalf("%+v, %v", d, err)
				}
			}
		})
	})
}

func TestKillEndsTheRunAndWaitSeesIt(t *testing.T) {
	eachEngine(t, func(t *testing.T, e underTest) {
		l := launch(t, e.backend(t), e.request("sleep", "1000"))
		began := time.Now()
		if err := l.res.Kill(within(t)); err != nil {
			t.Fatal(err)
		}
		if x := l.wait(); x.Signal != syscall.SIGKILL || x.Code != -1 {
			t.Errorf("exit %+v, want the signal, which a handle on the process tells", x)
		}
		t.Logf("kill to witnessed end: %v", time.Since(began))
	})
}

// status is what a shell would make of an exit.
func status(x *runtime.Exit) int {
	if !x.Ran {
		return -1
	}
	if x.Signal != 0 {
		return 128 + int(x.Signal)
	}
	return x.Code
}

func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	end := time.Now().Add(deadline)
	for !ok() {
		if time.Now().After(end) {
			t.Fatalf("waited %v for %s", deadline, what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}
