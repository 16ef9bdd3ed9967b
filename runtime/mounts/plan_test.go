package mounts_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/mounts"
	"github.com/sbxkit/sbxkit/runtime/mounts/mountstest"
)

func TestWhatIsPlanned(t *testing.T) {
	tests := []struct {
		name    string
		mounts  []runtime.Mount
		want    []string // kind source target
		dropped int
		note    string // in one of the notes
	}{
		{"proc and dev come after a root bind", []runtime.Mount{at(runtime.MountProc, "/proc"), at(runtime.MountDev, "/dev"), at(runtime.MountTmpfs, "/run"), at(runtime.MountTmpfs, "/home"), ro("/", "/")},
			[]string{"bind-ro / /", "proc  /proc", "dev  /dev", "tmpfs  /run", "tmpfs  /home"}, 0, ""},
		{"ancestors before descendants, ties as declared", []runtime.Mount{at(runtime.MountTmpfs, "/x/b/c"), at(runtime.MountTmpfs, "/x/z"), at(runtime.MountTmpfs, "/x/b"), at(runtime.MountTmpfs, "/x")},
			[]string{"tmpfs  /x", "tmpfs  /x/z", "tmpfs  /x/b", "tmpfs  /x/b/c"}, 0, ""},
		{"equal requests are one", []runtime.Mount{ro("/a", "/x"), ro("/link", "/x/"), ro("/a", "//x/.")}, []string{"bind-ro /a /x"}, 0, ""},
		{"read-only tightens writable", []runtime.Mount{rw("/a", "/x"), ro("/a", "/x")}, []string{"bind-ro /a /x"}, 0, ""},
		{"a mask hides a bind at its place", []runtime.Mount{ro("/a", "/x"), at(runtime.MountMask, "/x")}, []string{"mask-dir  /x"}, 0, ""},
		{"a mask hides a bound file at its place", []runtime.Mount{ro("/a/file", "/x"), at(runtime.MountMask, "/x")}, []string{"mask-file  /x"}, 0, ""},
		{"a mask that says its kind", []runtime.Mount{ro("/a", "/x"), at(runtime.MountMaskDir, "/x/dir"), at(runtime.MountMask, "/x/dir")},
			[]string{"bind-ro /a /x", "mask-dir  /x/dir"}, 0, ""},
		{"a mask is placed where a link leads", []runtime.Mount{ro("/a", "/x"), at(runtime.MountMask, "/x/in")}, []string{"bind-ro /a /x", "mask-dir  /x/dir"}, 0, ""},
		{"a mask of a file of proc", []runtime.Mount{at(runtime.MountMask, "/proc/kcore"), at(runtime.MountProc, "/proc")}, []string{"proc  /proc", "mask-file  /proc/kcore"}, 0, ""},
		{"a mask of a device", []runtime.Mount{at(runtime.MountMask, "/dev/tty"), at(runtime.MountMask, "/dev/shm"), at(runtime.MountMask, "/dev/kvm"), at(runtime.MountDev, "/dev")},
			[]string{"dev  /dev", "mask-file  /dev/tty", "mask-dir  /dev/shm"}, 1, ""},
		{"a mask of nothing below read-only is dropped", []runtime.Mount{ro("/a", "/x"), at(runtime.MountMask, "/x/.env")}, []string{"bind-ro /a /x"}, 1, ""},
		{"a mask of nothing in a tmpfs is dropped", []runtime.Mount{at(runtime.MountTmpfs, "/x"), at(runtime.MountMask, "/x/.env")}, []string{"tmpfs  /x"}, 1, ""},
		{"what stands below a dropped mask stands below its cover", []runtime.Mount{at(runtime.MountTmpfs, "/x"), at(runtime.MountMask, "/x/y"), at(runtime.MountTmpfs, "/x/y/z")},
			[]string{"tmpfs  /x", "tmpfs  /x/y/z"}, 1, ""},
		{"a grant below a mask", []runtime.Mount{ro("/home", "/home"), at(runtime.MountMask, "/home/u"), ro("/home/u/w/main.go", "/home/u/w/main.go")},
			[]string{"bind-ro /home /home", "mask-dir  /home/u", "bind-ro /home/u/w/main.go /home/u/w/main.go"}, 0, ""},
		{"an absent optional bind is dropped", []runtime.Mount{optional(ro("/none", "/x")), optional(ro("/a/away", "/y")), optional(ro("/b", "/z"))}, []string{"bind-ro /b /z"}, 2, ""},
		{"a source through a link", []runtime.Mount{ro("/link/dir", "/x")}, []string{"bind-ro /a/dir /x"}, 0, ""},
		{"a link stays one where it leads to the same", []runtime.Mount{ro("/link", "/link"), ro("/a", "/a")}, []string{"symlink a /link", "bind-ro /a /a"}, 0, ""},
		{"a link is bound where it would lead elsewhere", []runtime.Mount{ro("/link", "/link"), ro("/b", "/a")}, []string{"bind-ro /a /link", "bind-ro /b /a"}, 0, ""},
		{"a writable link is bound where its end is read-only", []runtime.Mount{rw("/link", "/link"), ro("/a", "/a")}, []string{"bind-rw /a /link", "bind-ro /a /a"}, 0, ""},
		{"what stands below a link stands where it leads", []runtime.Mount{ro("/link", "/link"), at(runtime.MountTmpfs, "/link/dir"), ro("/a", "/a")},
			[]string{"symlink a /link", "bind-ro /a /a", "tmpfs  /a/dir"}, 0, ""},
		{"a link asked for beside the bind of it", []runtime.Mount{link("a", "/link"), ro("/link", "/link"), ro("/a", "/a")}, []string{"symlink a /link", "bind-ro /a /a"}, 0, ""},
		{"a target through a link of the host", []runtime.Mount{ro("/a", "/x"), ro("/b", "/x/in")}, []string{"bind-ro /a /x", "bind-ro /b /x/dir"}, 0, ""},
		{"a target through links of the plan", []runtime.Mount{at(runtime.MountTmpfs, "/p/q/r"), link("/s", "/p"), link("../t/./u", "/s/q")},
			[]string{"symlink /s /p", "symlink ../t/./u /s/q", "tmpfs  /t/u/r"}, 0, ""},
		{"a link that stands there already", []runtime.Mount{ro("/a", "/x"), link("dir", "/x/in")}, []string{"bind-ro /a /x"}, 0, ""},
		{"a target made on the host is noted", []runtime.Mount{rw("/a", "/x"), at(runtime.MountTmpfs, "/x/new")}, []string{"bind-rw /a /x", "tmpfs  /x/new"}, 0, `leaves an empty directory at "/a/new"`},
		{"a masked socket is not shown", []runtime.Mount{rw("/home/u/w", "/w"), at(runtime.MountMask, "/w/s")}, []string{"bind-rw /home/u/w /w", "mask-file  /w/s"}, 0, ""},
		{"a socket of the policy", []runtime.Mount{{Kind: runtime.MountSocket, Source: "/run/docker.sock", Target: "/s", Origin: "policy"}}, []string{"socket /run/docker.sock /s"}, 0, ""},
		{"a device", []runtime.Mount{{Kind: runtime.MountDevice, Source: "/dev/kvm", Target: "/dev/kvm"}, at(runtime.MountDev, "/dev")}, []string{"dev  /dev", "device /dev/kvm /dev/kvm"}, 0, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			asked := slices.Clone(tt.mounts)
			host := small()
			res, err := mounts.Plan(mounts.Input{Mounts: tt.mounts, Host: host})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, m := range res.Mounts {
				got = append(got, fmt.Sprintf("%s %s %s", m.Kind, m.Source, m.Target))
				if m.Optional {
					t.Errorf("%v is still optional", m)
				}
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("plan (-want +got):\n%s", d)
			}
			if len(res.Dropped) != tt.dropped {
				t.Errorf("dropped %q", res.Dropped)
			}
			if tt.note != "" && !strings.Contains(strings.Join(res.Notes, "\n"), tt.note) {
				t.Errorf("notes %q do not say %q", res.Notes, tt.note)
			}
			if d := cmp.Diff(asked, tt.mounts); d != "" {
				t.Errorf("the input was changed (-before +after):\n%s", d)
			}
			perform(t, host, res.Mounts)
		})
	}
}

func TestAllowedSocketsAreNotedWithTheirReason(t *testing.T) {
	for _, allowed := range []string{"/run/docker.sock", "/run", "/var/run/docker.sock"} {
		host := small()
		host.Link("/var/run", "/run")
		in := mounts.Input{Mounts: []runtime.Mount{ro("/run/docker.sock", "/s")}, Host: host, Sockets: []mounts.Socket{{Path: allowed, Because: "builds images"}}}
		res, err := mounts.Plan(in)
		if err != nil {
			t.Fatalf("%s: %v", allowed, err)
		}
		if len(res.Notes) != 1 || !strings.Contains(res.Notes[0], "builds images") {
			t.Errorf("%s: notes %q", allowed, res.Notes)
		}
	}
}

func TestSocketsAreFoundAtAnyDepthWhereTheKernelListsThem(t *testing.T) {
	host := small()
	in := mounts.Input{Mounts: []runtime.Mount{ro("/run/other", "/o")}, Host: host}
	if _, err := mounts.Plan(in); err != nil {
		t.Fatalf("four directories deep and not listed: %v", err)
	}
	host.File("/proc/net/unix", "Num       RefCount Protocol Flags    Type St Inode Path\n"+
		"ffff: 00000002 00000000 00010000 0001 01 22222 @/abstract/run/other\n"+
		"ffff: 00000002 00000000 00010000 0001 01 22223 /run/other/gone\n"+
		"ffff: 00000002 00000000 00010000 0001 01 22224 /run/other/deep/down/there/s\n")
	_, err := mounts.Plan(in)
	if !errors.Is(err, runtime.ErrDenied) || !strings.Contains(err.Error(), "/run/other/deep/down/there/s") {
		t.Fatalf("err = %v", err)
	}
	in.Mounts = append(in.Mounts, at(runtime.MountTmpfs, "/o/deep/down"))
	if _, err := mounts.Plan(in); err != nil {
		t.Errorf("hidden by a tmpfs: %v", err)
	}
}

func TestWithoutAHostNothingIsLookedAt(t *testing.T) {
	tool := mounts.Tool{Name: "docker", Image: true}
	res, err := mounts.Plan(mounts.Input{Tool: tool, Mounts: []runtime.Mount{
		at(runtime.MountMaskFile, "/data/x/secret"), rw("/srv/x", "/data/x"), ro("/srv", "/data"), at(runtime.MountTmpfs, "/tmp"),
		{Kind: runtime.MountVolume, Source: "cache", Target: "/cache"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	want := "bind-ro /srv /data\ntmpfs  /tmp\nvolume cache /cache\nbind-rw /srv/x /data/x\nmask-file  /data/x/secret\n"
	if got := strings.ReplaceAll(lines(res.Mounts), "", ""); !sameOps(got, want) {
		t.Errorf("plan:\n%s", got)
	}
	tests := []struct {
		name  string
		mount runtime.Mount
		kind  error
	}{
		{"a mask without a kind", at(runtime.MountMask, "/etc/shadow"), runtime.ErrUnsupported},
		{"an optional bind", optional(ro("/srv", "/srv")), runtime.ErrUnsupported},
		{"the engine's socket", ro("/var/run/docker.sock", "/s"), runtime.ErrDenied},
		{"the directory of the engine's socket", ro("/run", "/r"), runtime.ErrDenied},
		{"the host's root", ro("/", "/host"), runtime.ErrDenied},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := mounts.Plan(mounts.Input{Tool: tool, Mounts: []runtime.Mount{tt.mount}}); !errors.Is(err, tt.kind) {
				t.Errorf("err = %v, want %v", err, tt.kind)
			}
		})
	}
}

func sameOps(got, want string) bool {
	for line := range strings.Lines(got) {
		op, _, _ := strings.Cut(line, "  (mounts")
		next, rest, _ := strings.Cut(want, "\n")
		if op != next {
			return false
		}
		want = rest
	}
	return want == ""
}

func TestParentsAreMadeWhereTheToolDoesNot(t *testing.T) {
	res, err := mounts.Plan(mounts.Input{Host: small(), Tool: mounts.Tool{NoParents: true}, Mounts: []runtime.Mount{
		at(runtime.MountTmpfs, "/x/y/t"), at(runtime.MountFile, "/x/y/u/f"), ro("/a", "/a"), at(runtime.MountTmpfs, "/a/dir"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	want := "bind-ro /a /a\ntmpfs  /a/dir\ndir  /x\ndir  /x/y\ntmpfs  /x/y/t\ndir  /x/y/u\nfile  /x/y/u/f\n"
	if got := lines(res.Mounts); !sameOps(got, want) {
		t.Errorf("plan:\n%s", got)
	}
}

func TestAGitWorktreeSaysWhatItNeeds(t *testing.T) {
	host := mountstest.Parse(`
		/repo/.git/config
		/repo/.git/worktrees/w/HEAD
		/repo/.git/worktrees/w/commondir : ../..
		/wt/.git : gitdir: /repo/.git/worktrees/w
		/repo/mod/.git : gitdir: ../.git/modules/mod
		/repo/.git/modules/mod/HEAD
		/plain/.git/config
		/odd/.git : something else`)
	tests := []struct {
		name   string
		mounts []runtime.Mount
		need   string // directory named by the note; empty for no note
	}{
		{"worktree alone", []runtime.Mount{rw("/wt", "/workspace")}, "/repo/.git"},
		{"worktree with its repository", []runtime.Mount{rw("/wt", "/workspace"), ro("/repo/.git", "/repo/.git")}, ""},
		{"worktree with its repository elsewhere", []runtime.Mount{rw("/wt", "/workspace"), ro("/repo/.git", "/git")}, "/repo/.git"},
		{"worktree with its own part only", []runtime.Mount{rw("/wt", "/wt"), ro("/repo/.git/worktrees/w", "/repo/.git/worktrees/w")}, "/repo/.git"},
		{"submodule alone", []runtime.Mount{rw("/repo/mod", "/m/mod")}, "/m/.git/modules/mod"},
		{"submodule in its repository", []runtime.Mount{rw("/repo/mod", "/repo/mod"), ro("/repo", "/repo")}, ""},
		{"plain repository", []runtime.Mount{rw("/plain", "/plain")}, ""},
		{"some other file", []runtime.Mount{rw("/odd", "/odd")}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res, err := mounts.Plan(mounts.Input{Mounts: tt.mounts, Host: host})
			if err != nil {
				t.Fatal(err)
			}
			notes := strings.Join(res.Notes, "\n")
			if tt.need == "" && notes != "" || !strings.Contains(notes, tt.need) {
				t.Errorf("notes %q, want one about %q", notes, tt.need)
			}
		})
	}
}

func TestEachPathIsLookedAtOnce(t *testing.T) {
	for _, l := range mountstest.Layouts() {
		if _, err := mounts.Plan(mounts.Input{Mounts: l.Mounts, Host: l.Host}); err != nil {
			t.Fatal(err)
		}
		for p, n := range l.Host.Lstats {
			if n > 1 {
				t.Errorf("%s: %d lstats of %s", l.Name, n, p)
			}
		}
	}
}
