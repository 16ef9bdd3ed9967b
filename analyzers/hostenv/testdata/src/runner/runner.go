// Package runner is outside the seam.
package runner

import (
	"os"
	"os/exec"
)

// Run starts a program for whoever asks.
func Run(name string, args ...string) error { return exec.Command(name, args...).Run() }

// Start starts a command.
func Start(cmd *exec.Cmd) error { return cmd.Start() }

// Everything is a copy.
func Everything() []string { return append([]string(nil), os.Environ()...) }

func unrelated() {
	cmd := exec.Command("make")
	cmd.Env = append(os.Environ(), "A=b")
	cmd.Run()
}
