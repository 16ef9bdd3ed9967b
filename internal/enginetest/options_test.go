//go:build linux

package enginetest

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	sbx "github.com/sbxkit/sbxkit/runtime"
)

// TestWhatIsWrittenToABindIsTheRunsUsers writes to a bound workspace as an id and as the caller.
func TestWhatIsWrittenToABindIsTheRunsUsers(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give the workspace to another user")
	}
	each(t, func(t *testing.T, e engine) {
		for _, u := range []sbx.User{{Kind: sbx.UserID, UID: 1234, GID: 2345}, {Kind: sbx.UserCaller}} {
			tree := t.TempDir()
			uid, gid := u.UID, u.GID
			if u.Kind == sbx.UserCaller {
				uid, gid = os.Getuid(), os.Getgid()
			}
			if err := os.Chown(tree, uid, gid); err != nil {
				t.Fatal(err)
			}
			e.shell("echo made > made", func(l *sbx.Launch) {
				l.User, l.Workspace = u, &sbx.Workspace{Source: tree, Mode: sbx.WorkspaceBindRW}
			})
			i, err := os.Stat(filepath.Join(tree, "made"))
			if err != nil {
				t.Fatal(err)
			}
			if s := i.Sys().(*syscall.Stat_t); int(s.Uid) != uid || int(s.Gid) != gid {
				t.Errorf("written as %s, the file is %d:%d's", u.Kind, s.Uid, s.Gid)
			}
		}
	})
}

// TestADeviceIsTheOneOfTheHost reads from a device under another name, which a container has no way to make itself.
func TestADeviceIsTheOneOfTheHost(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		out := e.shell("head -c 4096 /dev/own | wc -c; [ -c /dev/own ] && echo device; [ -e /dev/other ] || echo no other", func(l *sbx.Launch) {
			l.Mounts = []sbx.Mount{{Kind: sbx.MountDevice, Source: "/dev/zero", Target: "/dev/own"}}
		})
		if f := strings.Fields(out); len(f) < 2 || f[0] != "4096" || f[1] != "device" || !strings.Contains(out, "no other") {
			t.Errorf("the command says %q", out)
		}
	})
}

// TestAFilterOfSystemCallsStands asks for the engine's own, and for one that nobody gave a name to.
func TestAFilterOfSystemCallsStands(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		out := e.shell("cat /proc/self/status", func(l *sbx.Launch) { l.Hardening.Seccomp = "default" })
		if !strings.Contains(out, "Seccomp:\t2\n") {
			t.Errorf("no filter stands: %s", out)
		}
		l := e.launch(nil, "true")
		l.Stdout, l.Stderr = nil, nil
		l.Hardening.Seccomp = "strict"
		if _, err := e.box.Plan(t.Context(), l); !errors.Is(err, sbx.ErrDenied) {
			t.Errorf("a filter of another name: %v", err)
		}
	})
}

// TestAnAppArmorProfileIsLoadedOrRefused asks for a profile that no host has: a host without AppArmor is Unsupported, and another refuses it.
func TestAnAppArmorProfileIsLoadedOrRefused(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		var out bytes.Buffer
		l := e.launch(&out, "true")
		l.Hardening.AppArmor = "sbx-no-such-profile"
		res, err := e.box.Run(t.Context(), l)
		want := sbx.ErrUnsupported
		if on, err := os.ReadFile("/sys/module/apparmor/parameters/enabled"); err == nil && strings.HasPrefix(string(on), "Y") {
			want = sbx.ErrSetup
		}
		if !errors.Is(err, want) || sbx.AsFailure(err, "").Cure == "" {
			t.Errorf("a profile that is not there: %v, %v; want %v with a cure", res, err, want)
		}
	})
}

// TestAPortThatListensOnLoopbackEndsTheStart waits for a server inside without a network.
func TestAPortThatListensOnLoopbackEndsTheStart(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		var out bytes.Buffer
		l := e.launch(&out, "sbx-probe", "listen", "127.0.0.1:8080")
		l.Ready = &sbx.Ready{Port: 8080}
		run, err := e.start(t, l)
		if err != nil {
			t.Fatalf("%v: %s", err, out.String())
		}
		if err := run.Kill(t.Context()); err != nil {
			t.Error(err)
		}
		if _, err := run.Wait(t.Context()); err != nil {
			t.Error(err)
		}
		if !strings.HasPrefix(out.String(), "listening") {
			t.Errorf("%q", out.String())
		}
	})
}
