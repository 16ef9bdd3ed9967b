package testhost

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// ControlGroups lists the control groups of this host whose own name contains word, wherever they stand below another: a test's process
// need not be in the root of any hierarchy.
func ControlGroups(t testing.TB, word string) (list []string) {
	t.Helper()
	err := filepath.WalkDir("/sys/fs/cgroup", func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.Contains(d.Name(), word) {
			list = append(list, p)
		}
		return nil // groups of others come and go while this looks
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}
