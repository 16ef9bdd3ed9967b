//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// probeAlloc touches BYTES of fresh memory, prints "allocated BYTES" and holds
// it for a duration when one is given. It fails with status 1 when the kernel
// refuses the memory and is killed when it may not touch it.
func probeAlloc(c *call) error {
	size, err := number(c, 0)
	if err != nil {
		return err
	}
	var hold time.Duration
	if len(c.args) > 1 {
		if hold, err = parseDuration(c.args[1]); err != nil {
			return usageError(err.Error())
		}
	}
	memory, err := unix.Mmap(-1, 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return fmt.Errorf("asking for %d bytes: %w", size, err)
	}
	for i := 0; i < len(memory); i += os.Getpagesize() {
		memory[i] = 1
	}
	if _, err := fmt.Fprintln(c.out, "allocated", size); err != nil {
		return err
	}
	time.Sleep(hold)
	return unix.Munmap(memory)
}

// probeSpew writes BYTES, in lines of 64 that count up, to standard output, or
// to standard error with the operand stderr, or to both in turn with both.
func probeSpew(c *call) error {
	size, err := number(c, 0)
	if err != nil {
		return err
	}
	outs := []io.Writer{c.out}
	if len(c.args) > 1 {
		switch c.args[1] {
		case "stdout":
		case "stderr":
			outs = []io.Writer{c.err}
		case "both":
			outs = []io.Writer{c.out, c.err}
		default:
			return usageError(fmt.Sprintf("%q is not stdout, stderr or both", c.args[1]))
		}
	}
	const linesABlock = 512
	for written, line := int64(0), 0; written < size; {
		var block bytes.Buffer
		for range linesABlock {
			fmt.Fprintf(&block, "%063d\n", line)
			line++
		}
		chunk := block.Next(int(min(size-written, int64(block.Len()))))
		for _, out := range outs {
			if _, err := out.Write(chunk); err != nil {
				return err
			}
		}
		written += int64(len(chunk))
	}
	return nil
}

// probeForkbomb starts N processes that do nothing, prints "started K of N" and
// ends them. Status 0 when all started, 1 when the kernel refused one.
func probeForkbomb(c *call) error {
	want, err := number(c, 0)
	if err != nil {
		return err
	}
	// At the limit of processes the Go runtime could not start a thread either
	// and would abort: nothing may need one from here on.
	runtime.LockOSThread()
	debug.SetGCPercent(-1)
	pids := make([]int, 0, want)
	var refused syscall.Errno
	for int64(len(pids)) < want {
		pid, errno := forkIdle()
		if errno != 0 {
			refused = errno
			break
		}
		pids = append(pids, pid)
	}
	var failures []error
	for _, pid := range pids {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			failures = append(failures, fmt.Errorf("ending %d: %w", pid, err))
		}
		if _, err := syscall.Wait4(pid, nil, 0, nil); err != nil {
			failures = append(failures, fmt.Errorf("reaping %d: %w", pid, err))
		}
	}
	if _, err := fmt.Fprintf(c.out, "started %d of %d\n", len(pids), want); err != nil {
		return err
	}
	if refused != 0 {
		failures = append(failures, fmt.Errorf("starting another: %w", refused))
	}
	return errors.Join(failures...)
}

// forkIdle forks a process that sleeps until it is killed or its parent dies.
// The child has no Go runtime worth the name and makes raw system calls only.
//
//go:norace
func forkIdle() (int, syscall.Errno) {
	pid, _, errno := syscall.RawSyscall6(syscall.SYS_CLONE, uintptr(syscall.SIGCHLD), 0, 0, 0, 0, 0)
	if errno != 0 || pid != 0 {
		return int(pid), errno
	}
	syscall.RawSyscall6(syscall.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uintptr(syscall.SIGKILL), 0, 0, 0, 0)
	for {
		// ppoll on nothing, without a timeout: the call pause is not on every
		// architecture.
		syscall.RawSyscall6(syscall.SYS_PPOLL, 0, 0, 0, 0, 0, 0)
	}
}

// probeGrandchild starts a process in a session of its own that holds standard
// output and error open, prints "grandchild PID" and exits. The grandchild
// sleeps for the duration (default: for ever) or runs the command after it.
func probeGrandchild(c *call) error {
	command := []string{"sleep", "infinity"}
	switch {
	case len(c.args) == 1:
		command[1] = c.args[0]
	case len(c.args) > 1:
		command = c.args
	}
	child := exec.Command("/proc/self/exe", command[1:]...)
	child.Args[0] = command[0]
	if _, own := applets[command[0]]; !own {
		child = exec.Command(command[0], command[1:]...)
	}
	child.Stdout, child.Stderr = c.out, c.err
	child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := child.Start(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(c.out, "grandchild", child.Process.Pid)
	return err
}
