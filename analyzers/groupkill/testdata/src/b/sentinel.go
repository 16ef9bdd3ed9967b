package b

import (
	"os/exec"
	"syscall"
)

// A daemon has the process id -1 until it is started, and again when it has ended.
type daemon struct{ pid int }

func newDaemon() *daemon {
	d := &daemon{pid: -1}
	go d.watch()
	return d
}

func (d *daemon) watch() {
	if d.pid > 0 {
		d.kill()
	}
	d.pid = -1
}

func (d *daemon) kill() { syscall.Kill(d.pid, syscall.SIGKILL) }

func (d *daemon) start(cmd *exec.Cmd) { d.pid = cmd.Process.Pid }

// One that is never anything else stands for all.
type sweeper struct{ pid int }

func newSweeper() {
	s := &sweeper{pid: -1}
	s.kill() // want `every process it may`
}

func (s *sweeper) kill() { syscall.Kill(s.pid, syscall.SIGKILL) }
