//go:build linux

package enginetest

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	sbx "github.com/sbxkit/sbxkit/runtime"
	driver "github.com/sbxkit/sbxkit/runtime/engine"
)

// TestATerminalIsTheCommandsOwnAndHasItsSize types into one and measures its size from outside, in the kernel.
func TestATerminalIsTheCommandsOwnAndHasItsSize(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		out := sbx.NewTail(1000, 0)
		run, err := e.start(t, sbx.Launch{
			Script: script("test -t 0 && test -t 1 && test -t 2 && echo terminal; read line; echo got $line >&2; exit 6"),
			Image:  sbx.Image{Ref: e.image}, Terminal: &sbx.Terminal{Columns: 91, Rows: 17}, Stdout: out,
		})
		if err != nil {
			t.Fatal(err)
		}
		size := func() string {
			f, err := os.OpenFile(fmt.Sprintf("/proc/%d/fd/1", run.Facts().Process.PID), os.O_RDONLY|unix.O_NOCTTY, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			w, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
			if err != nil {
				t.Fatal(err)
			}
			return fmt.Sprintf("%dx%d", w.Col, w.Row)
		}
		eventually(t, "the command sees its terminal", func() bool { return strings.Contains(out.String(), "terminal\r\n") })
		if s := size(); s != "91x17" {
			t.Errorf("the terminal is %s", s)
		}
		if err := run.Resize(120, 40); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the terminal has its new size", func() bool { return size() == "120x40" })
		if _, err := run.Stdin().Write([]byte("typed\n")); err != nil {
			t.Fatal(err)
		}
		res, err := run.Wait(t.Context())
		if err != nil || res.Code != 6 || !strings.HasSuffix(out.String(), "got typed\r\n") {
			t.Errorf("%v, %v, %q", res, err, out)
		}
	}, driver.ViaAPI)
}

// TestATerminalByTheProgramIsRefused: the program would have to be given one of ours.
func TestATerminalByTheProgramIsRefused(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		res, err := e.box.Run(t.Context(), sbx.Launch{Argv: []string{"true"}, Image: sbx.Image{Ref: e.image}, Terminal: &sbx.Terminal{Columns: 80, Rows: 24}})
		if f := sbx.AsFailure(err, ""); res.Outcome != sbx.NeverRan || !errors.Is(err, sbx.ErrUnsupported) || f.Step != sbx.StepPlan || f.Cure == "" {
			t.Errorf("%v, %v, want it refused before anything is made", res, err)
		}
	}, driver.ViaCLI)
}

// TestACommandIsReadyByItsPortOrByAnother waits for a port of the loopback inside, which no network leads to, and for a command beside it.
func TestACommandIsReadyByItsPortOrByAnother(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		for _, c := range []struct {
			name  string
			ready sbx.Ready
			text  string
		}{
			{"port", sbx.Ready{Port: 8080}, "exec sbx-probe listen 127.0.0.1:8080"},
			{"exec", sbx.Ready{Exec: []string{"test", "-e", "/tmp/up"}}, "echo up > /tmp/up; exec sleep 1000"},
		} {
			t.Run(c.name, func(t *testing.T) {
				run, err := e.start(t, sbx.Launch{Script: script(c.text), Image: sbx.Image{Ref: e.image}, Ready: &c.ready})
				if err != nil {
					t.Fatal(err)
				}
				if err := run.Kill(t.Context()); err != nil {
					t.Fatal(err)
				}
			})
		}
	})
}
