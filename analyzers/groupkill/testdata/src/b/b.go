package b

import (
	"kill"
	"os"
	"os/exec"
	"syscall"
	"time"
)

func crossPackage(text string) {
	lone := exec.Command("make")
	lone.Start()
	kill.Group(lone) // want `a child that leads none.*kill.Group → syscall.Kill`
	own := exec.Command("make")
	kill.Own(own)
	own.Start()
	kill.Group(own)
	pid, _ := kill.Parse(text)
	kill.Send(pid, syscall.SIGTERM) // want `a process id read from text`
	kill.Send(pid, 0)
	kill.Send(0, syscall.SIGTERM)            // want `its own process group`
	kill.Send(-kill.Ours(), syscall.SIGTERM) // want `its own process group`
	kill.Found(os.Getpid())                  // want `its own process group`
	kill.Found(own.Process.Pid)
	kill.Found(lone.Process.Pid)        // want `none of its own`
	go kill.Send(0, syscall.SIGTERM)    // want `its own process group`
	defer kill.Send(0, syscall.SIGTERM) // want `its own process group`
	f := kill.Send
	f(0, syscall.SIGTERM) // want `its own process group`
	g := syscall.Kill
	g(0, syscall.SIGTERM) // want `its own process group`
	own.Wait()
}

type session struct {
	cmd  *exec.Cmd
	kill func(pid int, sig syscall.Signal) error
}

func (s *session) start() error {
	s.cmd = exec.Command("make")
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return s.cmd.Start()
}

func (s *session) stop() error { return syscall.Kill(-s.cmd.Process.Pid, syscall.SIGTERM) }

type bare struct{ cmd *exec.Cmd }

func (s *bare) start() error {
	s.cmd = exec.Command("make")
	return s.cmd.Start()
}

func (s *bare) stop() error { return syscall.Kill(-s.cmd.Process.Pid, syscall.SIGTERM) } // want `a child that leads none`

var hook = syscall.Kill

func viaHook() { hook(0, syscall.SIGTERM) } // want `its own process group`

type sender interface{ send(pid int) }

type real struct{}

func (real) send(pid int) { syscall.Kill(pid, syscall.SIGTERM) }

type wrapped struct{ real }

func iface(s sender) {
	s.send(-1)         // want `every process it may`
	wrapped{}.send(-1) // want `every process it may`
	h := s.send
	h(-1) // want `every process it may`
}

func each[T any](v T, f func(T)) { f(v) }

func generic() {
	each(0, func(pid int) { syscall.Kill(pid, syscall.SIGTERM) }) // want `its own process group`
}

func over(yield func(int) bool) { _ = yield(-1) }

func rangeOver() {
	for pid := range over { // want `every process it may`
		syscall.Kill(pid, syscall.SIGTERM)
	}
}

func group(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func end(cmd *exec.Cmd) { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

func helpers() {
	cmd := exec.Command("make")
	group(cmd)
	cmd.Start()
	end(cmd)
	cmd.Wait()
	end(cmd) // want `has been reaped`
}

func helperTimer() {
	cmd := exec.Command("make")
	group(cmd)
	cmd.Start()
	time.AfterFunc(time.Second, func() { end(cmd) }) // want `beside the Wait`
	cmd.Wait()
}
