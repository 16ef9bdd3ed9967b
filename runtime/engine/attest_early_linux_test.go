package engine

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/container"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/attest"
)

// unexecuted is a process that was forked and waits, with its parent's program and environment, until let is called; then it executes the
// command, with MARK in its environment.
func unexecuted(t *testing.T) (pid int, let func()) {
	t.Helper()
	script := filepath.Join(t.TempDir(), "fork")
	if err := os.WriteFile(script, []byte("(read x <&3 && export MARK=set && exec cat <&3) &\necho $!\nwait\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	hold, release, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer hold.Close()
	cmd := exec.Command("/bin/sh", script)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	cmd.ExtraFiles = []*os.File{hold}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		release.Close() // at which it ends, executed or not
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if pid, err = strconv.Atoi(strings.TrimSpace(line)); err != nil {
		t.Fatal(err)
	}
	if s, err := attest.ReadStat(pid); err != nil || s.Executed {
		t.Fatalf("%+v, %v: the process has executed something", s, err)
	}
	return pid, func() {
		if _, err := release.WriteString("\n"); err != nil {
			t.Error(err)
		}
	}
}

// TestAProcessThatIsNotTheCommandYetIsNotMeasured stops the process that an engine names where a start can find it: forked, and not yet the
// command. What it is then says nothing of the command, neither that it holds nor that it does not.
func TestAProcessThatIsNotTheCommandYetIsNotMeasured(t *testing.T) {
	started := func(t *testing.T) (*process, *inspected, func()) {
		pid, let := unexecuted(t)
		claim := runtime.Claim{Name: "environment", Value: "1 variable", Required: true}
		r := &runtime.Request{Env: []runtime.Variable{{Name: "MARK", Value: "set"}}}
		p := &process{
			resources: &resources{plan: &runtime.Plan{Request: r, Claims: []runtime.Claim{claim}}},
			at:        &attachment{ended: make(chan struct{})},
		}
		t.Cleanup(func() {
			if p.watch != nil {
				p.watch.close()
			}
		})
		// Every process's groups have a colon in their names.
		return p, &inspected{ContainerJSONBase: &container.ContainerJSONBase{ID: ":", State: &container.State{Pid: pid}}}, let
	}
	t.Run("and does not become it", func(t *testing.T) {
		p, i, _ := started(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if got := p.measure(ctx, i); len(got) != 0 {
			t.Errorf("measured %+v", got)
		}
	})
	t.Run("and ends before", func(t *testing.T) {
		p, i, _ := started(t)
		close(p.at.ended)
		if got := p.measure(t.Context(), i); len(got) != 0 {
			t.Errorf("measured %+v", got)
		}
	})
	t.Run("until it is", func(t *testing.T) {
		p, i, let := started(t)
		got := make(chan map[string]runtime.Guarantee)
		go func() { got <- p.measure(t.Context(), i) }()
		let()
		if g := (<-got)["environment"]; g.Measured != runtime.MeasuredHolds {
			t.Errorf("measured %+v", g)
		}
	})
}
