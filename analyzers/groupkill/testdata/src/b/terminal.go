package b

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// The foreground group of an own terminal is whoever the shell in it runs.
func interrupt(pty *os.File) error {
	pgrp, err := unix.IoctlGetInt(int(pty.Fd()), unix.TIOCGPGRP)
	if err != nil {
		return err
	}
	return unix.Kill(-pgrp, syscall.SIGINT)
}

// A descriptor of the process tells it from a later one with its id.
func byDescriptor(text string) error {
	pid, err := strconv.Atoi(text)
	if err != nil {
		return err
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.PidfdSendSignal(fd, syscall.SIGTERM, nil, 0)
}

func checkedByDescriptor(text string) {
	pid, _ := strconv.Atoi(text)
	if _, err := unix.PidfdOpen(pid, 0); err != nil {
		return
	}
	syscall.Kill(pid, syscall.SIGTERM)
}

// Stopping and going on, as a shell does with itself.
func suspend() {
	syscall.Kill(os.Getpid(), syscall.SIGTSTP)
	syscall.Kill(0, syscall.SIGCONT)
}

// A session in a struct of attributes that is shared.
var attributes = &syscall.SysProcAttr{Setsid: true}

func shared() {
	cmd := exec.Command("make")
	cmd.SysProcAttr = attributes
	cmd.Start()
	syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
	cmd.Wait()
}
