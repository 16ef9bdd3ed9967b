package attest

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// ReadFile reads a small file of procfs with one open, read and close: the kernel makes such a file's text at each read, so a second
// read for its end would cost as much again. buf bounds it, and a result that fills it may be cut.
func ReadFile(path string, buf []byte) ([]byte, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	n, err := read(fd, buf)
	if err != nil {
		return nil, &os.PathError{Op: "read", Path: path, Err: err}
	}
	return buf[:n], nil
}

// readAll reads a file of procfs that the kernel hands out by the page (proc_pid_mountinfo(5)), to its end.
func readAll(path string, buf []byte) ([]byte, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	buf = buf[:cap(buf)]
	have := 0
	for {
		if have == len(buf) {
			buf = append(buf, make([]byte, max(len(buf), 4096))...)
		}
		n, err := read(fd, buf[have:])
		if err != nil {
			return nil, &os.PathError{Op: "read", Path: path, Err: err}
		}
		if n == 0 {
			return buf[:have], nil
		}
		have += n
	}
}

func read(fd int, buf []byte) (int, error) {
	for {
		n, err := unix.Read(fd, buf)
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}
