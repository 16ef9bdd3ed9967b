package script_test

import (
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sbxkit/sbxkit/runtime/script"
)

func TestStdinExpectations(t *testing.T) {
	tests := []struct {
		name    string
		do      []script.Action
		write   string
		close   bool
		code    int
		problem string // part of it, empty for none
	}{
		{"read and end", []script.Action{script.Read("abc"), script.ReadEOF()}, "abc", true, 0, ""},
		{"read a part", []script.Action{script.Read("ab")}, "abc", false, 0, ""},
		{"other bytes", []script.Action{script.Read("abc")}, "abd", false, 70, `read "abd" from stdin, where the script reads "abc"`},
		{"the end too early", []script.Action{script.Read("abc")}, "ab", true, 70, `stdin ended after "ab"`},
		{"bytes instead of the end", []script.Action{script.ReadEOF()}, "x", true, 70, `read "x" from stdin, where the script reads its end`},
		{"no heartbeat descriptor", []script.Action{script.Beat()}, "", false, 70, "no heartbeat descriptor"},
		{"an error of a Func", []script.Action{script.Func(func(*script.Command) error { return errors.New("odd") })}, "", false, 70, "odd"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := start(t, &script.Script{Do: tt.do})
				// A command that is through already answers EPIPE, which is its right.
				if _, err := io.WriteString(r.proc.Stdin(), tt.write); err != nil && !errors.Is(err, syscall.EPIPE) {
					t.Fatal(err)
				}
				if tt.close {
					if err := r.proc.Stdin().Close(); err != nil {
						t.Fatal(err)
					}
				}
				if x := r.wait(); x.Code != tt.code {
					t.Errorf("exit %d, want %d", x.Code, tt.code)
				}
				err := r.b.World().Check()
				switch {
				case tt.problem == "" && err != nil:
					t.Errorf("problems: %v", err)
				case tt.problem != "" && (err == nil || !strings.Contains(err.Error(), tt.problem)):
					t.Errorf("problems %v, want %q", err, tt.problem)
				}
			})
		})
	}
}

// A driver that forgets to half-close leaves a command that waits for the end of its input where it is.
func TestWithoutAHalfCloseTheCommandWaits(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := start(t, &script.Script{Do: []script.Action{script.Echo()}})
		if _, err := io.WriteString(r.proc.Stdin(), "abc"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		if i := r.record(); !i.Ended.IsZero() || i.StdinEOF {
			t.Errorf("the command saw an end that nobody gave: %+v", i)
		}
		if err := r.proc.Stdin().Close(); err != nil {
			t.Fatal(err)
		}
		r.wait()
		if r.out.String() != "abc" || !r.record().StdinEOF {
			t.Errorf("stdout %q", r.out)
		}
	})
}

func TestStdinAfterTheEndAndAfterClose(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := start(t, &script.Script{})
		r.wait()
		if _, err := r.proc.Stdin().Write([]byte("x")); !errors.Is(err, syscall.EPIPE) {
			t.Errorf("writing after the end: %v, want EPIPE", err)
		}
		if err := r.proc.Stdin().Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
		if err := r.proc.Stdin().Close(); !errors.Is(err, os.ErrClosed) {
			t.Errorf("closing again: %v, want os.ErrClosed", err)
		}
		if _, err := r.proc.Stdin().Write([]byte("x")); !errors.Is(err, os.ErrClosed) {
			t.Errorf("writing after Close: %v, want os.ErrClosed", err)
		}
	})
}

// gate is a sink that takes nothing until it is opened.
type gate struct {
	open chan struct{}
	to   io.Writer
}

func (g *gate) Write(p []byte) (int, error) {
	<-g.open
	return g.to.Write(p)
}

func TestOutputNobodyTakesBlocksTheCommandAsAPipeDoes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		all := strings.Repeat("0123456789abcdef", 16<<10) // 256 KiB
		req := request(runID, "owner")
		r, err := prepare(t, newBackend(t, nil, &script.Script{Do: []script.Action{script.Stdout(all)}}), req)
		if err != nil {
			t.Fatal(err)
		}
		g := &gate{open: make(chan struct{}), to: r.out}
		r.start.Stdout.Writer = g
		if r.proc, err = r.res.Start(t.Context(), &r.start); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		if !r.record().Ended.IsZero() {
			t.Error("a command ended whose output nobody took")
		}
		close(g.open)
		r.wait()
		if r.out.String() != all {
			t.Errorf("%d bytes came out of %d", len(r.out.String()), len(all))
		}
		if got := r.record().Stdout; got.Bytes != int64(len(all)) || len(got.Data) != len(all) {
			t.Errorf("recorded %d of %d bytes", len(got.Data), got.Bytes)
		}
	})
}

func TestAKilledCommandEndsThoughItsSinkIsStuck(t *testing.T) {
	bubble(t, func(t *testing.T) {
		req := request(runID, "owner")
		r, err := prepare(t, newBackend(t, nil, &script.Script{Do: []script.Action{script.Stdout(strings.Repeat("x", 200<<10))}}), req)
		if err != nil {
			t.Fatal(err)
		}
		g := &gate{open: make(chan struct{}), to: io.Discard}
		defer close(g.open)
		r.start.Stdout.Writer = g
		if r.proc, err = r.res.Start(t.Context(), &r.start); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if err := r.res.Kill(t.Context()); err != nil {
			t.Fatal(err)
		}
		if x := r.wait(); x.Signal != syscall.SIGKILL || !x.DrainCut {
			t.Errorf("exit %+v, want killed with a cut stream", x)
		}
	})
}

func TestAStreamHeldByALeftoverProcessIsCutAfterTheDrain(t *testing.T) {
	tests := []struct {
		name  string
		hold  time.Duration
		drain time.Duration
		kill  bool
		cut   bool
		takes time.Duration
	}{
		{"nobody holds it", 0, time.Second, false, false, 0},
		{"let go in time", 3 * time.Second, 10 * time.Second, false, false, 3 * time.Second},
		{"held for ever", -1, 10 * time.Second, false, true, 10 * time.Second},
		{"held, no drain", time.Hour, 0, false, true, 0},
		{"the kill takes the holder too", -1, 10 * time.Second, true, false, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := start(t, &script.Script{HoldStreams: tt.hold, Do: []script.Action{script.Stdout("last words")}})
				synctest.Wait()
				if tt.kill {
					if err := r.res.Kill(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				began := time.Now()
				x, err := r.proc.Wait(t.Context(), tt.drain)
				if err != nil {
					t.Fatal(err)
				}
				if x.DrainCut != tt.cut || !x.Ran || x.Code != 0 || time.Since(began) != tt.takes {
					t.Errorf("cut %v after %v, want %v after %v (exit %+v)", x.DrainCut, time.Since(began), tt.cut, tt.takes, x)
				}
				if r.out.String() != "last words" {
					t.Errorf("stdout %q", r.out)
				}
			})
		})
	}
}

func TestASinkThatRefusesEndsTheCommandBySIGPIPE(t *testing.T) {
	bubble(t, func(t *testing.T) {
		rd, wr := io.Pipe()
		rd.Close()
		r, err := prepare(t, newBackend(t, nil, &script.Script{Do: []script.Action{script.Repeat(1<<20, script.Stdout(strings.Repeat("y", 4096)))}}), request(runID, ""))
		if err != nil {
			t.Fatal(err)
		}
		r.start.Stdout.Writer = wr
		if r.proc, err = r.res.Start(t.Context(), &r.start); err != nil {
			t.Fatal(err)
		}
		if x := r.wait(); x.Signal != syscall.SIGPIPE {
			t.Errorf("exit %+v, want SIGPIPE", x)
		}
	})
}
