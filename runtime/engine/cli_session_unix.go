//go:build unix

package engine

import (
	"os/exec"
	"syscall"
)

// ownSession starts a client in a session of its own: no signal of our terminal or group reaches it.
func ownSession(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
