package a

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func numbers() {
	syscall.Kill(0, syscall.SIGTERM)  // want `signals its own process group.*pid 0`
	syscall.Kill(-1, syscall.SIGKILL) // want `signals every process it may`
	syscall.Kill(0, syscall.SIGTSTP)
	syscall.Kill(0, 0)
	syscall.Kill(os.Getpid(), syscall.SIGTERM)
	syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	syscall.Kill(-syscall.Getpgrp(), syscall.SIGSTOP)
	syscall.Kill(-syscall.Getpgrp(), syscall.SIGTERM) // want `signals its own process group`
	syscall.Kill(os.Getppid(), syscall.SIGTERM)       // want `signals its parent`
	syscall.Kill(os.Getppid(), 0)
}

func getpgid(pid int) {
	self, _ := syscall.Getpgid(os.Getpid())
	syscall.Kill(-self, syscall.SIGKILL) // want `signals its own process group`
	zero, _ := syscall.Getpgid(0)
	syscall.Kill(-zero, syscall.SIGKILL)   // want `signals its own process group`
	syscall.Kill(-1*zero, syscall.SIGKILL) // want `signals its own process group`
}

var pids map[string]int

func arbitrary(name string) error {
	pgid, err := syscall.Getpgid(pids[name])
	if err != nil {
		return err
	}
	return syscall.Kill(-pgid, syscall.SIGTERM) // want `the group that an arbitrary process is in`
}

func suicide() {
	cmd := exec.Command("make")
	cmd.Start()
	pgid, err := syscall.Getpgid(cmd.Process.Pid)
	if err == nil {
		syscall.Kill(-pgid, syscall.SIGKILL) // want `the group of a child that has none of its own`
	}
	cmd.Wait()
}

func ownGroup() error {
	cmd := exec.Command("make")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	pgid, err := syscall.Getpgid(cmd.Process.Pid)
	if err == nil {
		syscall.Kill(-pgid, syscall.SIGKILL)
	}
	syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	return cmd.Wait()
}

func ownSession() {
	cmd := exec.Command("make")
	cmd.SysProcAttr = new(syscall.SysProcAttr)
	cmd.SysProcAttr.Setsid = true
	cmd.Start()
	syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	cmd.Process.Wait()
}

func notOwn() {
	cmd := exec.Command("make")
	cmd.Start()
	syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // want `a child that leads none`
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	defer syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // want `a child that leads none`
}

func single() {
	cmd := exec.Command("make")
	cmd.Start()
	syscall.Kill(cmd.Process.Pid, syscall.SIGTERM)
	cmd.Process.Kill()
	cmd.Wait()
	cmd.Process.Signal(syscall.SIGTERM)
}

func afterWait() {
	cmd := exec.Command("make")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Start()
	err := cmd.Wait()
	if err != nil {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // want `a process that has been reaped`
	}
}

func deferredKill() error {
	cmd := exec.Command("make")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Start()
	defer syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // want `a process that has been reaped`
	return cmd.Wait()
}

func deferredLiteral() error {
	cmd := exec.Command("make")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Start()
	defer func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // want `reaped by the time the function returns`
	}()
	return cmd.Wait()
}

func deferredWait() {
	cmd := exec.Command("make")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Start()
	defer cmd.Wait()
	defer syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
}

func timer(d time.Duration) error {
	cmd := exec.Command("make")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Start()
	t := time.AfterFunc(d, func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // want `beside the Wait`
	})
	defer t.Stop()
	return cmd.Wait()
}

func timerVariable(d time.Duration) error {
	cmd := exec.Command("make")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Start()
	pid := cmd.Process.Pid
	end := func() {
		syscall.Kill(-pid, syscall.SIGKILL) // want `beside the Wait`
	}
	time.AfterFunc(d, end)
	return cmd.Wait()
}

func waiter(ctx context.Context) error {
	cmd := exec.Command("make")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Start()
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case <-ctx.Done():
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // want `beside the Wait`
		return <-done
	case err := <-done:
		return err
	}
}

func canceled(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, "make")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return cmd.Run()
}

func loop() {
	for range 3 {
		cmd := exec.Command("make")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		cmd.Start()
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		cmd.Wait()
	}
}

func pidFile(name string) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		return err
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	if err := p.Signal(syscall.Signal(0)); err != nil {
		return err
	}
	return p.Signal(syscall.SIGTERM) // want `a process id read from text`
}

func pidFileKill(name string) {
	data, _ := os.ReadFile(name)
	pid, _ := strconv.Atoi(string(data))
	p, _ := os.FindProcess(pid)
	p.Kill()                            // want `a process id read from text`
	syscall.Kill(pid, syscall.SIGTERM)  // want `a process id read from text`
	syscall.Kill(-pid, syscall.SIGTERM) // want `a group whose id was read from text`
}

type state struct{ PID int }

func jsonFile(name string) {
	data, _ := os.ReadFile(name)
	var st state
	json.Unmarshal(data, &st)
	syscall.Kill(st.PID, syscall.SIGTERM) // want `a process id read from text`
}

func scanned(text string) {
	var pid int
	fmt.Sscan(text, &pid)
	syscall.Kill(pid, syscall.SIGTERM) // want `a process id read from text`
}

func startTime(pid int) string {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return string(data)
}

func checked(text, start string) {
	pid, _ := strconv.Atoi(text)
	if startTime(pid) != start {
		return
	}
	syscall.Kill(pid, syscall.SIGTERM)
}

func checkedByHand(text, start string) {
	pid, _ := strconv.Atoi(text)
	data, _ := os.ReadFile("/proc/" + text + "/stat")
	if strings.Contains(string(data), start) {
		p, _ := os.FindProcess(pid)
		p.Signal(syscall.SIGTERM)
	}
}

func startProcess() {
	p, _ := os.StartProcess("/bin/true", nil, &os.ProcAttr{Sys: &syscall.SysProcAttr{Setsid: true}})
	syscall.Kill(-p.Pid, syscall.SIGTERM)
	q, _ := os.StartProcess("/bin/true", nil, &os.ProcAttr{})
	syscall.Kill(-q.Pid, syscall.SIGTERM) // want `a child that leads none`
	pid, _ := syscall.ForkExec("/bin/true", nil, &syscall.ProcAttr{Sys: &syscall.SysProcAttr{Setpgid: true}})
	syscall.Kill(-pid, syscall.SIGTERM)
	lone, _ := syscall.ForkExec("/bin/true", nil, nil)
	syscall.Kill(-lone, syscall.SIGTERM) // want `a child that leads none`
}

//sbx:allow groupkill the whole declaration
func allowed() {
	syscall.Kill(0, syscall.SIGTERM)
}
