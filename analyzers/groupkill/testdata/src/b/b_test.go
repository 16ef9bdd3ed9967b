package b

import (
	"syscall"
	"testing"
)

func Test(t *testing.T) {
	syscall.Kill(0, syscall.SIGTERM) // want `its own process group`
}
