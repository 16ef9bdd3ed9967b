//go:build linux

package enginetest

import "testing"

// TestTheUmaskIsTheUsualOne: by neither way is what a command makes writable for everybody.
func TestTheUmaskIsTheUsualOne(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		if out := e.shell("umask", nil); out != "0022" {
			t.Errorf("umask %s", out)
		}
	})
}
