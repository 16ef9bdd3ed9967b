//go:build linux

// Package setuptest tests hack/setup where its parts are missing; where they are
// there, every live test of the tree tests it.
package setuptest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// tools are what hack/setup may take for granted: what every Debian has, and Go.
var tools = []string{"bash", "sh", "env", "id", "flock", "mkdir", "rm", "mv", "cat", "cut", "cksum", "sha256sum", "tar", "tail", "tr", "sort",
	"uname", "realpath", "dirname", "touch", "chmod", "sleep", "grep", "timeout", "setsid", "umount", "go"}

// host is a machine of our own making: a PATH that has tools and what the test adds.
type host struct{ bin, state string }

func newHost(t *testing.T) host {
	t.Helper()
	h := host{bin: t.TempDir(), state: t.TempDir()}
	for _, tool := range tools {
		path, err := exec.LookPath(tool)
		if err != nil {
			t.Fatalf("looking for %s: %v", tool, err)
		}
		// By a script, so that a tool that looks where it is finds itself.
		h.add(t, tool, fmt.Sprintf("exec %q \"$@\"", path))
	}
	// The real ones, which setup looks for outside of PATH too, would be started here.
	h.add(t, "dockerd", `echo 'level=fatal msg="not in this test"' >&2; exit 1`)
	h.add(t, "ip", "exit 0")
	t.Cleanup(func() {
		if _, errs, err := h.setup(t, "--stop"); err != nil {
			t.Errorf("stopping: %v\n%s", err, errs)
		}
	})
	return h
}

// add puts a script into the PATH.
func (h host) add(t *testing.T, name, script string) {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(h.bin, name), []byte("#!"+bash+"\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

// setup runs hack/setup and returns what it printed.
func (h host) setup(t *testing.T, args ...string) (out, errs string, err error) {
	t.Helper()
	cmd := exec.Command("../setup", args...)
	cmd.Env = []string{"PATH=" + h.bin, "SBX_SETUP_STATE=" + h.state, "SBX_SETUP_INSTALL=never", "DOCKER_HOST=tcp://127.0.0.1:1"}
	for _, name := range []string{"HOME", "GOCACHE", "GOMODCACHE", "GOPATH", "GOPROXY"} {
		if value, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	return stdout.String(), stderr.String(), err
}

// lines are the lines setup printed about a part.
func lines(errs, part string) []string {
	var found []string
	for line := range strings.Lines(errs) {
		if strings.HasPrefix(line, "setup: "+part+" ") {
			found = append(found, strings.TrimSpace(line))
		}
	}
	return found
}

func TestSetupNamesEachMissingPartOnceWithItsCure(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	out, errs, err := h.setup(t, "--", "bash", "-c", `echo "$SBX_TEST_DOCKER_MISSING|$SBX_TEST_BWRAP_MISSING|${SBX_TEST_DOCKER_HOST-unset}|$SBX_TEST_IMAGE"`)
	if err != nil {
		t.Fatalf("a machine without backends must not fail it: %v\n%s", err, errs)
	}
	for _, part := range []string{"packages", "bwrap", "docker", "podman"} {
		if got := lines(errs, part); len(got) != 1 || !strings.Contains(got[0], "MISSING: ") || !strings.Contains(got[0], "Cure: ") {
			t.Errorf("about %s: %q", part, got)
		}
	}
	words := strings.Split(strings.TrimSpace(out), "|")
	if len(words) != 4 || words[0] == "" || words[1] == "" || words[2] != "unset" || !strings.HasPrefix(words[3], "sbxkit.invalid/toolbox:") {
		t.Errorf("the environment of the command: %q", words)
	}
}

func TestSetupPassesTheCommandsStatusOn(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	_, errs, err := h.setup(t, "--", "bash", "-c", "exit 7")
	exit, ok := err.(*exec.ExitError)
	if !ok || exit.ExitCode() != 7 {
		t.Errorf("got %v, want exit status 7:\n%s", err, errs)
	}
}

func TestSetupSaysWhyABackendThatIsThereDoesNotWork(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.add(t, "bwrap", "echo 'bwrap: setting up uid map: Permission denied' >&2; exit 1")
	h.add(t, "podman", `[ "$1" != --version ] || { echo podman version 9; exit; }; echo 'Error: no runtime' >&2; exit 125`)
	h.add(t, "docker", "exit 1")
	_, errs, err := h.setup(t)
	if err != nil {
		t.Fatalf("%v\n%s", err, errs)
	}
	for part, why := range map[string]string{"bwrap": "setting up uid map: Permission denied", "podman": "no runtime", "docker": "not in this test"} {
		got := lines(errs, part)
		if len(got) == 0 || !strings.Contains(got[len(got)-1], "MISSING: ") || !strings.Contains(got[len(got)-1], why) {
			t.Errorf("about %s: %q does not say %q", part, got, why)
		}
	}
}

func TestSetupUsesAnEngineThatAnswers(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.add(t, "docker", `case "$*" in *version*) echo "Engine 99.9";; *inspect*) exit 1;; *import*) exec cat >/dev/null;; esac`)
	out, errs, err := h.setup(t, "--", "bash", "-c", `echo "$SBX_TEST_DOCKER_HOST $DOCKER_HOST"`)
	if err != nil {
		t.Fatalf("%v\n%s", err, errs)
	}
	if got := lines(errs, "docker"); len(got) != 1 || !strings.HasSuffix(got[0], "engine 99.9 at tcp://127.0.0.1:1") {
		t.Errorf("about docker: %q", got)
	}
	if out != "tcp://127.0.0.1:1 tcp://127.0.0.1:1\n" {
		t.Errorf("the environment of the command: %q", out)
	}
}

func TestSetupTakesPodmansAnswerForNoDockerEngine(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.add(t, "docker", `case "$*" in *version*) echo "Podman Engine 4.3.1";; esac`)
	_, errs, err := h.setup(t)
	if err != nil {
		t.Fatalf("%v\n%s", err, errs)
	}
	if strings.Contains(errs, "engine 4.3.1") {
		t.Errorf("Podman was taken for Docker:\n%s", errs)
	}
}

// A record whose pid now belongs to another process must not get that one killed.
func TestStopLeavesAStrangerWithTheRecordedPidAlone(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	stranger := exec.Command("sleep", "60")
	if err := stranger.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		stranger.Process.Kill()
		stranger.Wait()
	}()
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"docker", "podman"} {
		record := fmt.Sprintf("%d 1 %s", stranger.Process.Pid, boot)
		if err := os.WriteFile(filepath.Join(h.state, name+".process"), []byte(record), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, errs, err := h.setup(t, "--stop"); err != nil {
		t.Fatalf("%v\n%s", err, errs)
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", stranger.Process.Pid))
	if err != nil || strings.Contains(string(stat), ") Z ") {
		t.Errorf("the stranger is gone: %s, %v", stat, err)
	}
}

// While a command runs, whoever else stops only leaves: the last one stops.
func TestStopLeavesWhatAnotherRunStillUses(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	out, errs, err := h.setup(t, "--", "bash", "-c", `"$0" --stop 2>&1`, "../setup")
	if err != nil {
		t.Fatalf("%v\n%s", err, errs)
	}
	if !strings.Contains(out, "left running") {
		t.Errorf("a stop in the middle of a run says %q", out)
	}
}
