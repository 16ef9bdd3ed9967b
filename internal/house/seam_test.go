package house

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestNoBackendIsImportedOutsideTheSeam runs sbxvet on the whole tree; that it reports such an import is its own tests' to show.
func TestNoBackendIsImportedOutsideTheSeam(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "go", "tool", "sbxvet", "-backendimport", "./...")
	cmd.Dir = "../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("sbxvet: %v\n%s", err, out)
	}
}

// TestTheExecutorsSuppressNothing: what the two executors show holds without an exception.
func TestTheExecutorsSuppressNothing(t *testing.T) {
	for _, dir := range []string{"../../examples/agenttools", "../../examples/issuerunner"} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" {
				return err
			}
			text, err := os.ReadFile(path)
			if bytes.Contains(text, []byte("//sbx:allow")) {
				t.Errorf("%s suppresses a rule", path)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}
