package a

import (
	"os/exec"
	"testing"
)

func Test(t *testing.T) {
	exec.Command("docker", "ps").Run() // want `"docker"`
}
