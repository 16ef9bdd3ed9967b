package a

import (
	"context"
	"os/exec"
	"testing"

	sbx "github.com/sbxkit/sbxkit/runtime"
)

// A test that passes without a sandbox where there is none tests nothing.
func TestRun(t *testing.T) {
	argv := []string{"true"}
	if _, err := new(sbx.Sandbox).Run(context.Background(), sbx.Launch{Argv: argv}); err != nil {
		exec.Command(argv[0], argv[1:]...).Run() // want `starts the command`
	}
}

func TestSkips(t *testing.T) {
	if _, err := exec.LookPath("bwrap"); err != nil {
		t.Skip("no bwrap")
	}
}
