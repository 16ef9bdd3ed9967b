package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/sbxkit/sbxkit/runtime"
)

// readProc reads a small file of procfs with one open, read and close: the kernel makes such a file's text at each read, so a
// second read for its end would cost as much again. buf bounds it.
func readProc(path string, buf []byte) ([]byte, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	for {
		n, err := unix.Read(fd, buf)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return nil, &os.PathError{Op: "read", Path: path, Err: err}
		}
		return buf[:n], nil
	}
}

// procStat is what we use of /proc/<pid>/stat (proc_pid_stat(5)).
type procStat struct {
	state     byte
	ppid      int
	pgrp      int
	session   int
	startTime uint64 // field 22, clock ticks since boot
}

func readStat(pid int) (procStat, error) {
	var buf [1024]byte
	b, err := readProc("/proc/"+strconv.Itoa(pid)+"/stat", buf[:])
	if err != nil {
		return procStat{}, err
	}
	return parseStat(b)
}

func parseStat(b []byte) (procStat, error) {
	// The command's name stands in parentheses and may hold anything, parentheses too.
	i := bytes.LastIndexByte(b, ')')
	if i < 0 {
		return procStat{}, fmt.Errorf("reading a process's stat: no name in %q", b)
	}
	f := bytes.Fields(b[i+1:])
	if len(f) < 20 {
		return procStat{}, fmt.Errorf("reading a process's stat: %d fields after the name", len(f))
	}
	s := procStat{state: f[0][0]}
	var err error
	for _, x := range []struct {
		field int
		to    *int
	}{{1, &s.ppid}, {2, &s.pgrp}, {3, &s.session}} {
		if *x.to, err = strconv.Atoi(string(f[x.field])); err != nil {
			return procStat{}, fmt.Errorf("reading a process's stat: %w", err)
		}
	}
	if s.startTime, err = strconv.ParseUint(string(f[19]), 10, 64); err != nil {
		return procStat{}, fmt.Errorf("reading a process's stat: %w", err)
	}
	return s, nil
}

// bootID is this boot's identity: a start time means nothing in another.
var bootID = sync.OnceValue(func() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
})

// identify names a process that cannot be reaped meanwhile.
func identify(pid int) (runtime.ProcessIdentity, procStat, error) {
	s, err := readStat(pid)
	if err != nil {
		return runtime.ProcessIdentity{}, s, err
	}
	return runtime.ProcessIdentity{PID: pid, StartTime: s.startTime, BootID: bootID()}, s, nil
}

// openIdentity gives a pidfd of exactly the process that id names, or os.ErrProcessDone where it is gone: another boot, another
// start time, or no such pid.
func openIdentity(id runtime.ProcessIdentity) (int, error) {
	if id.PID <= 0 || id.StartTime == 0 || id.BootID != bootID() {
		return -1, os.ErrProcessDone
	}
	fd, err := unix.PidfdOpen(id.PID, 0)
	if err != nil {
		if errors.Is(err, unix.ESRCH) || errors.Is(err, unix.EINVAL) {
			return -1, os.ErrProcessDone
		}
		return -1, fmt.Errorf("opening process %d: %w", id.PID, err)
	}
	// The descriptor holds whichever process has the pid now; its start time, read while we hold it, says whether it is the one.
	s, err := readStat(id.PID)
	if err != nil || s.startTime != id.StartTime {
		unix.Close(fd)
		return -1, os.ErrProcessDone
	}
	return fd, nil
}
