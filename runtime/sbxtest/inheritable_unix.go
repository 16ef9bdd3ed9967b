//go:build unix

package sbxtest

import "syscall"

// inheritable gives two descriptors without close-on-exec, and what closes them.
func inheritable() (fds [2]int, closed func(), err error) {
	if err := syscall.Pipe(fds[:]); err != nil {
		return fds, nil, err
	}
	return fds, func() {
		_ = syscall.Close(fds[0])
		_ = syscall.Close(fds[1])
	}, nil
}
