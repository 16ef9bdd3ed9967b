package process

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// The calls of one tracee come from the thread that seized it (ptrace(2)); waiting for it may be done by any thread of the process.

// seizeOptions stop the tracee and what it forks at fork, exec and exit, and kill it where our thread ends before it lets go.
const seizeOptions = unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK | unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEEXEC |
	unix.PTRACE_O_TRACEEXIT | unix.PTRACE_O_EXITKILL

// seize makes the calling thread the tracer of pid without stopping it.
func seize(pid int) error {
	_, _, errno := syscall.Syscall6(unix.SYS_PTRACE, unix.PTRACE_SEIZE, uintptr(pid), 0, seizeOptions, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// notPermitted reports whether an error of ptrace means that it is forbidden here (Yama, a seccomp filter around us, a security
// module, a program that raised itself above us), not that it went wrong.
func notPermitted(err error) bool {
	return errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) || errors.Is(err, unix.ENOSYS)
}

// stop is one state change of a tracee.
type stop struct {
	status unix.WaitStatus
	// event is the ptrace event of a stop (PTRACE_EVENT_…), 0 for a signal on its way to the tracee.
	event int
}

func (s stop) gone() bool { return s.status.Exited() || s.status.Signaled() }

// waitTracee waits for the next state change of pid; it reaps a tracee that has ended, after which its parent hears of it.
func waitTracee(pid int) (stop, error) {
	for {
		var ws unix.WaitStatus
		_, err := unix.Wait4(pid, &ws, unix.WALL, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return stop{}, err
		}
		return stop{status: ws, event: int(ws) >> 16}, nil
	}
}

// resume lets a stopped tracee go on to its next stop; a signal on its way is delivered.
func resume(pid int, s stop) error {
	sig := 0
	if s.event == 0 && s.status.Stopped() {
		sig = int(s.status.StopSignal())
	}
	return unix.PtraceCont(pid, sig)
}

// letGo ends the tracing of a stopped tracee, which goes on. No signal is handed to it with that: at the stop of an event the kernel drops it
// (ptrace_event in include/linux/ptrace.h).
func letGo(pid int) error {
	_, _, errno := syscall.Syscall6(unix.SYS_PTRACE, unix.PTRACE_DETACH, uintptr(pid), 0, 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}
