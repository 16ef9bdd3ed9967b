package seam_test

import (
	"os/exec"

	"seam"
)

func f() {
	seam.Run("docker")
	exec.Command("docker").Run()
}
