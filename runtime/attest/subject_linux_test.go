package attest

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sbxkit/sbxkit/runtime"
)

// child starts a process that waits for its stdin to end: an unsandboxed one, with the environment given.
func child(t *testing.T, env ...string) int {
	t.Helper()
	cmd := exec.Command("cat")
	cmd.Env = env
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{}
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
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
	// What it answers shows that it is itself by now.
	if _, err := io.WriteString(in, "x"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	return cmd.Process.Pid
}

// TestAnUnsandboxedProcessKeepsNoClaim measures every claim of a process that shares everything with us.
func TestAnUnsandboxedProcessKeepsNoClaim(t *testing.T) {
	pid := child(t, "PATH=/usr/bin:/bin", "EXTRA=secret")
	var own unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &own); err != nil {
		t.Fatal(err)
	}
	e := &Expect{
		Request: &runtime.Request{
			Command: []string{"sh"}, Dir: "/usr", Env: []runtime.Variable{{Name: "PATH", Value: "/usr/bin:/bin"}},
			User:   runtime.User{Kind: runtime.UserID, UID: os.Getuid() + 1, GID: os.Getgid()},
			Limits: runtime.Limits{OpenFiles: runtime.AtMost(own.Cur - 1)},
			Mounts: []runtime.Mount{{Kind: runtime.MountTmpfs, Target: "/no/such/place"}},
		},
		Descriptors: []int{0, 1, 2, 9},
	}
	s := NewSubject(pid, e)
	defer s.Close()
	for name := range measures {
		switch name {
		case "hardening.apparmor", "hardening.parent-death":
			continue
		}
		if g := s.Measure(runtime.Claim{Name: name, Required: true}, runtime.WhenHeld); g.Measured != runtime.MeasuredBroken {
			// A container around us may have set some of it already.
			if st, err := ReadStatus(os.Getpid()); err == nil && (name == "hardening.no-new-privileges" && st.NoNewPrivs || name == "hardening.capabilities" && st.Permitted == 0) {
				continue
			}
			t.Errorf("%s came out %q: %s", name, g.Measured, g.Evidence)
		} else if strings.Contains(g.Evidence, "secret") {
			t.Errorf("%s shows a value: %s", name, g.Evidence)
		}
	}
	if g := s.Measure(runtime.Claim{Name: "limits.open-files"}, runtime.WhenHeld); g.Measured != runtime.MeasuredBroken {
		t.Errorf("limits.open-files came out %q: %s", g.Measured, g.Evidence)
	}
	if g := s.Measure(runtime.Claim{Name: "hardening.parent-death"}, runtime.WhenHeld); g.Measured != runtime.MeasuredClaimed {
		t.Errorf("hardening.parent-death came out %q: %s", g.Measured, g.Evidence)
	}
}

func TestAProcessThatIsGoneIsUnknown(t *testing.T) {
	cmd := exec.Command("true")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	s := NewSubject(cmd.Process.Pid, &Expect{Request: &runtime.Request{Command: []string{"true"}}})
	defer s.Close()
	for name := range measures {
		if name == "hardening.parent-death" {
			continue
		}
		if g := s.Measure(runtime.Claim{Name: name}, runtime.WhenHeld); g.Measured != runtime.MeasuredUnknown {
			t.Errorf("%s came out %q: %s", name, g.Measured, g.Evidence)
		}
	}
}

func TestEnvironmentIsComparedToTheByte(t *testing.T) {
	planned := []runtime.Variable{{Name: "A", Value: "1"}, {Name: "B", Value: "a=b=c"}}
	for _, c := range []struct {
		name string
		env  []string
		want runtime.Measured
	}{
		{"as planned", []string{"A=1", "B=a=b=c"}, runtime.MeasuredHolds},
		{"another order", []string{"B=a=b=c", "A=1"}, runtime.MeasuredHolds},
		{"with the launcher's own", []string{"A=1", "B=a=b=c", "PWD=/"}, runtime.MeasuredHolds},
		{"one more", []string{"A=1", "B=a=b=c", "C=secret"}, runtime.MeasuredBroken},
		{"another value", []string{"A=secret", "B=a=b=c"}, runtime.MeasuredBroken},
		{"one less", []string{"A=1"}, runtime.MeasuredBroken},
		{"none", []string{}, runtime.MeasuredBroken},
		{"long", []string{"A=1", "B=" + strings.Repeat("x", 100_000)}, runtime.MeasuredBroken},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := NewSubject(child(t, c.env...), &Expect{Request: &runtime.Request{Env: planned}, Added: []string{"PWD"}})
			defer s.Close()
			g := s.Measure(runtime.Claim{Name: "environment"}, runtime.WhenExec)
			if g.Measured != c.want || strings.Contains(g.Evidence, "secret") {
				t.Errorf("%+v", g)
			}
		})
	}
}

func TestStatIsReadBehindAStrangeName(t *testing.T) {
	s, err := parseStat([]byte("42 (a) b) (c) S 7 8 9 1025 10 0 0 0 0 0 0 0 0 0 20 0 1 0 987654 0"))
	if err != nil || s != (Stat{State: 'S', Parent: 7, Group: 8, Session: 9, Terminal: 1025, StartTime: 987654, Executed: true}) {
		t.Errorf("%+v, %v", s, err)
	}
	if s, err := parseStat([]byte("42 (a) S 7 8 9 1025 10 4194368 0 0 0 0 0 0 0 0 20 0 1 0 987654 0")); err != nil || s.Executed {
		t.Errorf("of a process that was only forked: %+v, %v", s, err)
	}
	for _, bad := range []string{"", "42 (x", "42 (x) S 1 2", "42 (x) S a b c d e f g h i j k l m n o p q r s t u"} {
		if _, err := parseStat([]byte(bad)); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

func TestAStatusWithoutItsLinesIsAnError(t *testing.T) {
	if s, err := parseStatus([]byte("Name:\tx\nUid:\t0\t0\t0\t0\n")); err == nil {
		t.Errorf("read as %+v: an absent set would look empty", s)
	}
}
