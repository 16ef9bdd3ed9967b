package a

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"ping"

	sbx "github.com/sbxkit/sbxkit/runtime"
)

type ctx = context.Context
type view = sbx.LivenessView

// The kinds of use.

type direct struct{ run *sbx.Run }

func (d *direct) Alive(c ctx, v view) error {
	d.run.Stdin().Write(nil) // want `reaches stdin through \(\*direct\).Alive → Run.Stdin`
	d.run.CloseWrite()       // want `→ Run.CloseWrite`
	w := d.run.Stdin()       // want `→ Run.Stdin`
	w.Close()
	io.ReadAll(os.Stdin)           // want `→ os.Stdin`
	fmt.Scanln()                   // want `→ fmt.Scanln`
	syscall.Write(0, nil)          // want `→ descriptor 0 \(syscall.Write\)`
	syscall.Close(0)               // want `→ descriptor 0 \(syscall.Close\)`
	os.NewFile(0, "stdin").Close() // want `→ descriptor 0 \(os.NewFile\)`
	os.NewFile(uintptr(0), "")     // want `→ descriptor 0 \(os.NewFile\)`
	os.Open("/dev/stdin")          // want `→ /dev/stdin`
	bufio.NewReader(os.Stdin)      // want `→ os.Stdin`
	in := os.Stdin                 // want `→ os.Stdin`
	give(in)
	syscall.Syscall(syscall.SYS_WRITE, 0, 0, 0) // want `→ descriptor 0 \(syscall.Syscall\)`
	return nil
}

func give(io.Reader) {}

type agent struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	out   io.Reader
	beat  *os.File
	log   io.Writer
}

func (a *agent) Alive(c ctx, v view) error {
	a.cmd.StdinPipe()                         // want `→ Cmd.StdinPipe`
	if r, ok := a.cmd.Stdin.(io.Reader); ok { // want `→ Cmd.Stdin`
		give(r)
	}
	a.cmd.Stdin = nil                  // want `→ Cmd.Stdin`
	a.stdin.Write(nil)                 // want `→ agent.stdin`
	defer a.stdin.Close()              // want `→ agent.stdin`
	go func() { a.stdin.Write(nil) }() // want `→ agent.stdin`
	return nil
}

// The ways to it.

type session struct{ run *sbx.Run }

func (s *session) ping() { s.run.Stdin().Write(nil) }
func (s session) value() { s.run.CloseWrite() }

type outer struct{ *session }

func generic[T any](t T, s *session) { s.ping() }

type box[T any] struct{ v T }

func (b *box[T]) peek() { os.Stdin.Close() }

type alias = session

var pingVar = func() { os.Stdin.Read(nil) }

type table struct{ poke func() }

var theTable = table{poke: func() { fmt.Scanf("") }}

type poker interface{ poke() }

type osPoker struct{}

func (osPoker) poke() { os.Stdin.Close() }

func apply(f func()) { f() }

func seq(yield func(int) bool) { os.Stdin.Close(); yield(1) }

func plain(yield func(int) bool) { yield(1) }

type ways struct {
	outer
	s *session
	p poker
	b *box[int]
	o *sync.Once
	q ping.Session
	k ping.Poker
}

func (w *ways) Alive(c ctx, v view) error {
	w.s.ping()              // want `through \(\*ways\).Alive → \(\*session\).ping → Run.Stdin`
	w.s.value()             // want `→ session.value → Run.CloseWrite`
	w.ping()                // want `→ \(\*session\).ping → Run.Stdin`
	w.outer.ping()          // want `→ \(\*session\).ping → Run.Stdin`
	generic(1, w.s)         // want `→ generic → \(\*session\).ping → Run.Stdin`
	w.b.peek()              // want `→ \(\*box\).peek → os.Stdin`
	(*alias).ping(w.s)      // want `→ \(\*session\).ping → Run.Stdin`
	defer w.s.ping()        // want `→ \(\*session\).ping → Run.Stdin`
	go w.s.ping()           // want `→ \(\*session\).ping → Run.Stdin`
	func() { w.s.ping() }() // want `→ \(\*session\).ping → Run.Stdin`
	f := w.s.ping
	f()                                            // want `ping → Run.Stdin`
	pingVar()                                      // want `→ os.Stdin`
	theTable.poke()                                // want `→ fmt.Scanf`
	w.p.poke()                                     // want `→ osPoker.poke → os.Stdin`
	apply(w.s.ping)                                // want `→ apply → .*ping → Run.Stdin`
	apply(func() { os.Stdin.Close() })             // want `→ os.Stdin`
	w.o.Do(w.s.ping)                               // want `ping → Run.Stdin`
	time.AfterFunc(0, func() { os.Stdin.Close() }) // want `os.Stdin`
	for range seq {                                // want `→ seq → os.Stdin`
	}
	for range plain { // want `Run.Stdin`
		w.s.ping()
	}
	for range ping.Times(3) { // want `Run.Stdin`
		w.s.ping()
	}
	ping.Ask()                             // want `→ ping.Ask → os.Stdin`
	w.q.Ping()                             // want `→ \(\*ping.Session\).Ping → Run.Stdin`
	ping.Read(0)                           // want `→ ping.Read → descriptor 0 \(os.NewFile\)`
	ping.Each(3, func(int) { w.s.ping() }) // want `Run.Stdin`
	w.k.Poke()                             // want `Poke → Run.CloseWrite`
	return nil
}

// The ways to be a hook.

func heartbeat(c ctx, v view) error {
	os.Stdin.Close() // want `through heartbeat → os.Stdin`
	return nil
}

//sbx:liveness
func marked() {
	os.Stdin.Close() // want `through marked → os.Stdin`
}

func passed(c ctx, v view) error {
	os.Stdin.Close() // want `through passed → os.Stdin`
	return nil
}

func take(h sbx.LivenessFunc) {}

type methodHook struct{ s *session }

func (m *methodHook) check(c ctx, v view) error {
	m.s.ping() // want `through \(\*methodHook\).check → \(\*session\).ping → Run.Stdin`
	return nil
}

func launches(run *sbx.Run, m *methodHook) {
	_ = sbx.Launch{Liveness: sbx.LivenessFunc(heartbeat)}
	take(passed)
	var l sbx.Launch
	l.Liveness = sbx.LivenessFunc(m.check)
	stdin := run.Stdin()
	l.Liveness = sbx.LivenessFunc(func(c ctx, v view) error {
		_, err := stdin.Write(nil) // want `→ stdin`
		return err
	})
	w := bufio.NewWriter(run.Stdin())
	l.Liveness = sbx.LivenessFunc(func(c ctx, v view) error {
		return w.Flush() // want `→ w`
	})
	stdin.Write(nil)
	l.Liveness = hookOf(run.Stdin()) // want `hookOf → stdin`
	l.Liveness = hookOf(os.Stderr)
}

func hookOf(w io.Writer) sbx.LivenessHook {
	return sbx.LivenessFunc(func(c ctx, v view) error {
		_, err := w.Write(nil)
		return err
	})
}

type keeper struct{ w io.Writer }

func newKeeper(w io.Writer) *keeper { return &keeper{w} }

func (k *keeper) Alive(c ctx, v view) error {
	k.w.Write(nil) // want `→ keeper.w`
	return nil
}

func keep(run *sbx.Run) sbx.LivenessHook { return newKeeper(run.Stdin()) }

var agentIn io.Writer

func remember(run *sbx.Run) { agentIn = run.Stdin() }

type viaVar struct{ s *ping.Session }

func (k *viaVar) Alive(c ctx, v view) error {
	io.WriteString(agentIn, "x") // want `→ agentIn`
	k.s.Nudge()                  // want `→ \(\*ping.Session\).Nudge → .*ping.Session.in`
	k.s.Prompt()                 // want `→ \(\*ping.Session\).Prompt → .*ping.Session.Input`
	k.s.Look()
	return nil
}

func keepThere(run *sbx.Run) *viaVar {
	s := ping.NewSession(run.Stdin(), run.Stdout())
	s.Input = run.Stdin()
	return &viaVar{s}
}

// Look-alikes.

type quiet struct {
	agent
	run   *sbx.Run
	out   io.Reader
	beats *os.File
	fd    int
}

func (q *quiet) Alive(c ctx, v view) error {
	var b [1]byte
	q.out.Read(b[:])
	q.beats.Read(b[:])
	q.run.Stdout().Read(b[:])
	os.ReadFile("/tmp/alive")
	os.Stdout.WriteString("x")
	os.NewFile(3, "beat").Read(b[:])
	syscall.Read(q.fd, b[:])
	syscall.Read(3, b[:])
	if q.stdin == nil || os.Stdin == nil {
		return nil
	}
	fmt.Fprintln(q.log, "alive")
	ping.Read(4)
	probe := exec.Command("pgrep", "agent")
	probe.Stdin = nil
	return probe.Run()
}

func elsewhere(run *sbx.Run, s *session) {
	run.Stdin().Write(nil)
	run.CloseWrite()
	s.ping()
	os.Stdin.Close()
	ping.Ask()
	apply(s.ping)
}

func notAHook(c ctx, v view) error {
	os.Stdin.Close()
	return nil
}
