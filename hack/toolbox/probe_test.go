//go:build linux

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestProbe(t *testing.T) {
	runScripts(t, []script{
		{name: "exit", commands: "sbx-probe exit 42", status: 42},
		{name: "exit above what there is", commands: "sbx-probe exit 256", err: "255", status: 2},
		{name: "signal TERM", commands: "exec sbx-probe signal TERM", status: 128 + 15},
		{name: "signal KILL", commands: "exec sbx-probe signal 9", status: 128 + 9},
		{name: "signal SEGV", commands: "exec sbx-probe signal SEGV", status: 128 + 11},
		{name: "signal QUIT", commands: "exec sbx-probe signal QUIT", status: 128 + 3},
		{name: "signal PIPE", commands: "exec sbx-probe signal PIPE", status: 128 + 13},
		{name: "signal that ends nothing", commands: "sbx-probe signal CHLD", err: "alive", status: 1},
		{name: "alloc", commands: "sbx-probe alloc 32M", out: "allocated 33554432\n"},
		{name: "alloc above a limit", commands: "ulimit -v 4000000; sbx-probe alloc 4G", err: "cannot allocate", status: 1},
		{name: "forkbomb", commands: "sbx-probe forkbomb 5", out: "started 5 of 5\n"},
		{name: "spew counts bytes", commands: "sbx-probe spew 100001 | wc -c; sbx-probe spew 65 | tail -c 1", out: "100001\n0"},
		{name: "spew on standard error", commands: "sbx-probe spew 10 stderr 2>&1 >/dev/null | wc -c", out: "10\n"},
		{name: "status is its own", commands: "sbx-probe status | grep -c '^Name:'", out: "1\n"},
		{name: "mounts", commands: "sbx-probe mounts | grep -c ' / / '", out: "1\n"},
		{name: "environ as the kernel has it", commands: "env -i A=1 B= sbx-probe environ; env -i sbx-probe environ", out: "A=1\nB=\n"},
		{name: "limits", commands: "sbx-probe limits | grep -c -E '^(nofile|nproc|as) '", out: "3\n"},
		{name: "count of lines", commands: "mkdir d; printf 'a\\nb\\n' >d/x.go; echo c >d/y.txt; sbx-probe count-go-lines d out; cat out", out: "1 2\n1 2\n"},
		{name: "connect to nothing", commands: "sbx-probe connect 127.0.0.1:1", err: "refused", status: 1},
		{name: "unknown", commands: "sbx-probe nosuch", err: "count-go-lines", status: 2},
	})
}

func TestProbeEnvironPrintsWhatExecGave(t *testing.T) {
	cmd := program(t, t.TempDir(), "sbx-probe", "environ")
	cmd.Env = []string{"Z=1", "A=", "NOT AN ASSIGNMENT"}
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("Z=1\nA=\nNOT AN ASSIGNMENT\n", string(out)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestProbeFdsShowsInheritedDescriptorsOnly(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "inherited"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	cmd := program(t, t.TempDir(), "sbx-probe", "fds")
	cmd.ExtraFiles = []*os.File{file}
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if want := "\n3 " + file.Name() + "\n"; !strings.Contains(string(out), want) {
		t.Errorf("%q is not in:\n%s", want, out)
	}
	// What runs this test may hand down others, but the Go runtime's own are not shown.
	if strings.Contains(string(out), "eventpoll") || strings.Contains(string(out), "/proc/") {
		t.Errorf("the probe shows descriptors of its own:\n%s", out)
	}
}

func TestProbeLimitsShowsTheLimitBeforeTheRuntimeRaisesIt(t *testing.T) {
	cmd := program(t, t.TempDir(), "sh", "-c", "ulimit -S -n 77; exec sbx-probe limits") //sbx:allow rawshell the shell is what is tested
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(out), "\nnofile 77 ") {
		t.Errorf("nofile is not 77:\n%s", out)
	}
}

// started starts a program and reads its first line.
func started(t *testing.T, cmd *exec.Cmd) (line string, rest *bufio.Reader) {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	rest = bufio.NewReader(out)
	if line, err = rest.ReadString('\n'); err != nil {
		t.Fatalf("reading the first line: %v", err)
	}
	return strings.TrimSuffix(line, "\n"), rest
}

func TestProbeIgnoreTermDiesOfKillOnly(t *testing.T) {
	cmd := program(t, t.TempDir(), "sbx-probe", "ignore-term")
	if line, _ := started(t, cmd); line != "ready" {
		t.Fatalf("first line %q", line)
	}
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatalf("%v: %v", sig, err)
		}
	}
	if got := status(t, cmd.Wait()); got != 128+9 {
		t.Errorf("status %d, want %d: TERM was not ignored", got, 128+9)
	}
}

func TestProbeGrandchildOutlivesItsParentAndHoldsTheOutput(t *testing.T) {
	cmd := program(t, t.TempDir(), "sbx-probe", "grandchild")
	line, rest := started(t, cmd)
	pid, err := strconv.Atoi(strings.TrimPrefix(line, "grandchild "))
	if err != nil {
		t.Fatalf("first line %q", line)
	}
	// Not Wait, which would close our end of the pipe.
	if state, err := cmd.Process.Wait(); err != nil || !state.Success() {
		t.Fatalf("the parent: %v, %v", state, err)
	}
	if session, err := syscall.Getpgid(pid); err != nil || session != pid {
		t.Errorf("the grandchild %d is in the group %d, %v: not a session of its own", pid, session, err)
	}
	//sbx:allow groupkill the grandchild told its own id and holds our pipe open, so it lives
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatalf("the grandchild did not live on: %v", err)
	}
	// Only now does the output end.
	if left, err := io.ReadAll(rest); err != nil || len(left) > 0 {
		t.Errorf("after the grandchild: %q, %v", left, err)
	}
}

func TestProbeListenAndConnect(t *testing.T) {
	dir := t.TempDir()
	for _, tt := range []struct{ name, listen, connect string }{
		{"tcp", "127.0.0.1:0", ""},
		{"unix", "unix:" + filepath.Join(dir, "s"), "unix:" + filepath.Join(dir, "s")},
		{"abstract", "unix:@sbx-toolbox-" + strconv.Itoa(os.Getpid()), "unix:@sbx-toolbox-" + strconv.Itoa(os.Getpid())},
	} {
		t.Run(tt.name, func(t *testing.T) {
			listener := program(t, dir, "sbx-probe", "listen", tt.listen)
			line, _ := started(t, listener)
			defer func() {
				listener.Process.Kill()
				listener.Wait()
			}()
			address := tt.connect
			if address == "" {
				address = strings.TrimPrefix(line, "listening ")
			}
			out, err := program(t, dir, "sbx-probe", "connect", address).Output()
			if err != nil || string(out) != "connected\n" {
				t.Fatalf("connect %s: %q, %v", address, out, err)
			}
			words := []string{"-U", strings.TrimPrefix(address, "unix:")}
			if host, port, err := net.SplitHostPort(address); err == nil && tt.connect == "" {
				words = []string{host, port}
			}
			nc := program(t, dir, "nc", words...)
			nc.Stdin = strings.NewReader("echoed")
			if out, err = nc.Output(); err != nil || string(out) != "echoed" {
				t.Errorf("nc %v: %q, %v", words, out, err)
			}
		})
	}
}

func TestProbeHeartbeatAndNotifyWriteToTheirDescriptors(t *testing.T) {
	for _, tt := range []struct {
		variable string
		args     []string
		want     string
	}{
		{"SBX_HEARTBEAT_FD", []string{"heartbeat", "1ms", "3"}, "beat 0\nbeat 1\nbeat 2\n"},
		{"SBX_NOTIFY_FD", []string{"notify"}, "READY=1\n"},
		{"SBX_NOTIFY_FD", []string{"notify", "STATUS=almost"}, "STATUS=almost\n"},
	} {
		t.Run(strings.Join(tt.args, " "), func(t *testing.T) {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			cmd := program(t, t.TempDir(), "sbx-probe", tt.args...)
			cmd.ExtraFiles = []*os.File{w}
			cmd.Env = append(cmd.Env, tt.variable+"=3")
			if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
				t.Fatalf("%v: %s", err, out)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(r); err != nil || string(got) != tt.want {
				t.Errorf("read %q, %v; want %q", got, err, tt.want)
			}
			out, err := program(t, t.TempDir(), "sbx-probe", tt.args...).CombinedOutput()
			if err == nil || !strings.Contains(string(out), tt.variable) {
				t.Errorf("without the variable: %v, %s", err, out)
			}
		})
	}
}

func TestProbeREPLFramesItsAnswers(t *testing.T) {
	cmd := program(t, t.TempDir(), "sbx-probe", "repl")
	var errs bytes.Buffer
	cmd.Stdin, cmd.Stderr = strings.NewReader("echo a  b\nbytes 3\nerror oops\ncount\nexit 6\n"), &errs
	out, err := cmd.Output()
	if got := status(t, err); got != 6 {
		t.Errorf("status %d, want 6", got)
	}
	want := ">>> 1\na  b\n<<< 1 0\n>>> 2\n\x00\x01\x02\n<<< 2 0\n>>> 3\n<<< 3 1\n>>> 4\n4\n<<< 4 0\n"
	if diff := cmp.Diff(want, string(out)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if errs.String() != "oops\n" {
		t.Errorf("standard error %q", errs.String())
	}
}

func TestProbeJSONRPC(t *testing.T) {
	cmd := program(t, t.TempDir(), "sbx-probe", "jsonrpc")
	cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":"<ü>"}}
{"jsonrpc":"2.0","id":"x","method":"notify","params":[1]}
{"jsonrpc":"2.0","method":"echo","params":"no answer to a notification"}
{"jsonrpc":"2.0","id":2,"method":"nosuch"}
not json
{"jsonrpc":"2.0","id":3,"method":"exit","params":5}
`)
	out, err := cmd.Output()
	if got := status(t, err); got != 5 {
		t.Errorf("status %d, want 5", got)
	}
	want := []string{
		`{"jsonrpc":"2.0","id":1,"result":{"a":"<ü>"}}`,
		`{"jsonrpc":"2.0","method":"event","params":[1]}`,
		`{"jsonrpc":"2.0","id":"x","result":null}`,
		`{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"no method nosuch"}}`,
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"not a JSON-RPC 2.0 message"}}`,
	}
	if diff := cmp.Diff(want, strings.Split(strings.TrimSpace(string(out)), "\n")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, line := range want {
		if !json.Valid([]byte(line)) {
			t.Errorf("the expectation is not JSON: %s", line)
		}
	}
}
