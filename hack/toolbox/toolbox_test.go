//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// bin is the directory of the installed programs.
var bin string

// The tests run the real thing: the static binary, installed, in processes of
// its own.
func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "toolbox")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		build := exec.Command("go", "build", "-o", filepath.Join(dir, "toolbox"), ".")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "building the toolbox: %v\n%s", err, out)
			return 1
		}
		if out, err := exec.Command(filepath.Join(dir, "toolbox"), "install", filepath.Join(dir, "root")).CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "installing the toolbox: %v\n%s", err, out)
			return 1
		}
		bin = filepath.Join(dir, "root", "bin")
		return m.Run()
	}())
}

// program prepares a program of the toolbox in dir. It is killed when the test
// takes longer than any of them should.
func program(t *testing.T, dir, name string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(bin, name), args...)
	cmd.Args[0] = name
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + bin, "HOME=/nowhere"}
	cmd.WaitDelay = 5 * time.Second
	timer := time.AfterFunc(30*time.Second, func() {
		if cmd.Process != nil {
			cmd.Process.Kill()
		}
	})
	t.Cleanup(func() { timer.Stop() })
	return cmd
}

// status is the exit status of a process as a shell says it.
func status(t *testing.T, err error) int {
	t.Helper()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case !errors.As(err, &exit):
		t.Fatalf("not run: %v", err)
	}
	if ws := exit.Sys().(syscall.WaitStatus); ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return exit.ExitCode()
}

// script is a case: commands run by the toolbox's shell in an empty directory.
type script struct {
	name     string
	commands string
	stdin    string
	out      string
	err      string // contained in standard error; "" wants it empty
	status   int
}

func runScripts(t *testing.T, scripts []script) {
	for _, tt := range scripts {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cmd := program(t, t.TempDir(), "sh", "-c", tt.commands) //sbx:allow rawshell the shell is what is tested
			var out, errs bytes.Buffer
			cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(tt.stdin), &out, &errs
			if got := status(t, cmd.Run()); got != tt.status {
				t.Errorf("status %d, want %d", got, tt.status)
			}
			if diff := cmp.Diff(tt.out, out.String()); diff != "" {
				t.Errorf("standard output (-want +got):\n%s", diff)
			}
			if !strings.Contains(errs.String(), tt.err) || (tt.err == "") != (errs.Len() == 0) {
				t.Errorf("standard error %q, want %q", errs.String(), tt.err)
			}
		})
	}
}

func TestShell(t *testing.T) {
	runScripts(t, []script{
		{name: "exit status", commands: "exit 7", status: 7},
		{name: "status of the last command", commands: "true; false", status: 1},
		{name: "status of a command killed by a signal", commands: "sbx-probe signal TERM; echo $?", out: "143\n"},
		{name: "killed by its own signal", commands: "kill -9 $$", status: 137},
		{name: "not found", commands: "nosuchcommand", status: 127, err: "not found"},
		{name: "not executable", commands: "echo x >f; ./f", status: 126, err: "./f: permission denied"},
		{name: "syntax error", commands: "echo before\nif", status: 2, err: "if", out: "before\n"},
		{name: "errexit", commands: "set -e; false; echo not reached", status: 1},
		{name: "pipeline", commands: "seq 3 | tail -n 1", out: "3\n"},
		{name: "pipeline inside a function", commands: "f() { echo $1 | cat; }; f a", out: "a\n"},
		{name: "here-document", commands: "x=1; cat <<E\na $x\nE\n", out: "a 1\n"},
		{name: "redirection", commands: "echo a >f; echo b >>f; cat <f; ls nosuch 2>/dev/null || echo c", out: "a\nb\nc\n"},
		{name: "backslash in an assignment", commands: `a=x\ y; b='it'\''s'; echo "$a" "$b"`, out: "x y it's\n"},
		{name: "export reaches commands", commands: "export A=1; B=2; C=3 env | sort | grep -E '^[ABC]='", out: "A=1\nC=3\n"},
		{name: "multi-line commands", commands: "if true\nthen\necho yes\nfi", out: "yes\n"},
		{name: "subshell exits alone", commands: "(exit 3); echo $?", out: "3\n"},
		{name: "umask", commands: "umask 077; touch f; ls -l f | grep -c '^-rw------- '; umask", out: "1\n0077\n"},
		{name: "ulimit", commands: "ulimit -S -n 64; ulimit -n; sbx-probe limits | grep '^nofile 64 ' | wc -l", out: "64\n1\n"},
		{name: "exec replaces the process", commands: "a=$$; exec sh -c 'test $1 = $$ && echo same' sh $a", out: "same\n"},
		{name: "exec takes redirections", commands: "exec sh -c 'echo o; echo e >&2' 2>&1 >f; echo not reached", out: "e\n"},
		{name: "exec in a subshell leaves the shell", commands: "(exec echo sub); echo shell", out: "sub\nshell\n"},
		{name: "exec of what is absent ends the shell", commands: "exec nosuch; echo not reached", status: 127, err: "nosuch"},
		{name: "background process has a pid", commands: "sleep 60 & kill -9 $!; wait $!; echo $?", out: "137\n"},
		{name: "background status", commands: "(exit 4) & wait $!; echo $?", out: "4\n"},
		{name: "background inherits variables, functions and operands", commands: "x=\"it's\"; f() { echo \"f $1 $x\"; }; set -- p; f $1 & wait", out: "f p it's\n"},
		{name: "background keeps the shell's pid", commands: "a=$$; test $a = $$ & wait $!; echo $?", out: "0\n"},
		{name: "background reads nothing", commands: "cat & wait; cat", stdin: "mine\n", out: "mine\n"},
		{name: "wait for all", commands: "touch a & touch b & wait; ls", out: "a\nb\n"},
		{name: "wait for a stranger", commands: "wait 1; echo $?", out: "127\n"},
		{name: "trap before the next command", commands: "trap 'echo caught' TERM; kill -TERM $$; echo next", out: "caught\nnext\n"},
		{name: "trap that exits", commands: "trap 'exit 9' TERM; kill $$; while :; do :; done", status: 9},
		{name: "trap interrupts wait", commands: "trap 'echo stop; kill $c' TERM; sleep 60 & c=$!; kill $$ & wait $c; wait $c; echo $?", out: "stop\n143\n"},
		{name: "trap ignores", commands: "trap '' TERM; kill $$; echo alive", out: "alive\n"},
		{name: "trap at the end", commands: "trap 'echo bye' EXIT; exit 3", out: "bye\n", status: 3},
		{name: "trap reset", commands: "trap 'echo no' TERM; trap - TERM; kill $$", status: 143},
		{name: "trap of a nonsense signal", commands: "trap : NOSUCH", status: 1, err: "NOSUCH"},
	})
}

func TestShellReadsNoFurtherThanItsCommand(t *testing.T) {
	cmd := program(t, t.TempDir(), "sh")
	cmd.Stdin = strings.NewReader("read x\nfirst\necho got $x\ncat\nrest\nof it")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("got first\nrest\nof it", string(out)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A session that lives on a pipe: each command answers before the next is sent.
func TestShellAnswersWhileItsInputIsOpen(t *testing.T) {
	cmd := program(t, t.TempDir(), "sh")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"one\n", "two\n"} {
		if _, err := fmt.Fprintf(in, "x=%sfi; echo ${x%%fi}\n", strings.TrimSpace(want)); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(want))
		if _, err := io.ReadFull(out, got); err != nil || string(got) != want {
			t.Fatalf("read %q, %v; want %q", got, err, want)
		}
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
}

func TestShellCommandLine(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file.sh"), []byte("echo $0 $1 $#"), 0o644); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name   string
		args   []string
		out    string
		status int
	}{
		{"operands of -c", []string{"-c", "echo $0 $1 $#", "name", "a", "b"}, "name a 2\n", 0},
		{"options together", []string{"-ec", "false; echo no"}, "", 1},
		{"a long option", []string{"-o", "errexit", "-c", "false; echo no"}, "", 1},
		{"a file", []string{"file.sh", "a"}, "file.sh a 1\n", 0},
		{"a file that is absent", []string{"nosuch.sh"}, "", 127},
		{"-c without commands", []string{"-c"}, "", 2},
		{"an option it does not know", []string{"-Z", "-c", "true"}, "", 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cmd := program(t, dir, "sh", tt.args...) //sbx:allow rawshell the shell is what is tested
			out, err := cmd.Output()
			if got := status(t, err); got != tt.status {
				t.Errorf("status %d, want %d", got, tt.status)
			}
			if string(out) != tt.out {
				t.Errorf("output %q, want %q", out, tt.out)
			}
		})
	}
}
