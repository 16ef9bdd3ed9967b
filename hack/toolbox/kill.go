//go:build linux

package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// parseSignal reads TERM, SIGTERM or 15.
func parseSignal(word string) (syscall.Signal, error) {
	if n, err := strconv.Atoi(word); err == nil && n >= 0 && n <= 64 {
		return syscall.Signal(n), nil
	}
	name := strings.ToUpper(word)
	if !strings.HasPrefix(name, "SIG") {
		name = "SIG" + name
	}
	if s := unix.SignalNum(name); s != 0 {
		return s, nil
	}
	return 0, fmt.Errorf("%q is not a signal", word)
}

// parseKill reads [-SIGNAL | -s SIGNAL] [--] PID...
func parseKill(words []string) (signal syscall.Signal, pids []string, err error) {
	signal = syscall.SIGTERM
	switch {
	case len(words) > 1 && words[0] == "-s":
		signal, err = parseSignal(words[1])
		words = words[2:]
	case len(words) > 0 && words[0] != "--" && strings.HasPrefix(words[0], "-"):
		signal, err = parseSignal(words[0][1:])
		words = words[1:]
	}
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	if err == nil && len(words) == 0 {
		err = usageError("usage: kill [-SIGNAL] PID...")
	}
	return signal, words, err
}

// runKill sends a signal: kill [-SIGNAL | -s SIGNAL] PID...; a negative PID is a
// process group.
func runKill(c *call) error {
	signal, words, err := parseKill(c.args)
	if err != nil {
		return usageError(err.Error())
	}
	return eachName(c, words, func(word string) error {
		pid, err := strconv.Atoi(word)
		if err != nil {
			return fmt.Errorf("%q is not a process id", word)
		}
		if pid == os.Getpid() {
			// To this very thread: it is then delivered before the call returns, as it
			// is for a process that has one thread.
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			err = unix.Tgkill(pid, unix.Gettid(), signal)
		} else {
			err = syscall.Kill(pid, signal) //sbx:allow groupkill this is the kill command: its user names the process
		}
		if err != nil {
			return fmt.Errorf("%d: %w", pid, err)
		}
		return nil
	})
}
