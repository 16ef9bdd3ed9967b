// Package unseen holds what the rule does not see today. Each is wrong; what the rule comes to see one day gets a want.
package unseen

import (
	"os"
	"os/exec"
	"syscall"
)

// A process id in a collection, through a channel, through a type assertion.
func collection(pids map[string]int, c chan int, v any) {
	syscall.Kill(pids["x"], syscall.SIGTERM)
	syscall.Kill(<-c, syscall.SIGTERM)
	syscall.Kill(v.(int), syscall.SIGTERM)
}

// One of which nothing is known.
func unknown(pid int) { syscall.Kill(-pid, syscall.SIGTERM) }

// The order with a Wait in another method.
type session struct{ cmd *exec.Cmd }

func (s *session) start() error {
	s.cmd = exec.Command("make")
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return s.cmd.Start()
}

func (s *session) wait() error { return s.cmd.Wait() }

func (s *session) kill() error { return syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL) }

func late(s *session) {
	s.wait()
	s.kill()
}

// A start time that is read and not compared.
func notCompared(name string) {
	data, _ := os.ReadFile(name)
	pid := int(data[0])
	startTime(pid)
	syscall.Kill(pid, syscall.SIGTERM)
}

func startTime(pid int) string { return "" }

// The programs that signal, and the system call by number.
func programs() {
	exec.Command("kill", "-9", "-1").Run()
	exec.Command("pkill", "make").Run()
	syscall.Syscall(syscall.SYS_KILL, 0, uintptr(syscall.SIGKILL), 0)
}

// An id in a field that also holds others: here it is 0, which is the caller's own group.
type later struct{ pid int }

func (l *later) kill() { syscall.Kill(l.pid, syscall.SIGKILL) }

func (l *later) start(cmd *exec.Cmd) { l.pid = cmd.Process.Pid }

func tooEarly() {
	l := &later{pid: 0}
	l.kill()
}
