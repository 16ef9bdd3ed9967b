// Package seam wires backends.
//
//sbx:seam the tests' own
package seam

import "os/exec"

func f() { exec.Command("docker").Run() }

func Run(name string) { exec.Command(name).Run() }
