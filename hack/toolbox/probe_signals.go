//go:build linux

package main

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// dieOf ends the process by sig as a program that never handled it would end.
// The Go runtime handles nearly every signal (a segmentation fault panics, quit
// prints goroutines), so its handler is taken away first.
func dieOf(sig syscall.Signal) error {
	runtime.LockOSThread()
	// No core file is left behind by a signal that dumps one.
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return fmt.Errorf("switching core files off: %w", err)
	}
	if sig != syscall.SIGKILL && sig != syscall.SIGSTOP {
		// struct sigaction of the kernel, all zero: the default action.
		var action [4]uint64
		const maskBytes = 8
		if _, _, errno := syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(sig), uintptr(unsafe.Pointer(&action)), 0, maskBytes, 0, 0); errno != 0 {
			return fmt.Errorf("restoring the default action of %v: %w", sig, errno)
		}
	}
	// To this very thread: the signal is then delivered before the call returns.
	if err := unix.Tgkill(os.Getpid(), unix.Gettid(), sig); err != nil {
		return err
	}
	return fmt.Errorf("still alive after %v: its default action does not end a process, or this is pid 1, which the kernel spares", sig)
}

// dropSignalsAsPid1 makes pid 1 behave as a C program does: the kernel spares it
// every signal it has no handler for. The Go runtime does have handlers, and
// would exit with status 2. What is caught here is the default again in every
// program that is executed.
func dropSignalsAsPid1() {
	if os.Getpid() != 1 {
		return
	}
	signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT,
		syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM)
}

// probeIgnoreTerm ignores TERM, says "ready" and sleeps: for ever, or for the
// duration it is given.
func probeIgnoreTerm(c *call) error {
	signal.Ignore(syscall.SIGTERM)
	duration := time.Duration(1<<63 - 1)
	if len(c.args) > 0 {
		d, err := parseDuration(c.args[0])
		if err != nil {
			return usageError(err.Error())
		}
		duration = d
	}
	if _, err := fmt.Fprintln(c.out, "ready"); err != nil {
		return err
	}
	time.Sleep(duration)
	return nil
}
