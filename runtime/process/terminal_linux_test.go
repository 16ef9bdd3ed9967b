package process

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/sbxkit/sbxkit/runtime"
)

func TestATerminalIsPrivateAndOneStream(t *testing.T) {
	both(t, func(t *testing.T, b *Backend) {
		l := sh(`test -t 0 && test -t 1 && test -t 2 && echo tty; stty size; echo $TERM; trap 'stty size; exit 4' WINCH; echo err >&2; read x; echo "got $x"; while :; do sleep 0.02; done`)
		l.Terminal = &runtime.Terminal{Columns: 91, Rows: 17, Term: "vt100"}
		r := begin(t, b, l)
		r.stdout.await(t, "err")
		if _, err := io.WriteString(r.Stdin(), "typed\n"); err != nil {
			t.Fatal(err)
		}
		r.stdout.await(t, "got typed")
		if err := r.Resize(40, 30); err != nil {
			t.Fatal(err)
		}
		e := r.wait(t)
		// What is typed is echoed, and line ends are a terminal's: that is why framing never goes over one.
		want := "tty\r\n17 91\r\nvt100\r\nerr\r\ntyped\r\ngot typed\r\n30 40\r\n"
		if got := r.stdout.String(); e.Code != 4 || got != want {
			t.Errorf("exit %+v, stream %q, want %q", e, got, want)
		}
		if r.stderr.String() != "" {
			t.Errorf("stderr %q", r.stderr)
		}
		if err := r.Resize(1, 1); !errors.Is(err, os.ErrProcessDone) {
			t.Errorf("resize after the end: %v", err)
		}
		for _, g := range r.Guarantees() {
			if g.Name == "hardening.new-session" && g.Measured != runtime.MeasuredHolds && !ptraceDenied() {
				t.Errorf("%+v", g)
			}
		}
	})
}

func TestClosingATerminalsInputTypesTheEndOfFile(t *testing.T) {
	both(t, func(t *testing.T, b *Backend) {
		l := runtime.Launch{Argv: []string{"cat"}, Terminal: &runtime.Terminal{}}
		r := begin(t, b, l)
		if _, err := io.WriteString(r.Stdin(), "line\n"); err != nil {
			t.Fatal(err)
		}
		r.stdout.await(t, "line\r\nline\r\n")
		if err := r.Stdin().Close(); err != nil {
			t.Fatal(err)
		}
		if e := r.wait(t); e.Code != 0 {
			t.Errorf("exit %+v", e)
		}
	})
}

func TestATerminalGivesJobControlAndStaysAlone(t *testing.T) {
	b := backend(t, bwrapDefinition())
	l := sh(`ps -o tty= -p $$ 2>/dev/null; echo x >/dev/tty && echo controlling`)
	l.Terminal = &runtime.Terminal{}
	r := begin(t, b, l)
	r.wait(t)
	if !strings.Contains(r.stdout.String(), "x\r\ncontrolling\r\n") {
		t.Errorf("no controlling terminal: %q", r.stdout)
	}
	if err := begin(t, b, sh("true")).Resize(1, 1); !errors.Is(err, runtime.ErrUnsupported) {
		t.Errorf("resize without a terminal: %v", err)
	}
}

func TestHeartbeatAndNotifyComeByTheirOwnDescriptors(t *testing.T) {
	both(t, func(t *testing.T, b *Backend) {
		l := sh(`printf beat >/proc/self/fd/$SBX_HEARTBEAT_FD; printf READY=1 >/proc/self/fd/$SBX_NOTIFY_FD; cat`)
		l.Heartbeat, l.Ready = 1, &runtime.Ready{Notify: true}
		l.Stdin.Mode = runtime.StdinPipe
		p := plan(t, b, l, runtime.RunName{})
		res := prepare(t, b, p)
		beats, notes, out := newSink(), newSink(), newSink()
		proc, err := res.Start(context.Background(), &runtime.StartRequest{
			Stdin: runtime.StdinPipe, Stdout: runtime.Output{Writer: out}, Stderr: runtime.Output{Writer: out}, Heartbeat: beats, Notify: notes,
		})
		if err != nil {
			t.Fatal(err)
		}
		beats.await(t, "beat")
		notes.await(t, "READY=1")
		proc.Stdin().Close()
		if e, err := proc.Wait(context.Background(), time.Second); err != nil || e.Code != 0 || e.DrainCut {
			t.Errorf("exit %+v, %v, %q", e, err, out)
		}
		if _, err := res.Start(context.Background(), &runtime.StartRequest{}); err == nil {
			t.Error("started twice")
		}
		res = prepare(t, b, p)
		if _, err := res.Start(context.Background(), &runtime.StartRequest{}); !errors.Is(err, runtime.ErrSetup) {
			t.Errorf("a planned descriptor that nobody listens on: %v", err)
		}
	})
}
