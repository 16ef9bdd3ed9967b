package process

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	seccomp "github.com/elastic/go-seccomp-bpf"
)

// again is the environment variable by which the suite knows that it runs inside itself, and how.
const again = "SBX_TEST_AGAIN"

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == attemptWord {
		tryAttempt(os.Args[2], strings.Join(os.Args[3:], " "))
		return
	}
	if len(os.Args) == 5 && os.Args[1] == crashWord {
		crashAt(os.Args[2], os.Args[3], os.Args[4])
	}
	if strings.Contains(os.Getenv(again), "without ptrace") {
		if err := denyPtrace(); err != nil {
			fmt.Fprintln(os.Stderr, "denying ptrace:", err)
			os.Exit(2)
		}
	}
	os.Exit(m.Run())
}

// denyPtrace puts a filter around the whole process and all it starts.
func denyPtrace() error {
	return seccomp.LoadFilter(seccomp.Filter{NoNewPrivs: true, Flag: seccomp.FilterFlagTSync, Policy: seccomp.Policy{
		DefaultAction: seccomp.ActionAllow,
		Syscalls:      []seccomp.SyscallGroup{{Names: []string{"ptrace"}, Action: seccomp.ActionErrno}},
	}})
}

// ptraceDenied reports whether this run of the suite has no ptrace.
func ptraceDenied() bool { return strings.Contains(os.Getenv(again), "without ptrace") }

// ordinary is the user the suite runs as beside root.
const ordinary = 65534

// TestTheWholeSuiteElsewhere runs this suite again: as an ordinary user, and where ptrace is refused.
func TestTheWholeSuiteElsewhere(t *testing.T) {
	if how := os.Getenv(again); how != "" {
		t.Skipf("this is the suite %s", how)
	}
	for _, c := range []struct {
		name string
		uid  int
	}{
		{"as an ordinary user", ordinary},
		{"without ptrace", os.Getuid()},
		{"as an ordinary user without ptrace", ordinary},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.uid != os.Getuid() && os.Getuid() != 0 {
				t.Skip("only root can become another user")
			}
			runSuite(t, c.name, c.uid)
		})
	}
}

func runSuite(t *testing.T, how string, uid int) {
	t.Helper()
	dir, err := os.MkdirTemp("", "sbx-suite-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := errorsOf(os.Chmod(dir, 0o755), copyFile(os.Args[0], filepath.Join(dir, "suite.test")), os.Mkdir(filepath.Join(dir, "tmp"), 0o755), os.Chown(filepath.Join(dir, "tmp"), uid, uid)); err != nil {
		t.Fatal(err)
	}
	args := []string{"-test.v", "-test.count=1"}
	if testing.Short() {
		args = append(args, "-test.short")
	}
	cmd := exec.Command(filepath.Join(dir, "suite.test"), args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), again+"="+how, "TMPDIR="+filepath.Join(dir, "tmp"), "HOME="+filepath.Join(dir, "tmp"))
	if uid != os.Getuid() {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
	}
	out, err := cmd.CombinedOutput()
	passed := 0
	var said strings.Builder
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		switch line := strings.TrimSpace(lines.Text()); {
		case strings.HasPrefix(line, "--- PASS"):
			passed++
		case strings.HasPrefix(line, "=== "), strings.HasPrefix(line, "--- SKIP"):
		default:
			fmt.Fprintln(&said, lines.Text())
		}
	}
	if err != nil {
		t.Fatalf("the suite %s: %v\n%s", how, err, said.String())
	}
	if passed == 0 {
		t.Fatalf("the suite %s passed no test\n%s", how, out)
	}
	t.Logf("%d tests passed %s", passed, how)
}

func errorsOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		return err
	}
	return out.Close()
}
