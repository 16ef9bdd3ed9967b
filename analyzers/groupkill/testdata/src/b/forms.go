package b

import (
	"syscall"

	"golang.org/x/sys/unix"
)

type signal = syscall.Signal

func send[P ~int](pid P, sig signal) error { return syscall.Kill(int(pid), sig) }

func moreForms() {
	unix.Kill(0, syscall.SIGTERM)  // want `its own process group`
	unix.Kill(-1, syscall.SIGTERM) // want `every process it may`
	unix.Kill(0, 0)
	send(0, syscall.SIGTERM) // want `its own process group`
	func() {
		syscall.Kill(0, syscall.SIGTERM) // want `its own process group`
	}()
	go func() {
		syscall.Kill(-1, syscall.SIGTERM) // want `every process it may`
	}()
	defer func() {
		syscall.Kill(-1, syscall.SIGTERM) // want `every process it may`
	}()
}
