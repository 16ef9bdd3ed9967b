package engine

import (
	"sync"

	"golang.org/x/sys/unix"
)

// pidfd is an open handle on a process that is not our child. Since Linux 6.15 it tells how the process ended once it was reaped
// (PIDFD_GET_INFO with PIDFD_INFO_EXIT, include/uapi/linux/pidfd.h): the only witness that tells a command that a signal ended from
// one that exits 128 and the signal, which an engine's exit status cannot.
type pidfd struct {
	mu sync.Mutex
	fd int // -1 once closed
}

// watchProcess opens a handle; nil where that is not possible.
func watchProcess(pid int) watcher {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return nil
	}
	return &pidfd{fd: fd}
}

func (p *pidfd) ended() (code, signal int, known bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	info := unix.PidfdInfo{Mask: unix.PIDFD_INFO_EXIT}
	if err := unix.IoctlPidfdInfo(p.fd, &info); err != nil || info.Mask&unix.PIDFD_INFO_EXIT == 0 {
		return 0, 0, false
	}
	s := unix.WaitStatus(info.Exit_code)
	switch {
	case s.Exited():
		return s.ExitStatus(), 0, true
	case s.Signaled():
		return -1, int(s.Signal()), true
	}
	return 0, 0, false
}

func (p *pidfd) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fd >= 0 {
		_ = unix.Close(p.fd)
		p.fd = -1
	}
}
