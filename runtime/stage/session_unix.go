//go:build unix

package stage

import (
	"os/exec"
	"syscall"
)

// ownSession starts a command in a session of its own, so that no signal for this process's group or terminal reaches it.
func ownSession(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
}
