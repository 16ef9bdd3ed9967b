package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// signalPidfd signals the process of a pidfd; os.ErrProcessDone where it has ended.
func signalPidfd(fd int, sig syscall.Signal) error {
	err := unix.PidfdSendSignal(fd, sig, nil, 0)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.ESRCH):
		return os.ErrProcessDone
	}
	return fmt.Errorf("sending signal %d: %w", sig, err)
}

// ended reports whether the process of a pidfd has ended (it may not be reaped yet).
func ended(fd int) bool {
	p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(p, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		return err == nil && n == 1
	}
}

// waitPidfd returns nil when the process of a pidfd has ended, or ctx's error. A pidfd becomes readable then (pidfd_open(2)). For the
// first process of a pid namespace that is after every other process of the namespace is gone (pid_namespaces(7)).
func waitPidfd(ctx context.Context, fd int) error {
	if ended(fd) {
		return nil
	}
	// A duplicate, so that the poller's close does not take the descriptor of others.
	d, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("waiting for a process: %w", err)
	}
	if err := unix.SetNonblock(d, true); err != nil {
		unix.Close(d)
		return fmt.Errorf("waiting for a process: %w", err)
	}
	f := os.NewFile(uintptr(d), "pidfd")
	defer f.Close()
	conn, err := f.SyscallConn()
	if err != nil {
		return fmt.Errorf("waiting for a process: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { f.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	err = conn.Read(func(fd uintptr) bool { return ended(int(fd)) })
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("waiting for a process: %w", err)
	}
	return nil
}

// exitInfo is the wait status the kernel keeps with a pidfd of a reaped process (PIDFD_GET_INFO with PIDFD_INFO_EXIT, Linux 6.15);
// false where it does not.
func exitInfo(fd int) (syscall.WaitStatus, bool) {
	info := unix.PidfdInfo{Mask: unix.PIDFD_INFO_EXIT}
	if err := unix.IoctlPidfdInfo(fd, &info); err != nil || info.Mask&unix.PIDFD_INFO_EXIT == 0 {
		return 0, false
	}
	return syscall.WaitStatus(info.Exit_code), true
}
