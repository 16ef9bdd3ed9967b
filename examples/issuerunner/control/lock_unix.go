//go:build unix

package control

import (
	"os"
	"syscall"
)

// exclusive takes the file's lock, or fails where another process holds it; it ends with the process, however that ends.
func exclusive(f *os.File) error {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}
