//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// probeFds prints "N TARGET" for every descriptor the process was started with.
func probeFds(c *call) error {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return err
	}
	var numbers []int
	for _, entry := range entries {
		fd, err := strconv.Atoi(entry.Name())
		if err != nil {
			return err
		}
		numbers = append(numbers, fd)
	}
	slices.Sort(numbers)
	for _, fd := range numbers {
		// What is marked close-on-exec cannot have come through exec: it is the
		// Go runtime's, or the descriptor of this very listing.
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if errors.Is(err, unix.EBADF) || flags&unix.FD_CLOEXEC != 0 {
			continue
		}
		if err != nil {
			return fmt.Errorf("asking about descriptor %d: %w", fd, err)
		}
		target, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd))
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(c.out, fd, target); err != nil {
			return err
		}
	}
	return nil
}

// limitNames are the limits by the names of prlimit(1).
var limitNames = []struct {
	name     string
	resource int
}{
	{"as", unix.RLIMIT_AS}, {"core", unix.RLIMIT_CORE}, {"cpu", unix.RLIMIT_CPU}, {"data", unix.RLIMIT_DATA},
	{"fsize", unix.RLIMIT_FSIZE}, {"locks", unix.RLIMIT_LOCKS}, {"memlock", unix.RLIMIT_MEMLOCK},
	{"msgqueue", unix.RLIMIT_MSGQUEUE}, {"nice", unix.RLIMIT_NICE}, {"nofile", unix.RLIMIT_NOFILE},
	{"nproc", unix.RLIMIT_NPROC}, {"rss", unix.RLIMIT_RSS}, {"rtprio", unix.RLIMIT_RTPRIO},
	{"rttime", unix.RLIMIT_RTTIME}, {"sigpending", unix.RLIMIT_SIGPENDING}, {"stack", unix.RLIMIT_STACK},
}

// probeLimits prints "NAME SOFT HARD" for every limit as it was at exec.
func probeLimits(c *call) error {
	text := func(n uint64) string {
		if n == unix.RLIM_INFINITY {
			return "unlimited"
		}
		return strconv.FormatUint(n, 10)
	}
	for _, l := range limitNames {
		var limit unix.Rlimit
		if err := unix.Getrlimit(l.resource, &limit); err != nil {
			return fmt.Errorf("reading %s: %w", l.name, err)
		}
		if l.resource == unix.RLIMIT_NOFILE {
			var err error
			if limit, err = openFilesAtStart(); err != nil {
				return fmt.Errorf("reading %s: %w", l.name, err)
			}
		}
		if _, err := fmt.Fprintln(c.out, l.name, text(limit.Cur), text(limit.Max)); err != nil {
			return err
		}
	}
	return nil
}

// openFilesAtStart is the limit of open files before the Go runtime raised the
// soft one. The runtime gives its children the old value back, so it is read
// from a child that is held at its exec, before it can do the same.
func openFilesAtStart() (limit unix.Rlimit, err error) {
	runtime.LockOSThread() // every ptrace call must come from one thread
	defer runtime.UnlockOSThread()
	pid, err := syscall.ForkExec("/proc/self/exe", []string{"true"}, &syscall.ProcAttr{Sys: &syscall.SysProcAttr{Ptrace: true}})
	if err != nil {
		return limit, fmt.Errorf("starting a traced child: %w", err)
	}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &status, 0, nil); err != nil {
		return limit, fmt.Errorf("waiting for the traced child: %w", err)
	}
	if !status.Stopped() {
		return limit, fmt.Errorf("the traced child did not stop at its exec: wait status %#x", status)
	}
	err = unix.Prlimit(pid, unix.RLIMIT_NOFILE, nil, &limit)
	if killErr := syscall.Kill(pid, syscall.SIGKILL); killErr != nil {
		return limit, errors.Join(err, killErr)
	}
	_, waitErr := syscall.Wait4(pid, nil, 0, nil)
	return limit, errors.Join(err, waitErr)
}
