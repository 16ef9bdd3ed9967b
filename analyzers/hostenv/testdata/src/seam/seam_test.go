package seam

import (
	"os"
	"os/exec"
	"testing"
)

func TestStarts(t *testing.T) {
	exec.Command(os.Args[0], "-test.run=Helper").Run() // want `its Env is nil`
	cmd := exec.Command("bwrap", "true")
	cmd.Env = []string{}
	cmd.Run()
}
