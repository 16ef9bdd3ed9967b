package engine

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sbxkit/sbxkit/runtime"
)

// fakeSSH puts a program called ssh first in PATH that writes its words to a file and then acts as given; without anything given it runs the
// other side's command here, as an ssh to this host would.
func fakeSSH(t *testing.T, act string) (said func() string) {
	t.Helper()
	dir := t.TempDir()
	log := filepath.Join(dir, "words")
	if act == "" {
		act = `while [ "$1" != -- ]; do shift; done; shift 2; exec sh -c "$*"`
	}
	script := fmt.Sprintf("#!/bin/sh\nprintf '%%s|' \"$@\" > %s\n%s\n", log, act)
	if err := os.WriteFile(filepath.Join(dir, "ssh"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return func() string {
		b, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
}

func TestARunOverSSH(t *testing.T) {
	eachEngine(t, func(t *testing.T, e underTest) {
		said := fakeSSH(t, "")
		e.endpoint = "ssh://me@there:2222" + strings.TrimPrefix(e.endpoint, "unix://")
		b := e.backend(t)
		r := e.request("sh", "-c", "cat; echo err >&2; exit 7")
		r.Stdin = runtime.StdinPipe
		l := launch(t, b, r)
		if _, err := l.proc.Stdin().Write([]byte("typed\n")); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := l.proc.Stdin().Close(); err != nil {
				t.Fatal(err)
			}
		}
		if x := l.wait(); x.Code != 7 || l.out.String() != "typed\n" || l.err.String() != "err\n" {
			t.Errorf("exit %+v, stdout %q, stderr %q", x, l.out.String(), l.err.String())
		}
		// The words are one program's and the other side's shell gets one command; -- keeps a host from being an option.
		want := "-T|-o|BatchMode=yes|-o|ConnectTimeout=10|-l|me|-p|2222|--|there|" + e.program + " " + hostFlag(e.program) + " unix://"
		if s := said(); !strings.HasPrefix(s, want) || !strings.HasSuffix(s, " system dial-stdio|") {
			t.Errorf("ssh was called with %s, want %s…", s, want)
		}
		if d, err := l.res.Remove(within(t)); err != nil || !d.Confirmed {
			t.Errorf("removal: %+v, %v", d, err)
		}
	})
}

func TestTheProgramsOwnSSHIsTheUsersToo(t *testing.T) {
	eachProgram(t, func(t *testing.T, e underTest) {
		if e.program == "podman" {
			t.Skip("Podman's program speaks ssh by itself, and needs a server for it")
		}
		fakeSSH(t, "")
		t.Setenv("DOCKER_HOST", e.endpoint) // for the other side
		e.endpoint = "ssh://me@there"
		b := e.backend(t)
		if x := launch(t, b, e.request("sh", "-c", "exit 7")).wait(); x.Code != 7 {
			t.Errorf("%+v", x)
		}
	})
}

func TestAnSSHThatReachesNothingIsUnsupported(t *testing.T) {
	for _, c := range []struct {
		name, act string
		want      error
		says      string
	}{
		{"refused", "echo 'ssh: connect to host there port 22: Connection refused' >&2; exit 255", runtime.ErrUnsupported, "Connection refused"},
		{"no program there", "echo 'sh: docker: not found' >&2; exit 127", runtime.ErrUnsupported, "not found"},
		{"says nothing and ends", "exit 1", runtime.ErrUnsupported, "exit status 1"},
		{"hangs", "exec sleep 1000", runtime.ErrSetup, "did not answer"},
		{"another server", "cat >/dev/null & echo hello", runtime.ErrSetup, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			fakeSSH(t, c.act)
			b := impatient(underTest{name: "Docker Engine", program: "docker", endpoint: "ssh://there"}.backend(t))
			_, err := b.Probe(within(t), runtime.ProbeRequest{})
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) || runtime.AsFailure(err, "").Cure == "" {
				t.Errorf("%v, want %v with %q and a cure", err, c.want, c.says)
			}
		})
	}
	t.Run("no ssh", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir())
		b := underTest{name: "Docker Engine", program: "docker", endpoint: "ssh://there"}.backend(t)
		if _, err := b.Probe(within(t), runtime.ProbeRequest{}); !errors.Is(err, runtime.ErrUnsupported) || !errors.Is(err, exec.ErrNotFound) {
			t.Errorf("%v", err)
		}
	})
}

func TestClosingAConnectionOverSSHEndsItsProcess(t *testing.T) {
	fakeSSH(t, "exec sleep 1000")
	dial, err := sshDialer(endpoint{host: "ssh://there"}, "docker", os.Environ())
	if err != nil {
		t.Fatal(err)
	}
	c, err := dial(within(t), "", "")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	select {
	case <-c.(*sshConn).exited:
	default:
		t.Error("the ssh lives on")
	}
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Error("a closed connection is read")
	}
}
