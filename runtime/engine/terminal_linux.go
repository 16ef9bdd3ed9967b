package engine

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// terminalSize reads the size of the terminal that the started process has as one of its three streams. It is not seen where that
// process is not on this host, has ended, or has turned its streams elsewhere.
func (p *process) terminalSize() (columns, rows uint16, seen bool) {
	if p.id.PID == 0 {
		return 0, 0, false
	}
	for n := range 3 {
		if size := terminalAt("/proc/" + strconv.Itoa(p.id.PID) + "/fd/" + strconv.Itoa(n)); size != nil {
			return size.Col, size.Row, true
		}
	}
	return 0, 0, false
}

// terminalAt gives the size of the terminal that a descriptor of a process stands for, nil where it stands for something else: what the
// command has there is not opened before it is known, since opening can have effects and can wait.
func terminalAt(link string) *unix.Winsize {
	path, err := unix.Open(link, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(path)
	var st unix.Stat_t
	if unix.Fstat(path, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFCHR || unix.Major(st.Rdev) < ptyMajor || unix.Major(st.Rdev) >= ptyMajor+ptyMajors {
		return nil
	}
	fd, err := unix.Open("/proc/self/fd/"+strconv.Itoa(path), unix.O_RDONLY|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	size, err := unix.IoctlGetWinsize(fd, unix.TIOCGWINSZ)
	if err != nil {
		return nil
	}
	return size
}

// Pseudo-terminals of a devpts have eight majors (kernel, admin-guide/devices.txt, "136-143 char Unix98 PTY slaves").
const ptyMajor, ptyMajors = 136, 8
