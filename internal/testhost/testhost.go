// Package testhost says what real backends the tests of this host can use, as hack/setup found or made them. A test that needs what is not
// there is skipped with the reason, and never passes silently.
package testhost

import (
	"os"
	"os/exec"
	"testing"
)

// missing gives setup's reason for a part, or the way to have it.
func missing(part string) string {
	if why := os.Getenv("SBX_TEST_" + part + "_MISSING"); why != "" {
		return why
	}
	return "hack/setup has not said where it is: run the tests by make test"
}

// Bwrap skips t where bubblewrap is not installed.
func Bwrap(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath("bwrap"); err != nil {
		t.Skip("no bubblewrap: " + missing("BWRAP"))
	}
}

// Docker gives the address of a Docker engine and the reference of the test image on it.
func Docker(t testing.TB) (host, image string) {
	t.Helper()
	return engine(t, "DOCKER")
}

// Podman gives the address of a Podman engine and the reference of the test image on it.
func Podman(t testing.TB) (host, image string) {
	t.Helper()
	return engine(t, "PODMAN")
}

func engine(t testing.TB, name string) (host, image string) {
	t.Helper()
	host, image = os.Getenv("SBX_TEST_"+name+"_HOST"), os.Getenv("SBX_TEST_IMAGE")
	if host == "" {
		t.Skip("no engine: " + missing(name))
	}
	if image == "" {
		t.Skip("no test image: " + missing("TOOLBOX"))
	}
	return host, image
}

// Toolbox gives the path of the static toolbox, and the root file system it is unpacked in.
func Toolbox(t testing.TB) (program, root string) {
	t.Helper()
	program, root = os.Getenv("SBX_TEST_TOOLBOX"), os.Getenv("SBX_TEST_ROOTFS")
	if program == "" || root == "" {
		t.Skip("no toolbox: " + missing("TOOLBOX"))
	}
	return program, root
}

// Soak reports whether tests are to take the time for all they can try: make soak says so.
func Soak() bool { return os.Getenv("SBX_TEST_SOAK") != "" }
