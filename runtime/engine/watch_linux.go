package engine

import (
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// watched is an open handle on a process that is not our child, and on its control groups. It tells what an engine does not: since Linux 6.15
// how the process ended (PIDFD_GET_INFO with PIDFD_INFO_EXIT, include/uapi/linux/pidfd.h), where an engine has the same status for a
// command that a signal ended and one that exits 128 and the signal; and how often the memory limit killed, which Podman 4.3 does not
// notice on version 1 (measured).
type watched struct {
	file *os.File // the pidfd
	raw  syscall.RawConn
	done chan struct{}

	mu     sync.Mutex
	groups groupUsage
}

// watchProcess opens a handle on a process in a container, and begins to wait for its end; nil where that is not possible. The waiting
// goroutine ends with the process or with close.
func watchProcess(pid int, container string) watcher {
	fd, err := unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK)
	if err != nil {
		return nil
	}
	w := &watched{file: os.NewFile(uintptr(fd), "pidfd"), done: make(chan struct{})}
	if w.raw, err = w.file.SyscallConn(); err != nil {
		w.file.Close()
		return nil
	}
	groups := openGroups(pid, container)
	go func() {
		defer close(w.done)
		defer groups.close()
		// A pidfd is readable when its process has ended (pidfd_open(2)). The engine takes the groups away a little later.
		_ = w.raw.Read(func(fd uintptr) bool {
			p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
			n, err := unix.Poll(p, 0)
			return err == nil && n > 0
		})
		at := time.Now()
		usage := groups.read()
		usage.at = at
		w.mu.Lock()
		w.groups = usage
		w.mu.Unlock()
	}()
	return w
}

// usage gives what was read of the control groups at the end of the process.
func (w *watched) usage() groupUsage {
	<-w.done
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.groups
}

func (w *watched) ended() (code, signal int, known bool) {
	_ = w.raw.Control(func(fd uintptr) {
		info := unix.PidfdInfo{Mask: unix.PIDFD_INFO_EXIT}
		if err := unix.IoctlPidfdInfo(int(fd), &info); err != nil || info.Mask&unix.PIDFD_INFO_EXIT == 0 {
			return
		}
		s := unix.WaitStatus(info.Exit_code)
		switch {
		case s.Exited():
			code, known = s.ExitStatus(), true
		case s.Signaled():
			code, signal, known = -1, int(s.Signal()), true
		}
	})
	return code, signal, known
}

func (w *watched) close() { _ = w.file.Close() }
