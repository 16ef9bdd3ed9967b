// Package kill has helpers that other packages use.
package kill

import (
	"os/exec"
	"strconv"
	"syscall"
)

// Group signals the group that cmd leads.
func Group(cmd *exec.Cmd) { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// Found signals the group that a process is in.
func Found(pid int) {
	pgid, err := syscall.Getpgid(pid)
	if err != nil {
		return
	}
	syscall.Kill(-pgid, syscall.SIGKILL)
}

// Own makes cmd lead a group.
func Own(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// Parse reads a pid.
func Parse(s string) (int, error) { return strconv.Atoi(s) }

// Send signals whatever it is given.
func Send(pid int, sig syscall.Signal) error { return syscall.Kill(pid, sig) }

// Ours is the group of the caller.
func Ours() int { return syscall.Getpgrp() }
