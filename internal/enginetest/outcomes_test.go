//go:build linux

package enginetest

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	sbx "github.com/sbxkit/sbxkit/runtime"
)

// ending is a way for a command to end, and what is told of it.
type ending struct {
	name  string
	text  string // of sh
	stdin []byte // nil for none
	// change is made to the launch; nil for none.
	change func(*sbx.Launch)

	outcome sbx.Outcome
	code    int
	signal  syscall.Signal
	// kills is true where the memory limit killed something.
	kills    bool
	out, err string
}

func endings() []ending {
	hog := fmt.Sprintf("sbx-probe alloc %d", 256<<20)
	memory := func(l *sbx.Launch) { l.Limits.Memory = sbx.AtMost(64 << 20) }
	init := func(l *sbx.Launch) { l.Hardening.Init = true }
	return []ending{
		{name: "success", text: "exit 0", outcome: sbx.Exited},
		{name: "125 of the command", text: "exit 125", outcome: sbx.Exited, code: 125},
		{name: "126 of the command", text: "exit 126", outcome: sbx.Exited, code: 126},
		{name: "127 of the command", text: "exit 127", outcome: sbx.Exited, code: 127},
		{name: "137 of the command", text: "exit 137", outcome: sbx.Exited, code: 137},
		{name: "137 of the command that lived to be watched", text: "read line; exit 137", stdin: []byte("go\n"), outcome: sbx.Exited, code: 137},
		{name: "a signal", text: "read line; kill -9 $$", stdin: []byte("go\n"), change: init, outcome: sbx.Signaled, code: -1, signal: syscall.SIGKILL},
		{name: "memory, a child, success", text: hog + "; read line; exit 0", stdin: []byte("go\n"), change: memory, outcome: sbx.Exited, kills: true},
		{name: "memory, a child, failure", text: hog + "; read line; exit 9", stdin: []byte("go\n"), change: memory, outcome: sbx.Exited, code: 9, kills: true},
		{name: "memory, the command", text: "read line; exec " + hog, stdin: []byte("go\n"), change: memory, outcome: sbx.OutOfMemory, code: -1, kills: true},
		{name: "stdin is closed at once", text: "exec <&-; echo on; exit 4", stdin: make([]byte, 8<<20), outcome: sbx.Exited, code: 4, out: "on\n"},
		{name: "both streams", text: "echo out; echo err >&2; exit 3", outcome: sbx.Exited, code: 3, out: "out\n", err: "err\n"},
	}
}

func script(text string) *sbx.Script {
	return &sbx.Script{Interpreter: []string{"sh"}, Text: []byte(text)}
}

// TestEveryEndIsToldForWhatItWas holds both drivers of both engines to the exact outcome and the exact bytes.
func TestEveryEndIsToldForWhatItWas(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		t.Parallel()
		for _, c := range endings() {
			t.Run(c.name, func(t *testing.T) {
				var out, errs bytes.Buffer
				l := sbx.Launch{Script: script(c.text), Image: sbx.Image{Ref: e.image}, Stdout: &out, Stderr: &errs}
				if c.stdin != nil {
					l.Stdin = sbx.Stdin{Mode: sbx.StdinPipe, Reader: bytes.NewReader(c.stdin)}
				}
				if c.change != nil {
					c.change(&l)
				}
				res, err := e.box.Run(t.Context(), l)
				if err != nil {
					t.Fatal(err)
				}
				if res.Outcome != c.outcome || res.Code != c.code || c.signal != 0 && res.Signal != c.signal {
					t.Errorf("%v, code %d, signal %v; want %s %d %v\n%+v", res, res.Code, res.Signal, c.outcome, c.code, c.signal, res.Evidence)
				}
				if (res.Evidence.OOMKills > 0) != c.kills {
					t.Errorf("%d kills by the memory limit: %+v", res.Evidence.OOMKills, res.Evidence)
				}
				if out.String() != c.out || errs.String() != c.err {
					t.Errorf("stdout %q, stderr %q; want %q, %q", out.String(), errs.String(), c.out, c.err)
				}
			})
		}
	})
}

// TestACommandThatIgnoresTermIsKilled stops one, which is process 1 where there is no init, and climbs the ladder to its end.
func TestACommandThatIgnoresTermIsKilled(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		t.Parallel()
		run, err := e.start(t, sbx.Launch{
			Argv: []string{"sbx-probe", "ignore-term"}, Image: sbx.Image{Ref: e.image}, Stdout: sbx.Pipe, Timeouts: sbx.Timeouts{Grace: 200 * time.Millisecond},
		})
		if err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(run.Stdout()).ReadString('\n'); err != nil || line != "ready\n" {
			t.Fatalf("%q, %v", line, err)
		}
		res, err := run.Stop(t.Context())
		if err != nil || res.Outcome != sbx.Canceled || res.Signal != syscall.SIGKILL {
			t.Errorf("%v, %v, signal %v", res, err, res.Signal)
		}
		var rungs []string
		for _, r := range res.Evidence.Ladder {
			rungs = append(rungs, r.Name)
		}
		if !slices.Equal(rungs, []string{"TERM", "kill"}) {
			t.Errorf("the ladder's rungs: %q", rungs)
		}
	})
}

// TestTheEnginesOwnRefusalsAreNoExits: what gives 125, 126 and 127 where a program of an engine is asked are three failures of their own, of
// commands that never ran.
func TestTheEnginesOwnRefusalsAreNoExits(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		t.Parallel()
		for _, c := range []struct {
			name   string
			change func(*sbx.Launch)
			kind   error
			exit   int
		}{
			{"the engine refuses", func(l *sbx.Launch) { l.Mounts = []sbx.Mount{{Kind: sbx.MountTmpfs, Target: "/proc/self"}} }, sbx.ErrSetup, 125},
			{"not executable", func(l *sbx.Launch) { l.Argv = []string{"/etc/passwd"} }, sbx.ErrCommand, 126},
			{"not found", func(l *sbx.Launch) { l.Argv = []string{"no-such-program"} }, sbx.ErrCommand, 127},
		} {
			t.Run(c.name, func(t *testing.T) {
				l := sbx.Launch{Argv: []string{"true"}, Image: sbx.Image{Ref: e.image}}
				c.change(&l)
				res, err := e.box.Run(t.Context(), l)
				if res.Outcome != sbx.NeverRan || !errors.Is(err, c.kind) || res.ExitCode() != c.exit {
					t.Errorf("%v, exit %d: %v", res, res.ExitCode(), err)
				}
			})
		}
	})
}

// TestBytesComeBackAsTheyWere sends what no text has there and back, through each pair of streams.
func TestBytesComeBackAsTheyWere(t *testing.T) {
	sent := make([]byte, 4<<20)
	_, _ = rand.Read(sent) // never fails
	each(t, func(t *testing.T, e engine) {
		t.Parallel()
		for name, text := range map[string]string{"stdout": "exec cat", "stderr": "exec cat >&2"} {
			t.Run(name, func(t *testing.T) {
				got := map[string]*bytes.Buffer{"stdout": {}, "stderr": {}}
				res, err := e.box.Run(t.Context(), sbx.Launch{
					Script: script(text), Image: sbx.Image{Ref: e.image}, Stdout: got["stdout"], Stderr: got["stderr"],
					Stdin: sbx.Stdin{Mode: sbx.StdinPipe, Reader: bytes.NewReader(sent)},
				})
				if err != nil || !res.Success() {
					t.Fatalf("%v, %v", res, err)
				}
				if !bytes.Equal(got[name].Bytes(), sent) || got["stdout"].Len()+got["stderr"].Len() != len(sent) {
					t.Errorf("stdout %d and stderr %d bytes came of %d, or not the same", got["stdout"].Len(), got["stderr"].Len(), len(sent))
				}
			})
		}
	})
}

// TestTwoStreamsOfOneSinkKeepTheirOrder writes to both in turn.
func TestTwoStreamsOfOneSinkKeepTheirOrder(t *testing.T) {
	const lines = 2000
	var want strings.Builder
	for n := range lines {
		fmt.Fprintf(&want, "out %d\nerr %d\n", n, n)
	}
	each(t, func(t *testing.T, e engine) {
		t.Parallel()
		var out bytes.Buffer
		l := e.launch(&out)
		l.Script = script(fmt.Sprintf(`n=0; while [ $n -lt %d ]; do echo "out $n"; echo "err $n" >&2; n=$((n+1)); done`, lines))
		res, err := e.box.Run(t.Context(), l)
		if err != nil || !res.Success() {
			t.Fatalf("%v, %v", res, err)
		}
		if out.String() != want.String() {
			t.Errorf("%d bytes of %d, or in another order", out.Len(), want.Len())
		}
	})
}
