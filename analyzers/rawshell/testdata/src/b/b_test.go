package b

import (
	"os/exec"
	"testing"
)

func Test(t *testing.T) {
	exec.Command("sh", "-c", t.Name()).Run() // want `sh -c`
}
