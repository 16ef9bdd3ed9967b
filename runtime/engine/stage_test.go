package engine

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sbxkit/sbxkit/runtime"
)

// seeded gives a directory with a small tree.
func seeded(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{"a.txt": "alpha\n", "sub/b.sh": "#!/bin/sh\necho beta\n"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(dir, "sub/b.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("a.txt", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	return dir
}

func (l *launched) stageWith(snapshot string) {
	l.t.Helper()
	r := l.plan.Request
	note, err := l.res.Stage(within(l.t), &runtime.Stage{Workspace: r.Workspace, Script: r.Script, Credentials: r.Credentials, Snapshot: snapshot})
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Log(note)
}

func (l *launched) startStaged() {
	l.t.Helper()
	p, err := l.res.Start(within(l.t), &runtime.StartRequest{
		Stdin: l.plan.Request.Stdin, Stdout: runtime.Output{Writer: &l.out}, Stderr: runtime.Output{Writer: &l.err},
	})
	if err != nil {
		l.t.Fatal(err)
	}
	l.proc = p
}

func TestStagedThingsAreThereForTheRunsUserUnderAReadOnlyRoot(t *testing.T) {
	eachEngine(t, func(t *testing.T, e underTest) {
		for _, user := range []runtime.User{{}, {Kind: runtime.UserID, UID: 1000, GID: 1000}} {
			t.Run("user "+string(user.Kind), func(t *testing.T) {
				r := e.request("sh", runtime.ScriptTarget, "word")
				r.Script = &runtime.StagedScript{Target: runtime.ScriptTarget, Word: 1, Text: []byte(
					"echo \"script $1\"; cat /run/sbx/credentials/git; cat /tree/a.txt; sh /tree/sub/b.sh; cat /tree/link; echo made > /tree/out.txt; " +
						"ls -ld /run/sbx/credentials/git /tree/a.txt /tree /run/sbx/script | while read mode links uid gid rest; do echo $uid:$gid $mode; done; touch /made 2>/dev/null || echo root is read-only")}
				r.Credentials = []runtime.CredentialGrant{{Role: "git", File: "/run/sbx/credentials/git", Mode: 0o400, Value: []byte("token\n")}}
				r.Workspace = &runtime.Workspace{Mode: runtime.WorkspaceCopy, Target: "/tree"}
				r.Hardening.ReadOnlyRoot = true
				r.Mounts = []runtime.Mount{{Kind: runtime.MountTmpfs, Target: "/run", Size: 1 << 20}}
				r.User = user
				l := prepare(t, e.backend(t), r)
				l.stageWith(seeded(t))
				l.startStaged()
				x := l.wait()
				id := "0:0"
				if user.Kind != "" {
					id = "1000:1000"
				}
				want := "script word\ntoken\nalpha\nbeta\nalpha\n" + id + " -r--------\n" + id + " -rw-r--r--\n" + id + " drwxr-xr-x\n0:0 -r--r--r--\nroot is read-only\n"
				if x.Code != 0 || l.out.String() != want {
					t.Errorf("exit %+v\nstdout %q\n  want %q\nstderr %q", x, l.out.String(), want, l.err.String())
				}

				dir := t.TempDir()
				m, err := l.res.Export(within(t), dir, &runtime.Artifacts{Paths: []string{"/tree/out.txt", "/tree/sub"}})
				if err != nil {
					t.Fatal(err)
				}
				var paths []string
				for _, f := range m.Files {
					paths = append(paths, f.Path)
				}
				if !m.Whole || !slices.Equal(paths, []string{"out.txt", "sub", "sub/b.sh"}) {
					t.Errorf("manifest %+v", m)
				}
				if b, err := os.ReadFile(filepath.Join(dir, "out.txt")); err != nil || string(b) != "made\n" {
					t.Errorf("%q, %v", b, err)
				}
			})
		}
	})
}

func TestExportRefusesWhatGoesOverABound(t *testing.T) {
	eachEngine(t, func(t *testing.T, e underTest) {
		r := e.request("sh", "-c", "mkdir -p /out/a/b; echo 12345 > /out/a/b/c; ln -s /etc/passwd /out/escape; ln -s a/b/c /out/inside")
		l := launch(t, e.backend(t), r)
		if x := l.wait(); x.Code != 0 {
			t.Fatalf("%+v %s", x, l.err.String())
		}
		for _, c := range []struct {
			name  string
			paths []string
			a     runtime.Artifacts
			want  string // in the message, empty for none
		}{
			{"within", []string{"/out/a"}, runtime.Artifacts{}, ""},
			{"bytes", []string{"/out/a"}, runtime.Artifacts{Bytes: 5}, "5 bytes"},
			{"files", []string{"/out/a"}, runtime.Artifacts{Files: 2}, "2 files"},
			{"depth", []string{"/out/a"}, runtime.Artifacts{Depth: 2}, "bound of 2"},
			{"a link out", []string{"/out"}, runtime.Artifacts{}, "out of the tree"},
			{"a link itself", []string{"/out/inside"}, runtime.Artifacts{}, "symbolic link"},
			{"absent", []string{"/out/none"}, runtime.Artifacts{}, "is not in the container"},
		} {
			t.Run(c.name, func(t *testing.T) {
				c.a.Paths = c.paths
				m, err := l.res.Export(within(t), t.TempDir(), &c.a)
				if c.want == "" {
					if err != nil || !m.Whole {
						t.Errorf("%+v, %v", m, err)
					}
					return
				}
				if err == nil || !strings.Contains(err.Error(), c.want) || m.Whole {
					t.Errorf("%+v, %v; want an error with %q and a manifest that is not whole", m, err, c.want)
				}
			})
		}
	})
}
