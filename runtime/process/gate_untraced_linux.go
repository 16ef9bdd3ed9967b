package process

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/attest"
)

// Where ptrace is not permitted, nothing tells when a process has come to its gate or has become another program. Both are looked for,
// with a growing pause: a sandbox takes milliseconds to build, and a look takes microseconds. What takes longer is slow for another reason.
const (
	firstPause = 50 * time.Microsecond
	soonPause  = 100 * time.Microsecond
	soon       = 50 * time.Millisecond
	lastPause  = 2 * time.Millisecond
)

// until calls see until it says so, the launcher ends, or the start is given up.
func (s *start) until(see func() bool) (seen bool, err error) {
	pause, began := firstPause, time.Now()
	for !see() {
		select {
		case <-s.exited:
			return see(), nil
		case <-s.ctx.Done():
			return false, runtime.Fail(runtime.Setup, "the launch was given up: %w", context.Cause(s.ctx))
		default:
		}
		// The kernel's own sleep: a timer of the language wakes one thread, which hands over to another, and costs half as much again as the pause.
		ts := unix.NsecToTimespec(int64(pause))
		if err := unix.Nanosleep(&ts, nil); err != nil && !errors.Is(err, unix.EINTR) {
			return false, runtime.Fail(runtime.Setup, "waiting for process %d: %w", s.firstPID, err)
		}
		longest := soonPause
		if time.Since(began) > soon {
			longest = lastPause
		}
		pause = min(pause*5/4, longest)
	}
	return true, nil
}

// untraced holds the first process at the gate, and reads what the exec stop would have shown right after exec.
func (s *start) untraced() error {
	at, err := s.until(s.atGate)
	if err != nil {
		return err
	}
	if !at {
		return s.launcherFailed()
	}
	// Beside each other: everything that is read here is waited for by the launch.
	looked := make(chan handed, 1)
	go func() { looked <- s.handed(s.firstPID) }()
	err = s.held(s.firstPID, runtime.WhenHeld)
	on := <-looked
	if err != nil {
		return err
	}
	if err := s.takeHanded(on); err != nil {
		return err
	}
	s.skipLauncherText()
	if err := s.begin(); err != nil {
		return err
	}
	// Where nobody waits at the gate any more, its end follows, and what the launcher has told of it.
	if err := s.release(); err != nil && !vanished(err) {
		return runtime.Fail(runtime.Setup, "%w", err)
	}
	become, err := s.until(s.hasBecome)
	if err != nil {
		return err
	}
	if !become {
		// Ended before it could be looked at; whether it ran is the launcher's to say.
		code, told, err := s.status.exitCode()
		if err != nil {
			return runtime.Fail(runtime.Uncertain, "%w", err)
		}
		if !told {
			return s.neverRan(on.reason, true)
		}
		s.told = &code
		s.missed(runtime.WhenAfterExec)
	} else if err := s.afterExec(s.commandPID); err != nil {
		return err
	}
	s.ran = true
	s.read()
	return nil
}

// atGate reports whether the first process waits at the gate: it has built the sandbox, and it sleeps reading a pipe, of which it has
// no other (proc_pid_wchan(5)). Where the kernel does not say what a process waits for, having no privilege left and sleeping is taken
// for it: the launcher gives up its privileges right before.
func (s *start) atGate() bool {
	base := "/proc/" + strconv.Itoa(s.firstPID)
	var buf [2048]byte
	w, err := attest.ReadFile(base+"/wchan", buf[:])
	if err == nil && len(w) > 1 {
		return bytes.HasSuffix(w, []byte("pipe_read")) || bytes.HasSuffix(w, []byte("pipe_wait"))
	}
	b, err := attest.ReadFile(base+"/status", buf[:])
	return err == nil && bytes.Contains(b, []byte("\nState:\tS")) && bytes.Contains(b, []byte("\nCapEff:\t0000000000000000\n"))
}

// hasBecome reports whether the command has been executed: the first process, or the child that it has forked for it, runs another
// program than the launcher. The child is taken as soon as it is there, so that the kernel keeps its end for us however short it lives.
func (s *start) hasBecome() bool {
	if s.command < 0 && s.namespace {
		if pid := onlyChild(s.firstPID); pid > 0 && s.commandIs(pid) != nil {
			return false
		}
	}
	if s.command >= 0 && !s.otherProgram(s.commandPID) {
		return false
	}
	// Looked at last: a first process that is the command itself may have started something, which was taken for it.
	if s.otherProgram(s.firstPID) {
		if s.command >= 0 && s.command != s.first {
			unix.Close(s.command)
		}
		return s.commandIs(s.firstPID) == nil
	}
	return s.command >= 0
}

// otherProgram reports whether a process runs another program than the launcher.
func (s *start) otherProgram(pid int) bool {
	var launcher, now unix.Stat_t
	return unix.Stat("/proc/"+strconv.Itoa(s.launcher.pid)+"/exe", &launcher) == nil && unix.Stat("/proc/"+strconv.Itoa(pid)+"/exe", &now) == nil &&
		(launcher.Ino != now.Ino || launcher.Dev != now.Dev)
}

// onlyChild gives the first child of a process, 0 where it has none.
func onlyChild(pid int) int {
	p := strconv.Itoa(pid)
	var buf [256]byte
	b, err := attest.ReadFile("/proc/"+p+"/task/"+p+"/children", buf[:])
	if errors.Is(err, os.ErrNotExist) {
		// A kernel without CONFIG_PROC_CHILDREN.
		all, err := processes(func(_ int, s attest.Stat) bool { return s.Parent == pid })
		if err == nil && len(all) > 0 {
			return all[0].id.PID
		}
		return 0
	}
	if err != nil {
		return 0
	}
	first, _, _ := bytes.Cut(bytes.TrimSpace(b), []byte(" "))
	n, err := strconv.Atoi(string(first))
	if err != nil {
		return 0
	}
	return n
}
