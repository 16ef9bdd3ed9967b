package mounts_test

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/mounts"
	"github.com/sbxkit/sbxkit/runtime/mounts/mountstest"
)

func ro(source, target string) runtime.Mount {
	return runtime.Mount{Kind: runtime.MountBindRO, Source: source, Target: target}
}

func rw(source, target string) runtime.Mount {
	return runtime.Mount{Kind: runtime.MountBindRW, Source: source, Target: target}
}

func at(kind runtime.MountKind, target string) runtime.Mount {
	return runtime.Mount{Kind: kind, Target: target}
}

func link(text, target string) runtime.Mount {
	return runtime.Mount{Kind: runtime.MountSymlink, Source: text, Target: target}
}

func optional(m runtime.Mount) runtime.Mount {
	m.Optional = true
	return m
}

func small() *mountstest.FS {
	return mountstest.Parse(`
		/a/file
		/a/dir/x
		/a/up -> ..
		/a/loop -> loop
		/a/away -> /nowhere
		/a/in -> dir
		/b/file
		/b/sub/y
		/link -> a
		/run/docker.sock =
		/run/user/1000/bus =
		/run/other/deep/down/there/s =
		/proc/net/unix : Num RefCount Protocol Flags Type St Inode Path
		/proc/kcore
		/proc/self -> 4711
		/proc/4711/fd/
		/dev/null %
		/dev/kvm %
		/home/u/w/main.go
		/home/u/w/.env
		/home/u/w/s =`)
}

func TestWhatIsRefusedNamesEveryRequestConcerned(t *testing.T) {
	long := "/" + strings.Repeat("x/", 2100)
	tests := []struct {
		name   string
		mounts []runtime.Mount
		kind   runtime.Kind
		is     error    // nil: not asked
		says   []string // each must be in the message
	}{
		{"relative target", []runtime.Mount{ro("/a", "a")}, runtime.Denied, nil, []string{`mounts[0] (bind-ro "/a" at "a")`, "relative"}},
		{"dot-dot target", []runtime.Mount{ro("/a", "/x/../y")}, runtime.Denied, nil, []string{`".."`}},
		{"dot-dot at the end", []runtime.Mount{at(runtime.MountTmpfs, "/x/..")}, runtime.Denied, nil, []string{`".."`}},
		{"NUL in target", []runtime.Mount{ro("/a", "/x\x00y")}, runtime.Denied, nil, []string{"NUL"}},
		{"empty target", []runtime.Mount{at(runtime.MountTmpfs, "")}, runtime.Denied, nil, []string{"empty"}},
		{"target too long", []runtime.Mount{at(runtime.MountTmpfs, long)}, runtime.Denied, nil, []string{"bytes"}},
		{"relative source", []runtime.Mount{ro("a", "/a")}, runtime.Denied, nil, []string{"source is relative"}},
		{"dot-dot source", []runtime.Mount{ro("/a/..", "/a")}, runtime.Denied, nil, []string{`".."`}},
		{"NUL in source", []runtime.Mount{rw("/a\x00", "/a")}, runtime.Denied, nil, []string{"NUL"}},
		{"NUL in a link", []runtime.Mount{link("a\x00b", "/l")}, runtime.Denied, nil, []string{"NUL"}},
		{"empty link", []runtime.Mount{link("", "/l")}, runtime.Denied, nil, []string{"empty"}},
		{"unknown kind", []runtime.Mount{at("overlay", "/l")}, runtime.Unsupported, nil, []string{"overlay"}},
		{"file as the root", []runtime.Mount{at(runtime.MountFile, "/")}, runtime.Denied, nil, []string{"root"}},
		{"negative size", []runtime.Mount{{Kind: runtime.MountTmpfs, Target: "/t", Size: -1}}, runtime.Denied, nil, []string{"negative"}},
		{"size of a bind", []runtime.Mount{{Kind: runtime.MountBindRO, Source: "/a", Target: "/t", Size: 1}}, runtime.Denied, nil, []string{"size"}},

		{"absent source", []runtime.Mount{ro("/a/none", "/x")}, runtime.Setup, fs.ErrNotExist, []string{`"/a/none"`, "does not exist"}},
		{"source below a file", []runtime.Mount{ro("/a/file/x", "/x")}, runtime.Setup, syscall.ENOTDIR, []string{"/a/file"}},
		{"dangling source", []runtime.Mount{ro("/a/away", "/x")}, runtime.Setup, fs.ErrNotExist, []string{"/nowhere"}},
		{"source in a circle", []runtime.Mount{ro("/a/loop", "/x")}, runtime.Setup, syscall.ELOOP, []string{"/a/loop"}},
		{"source in a circle, optional", []runtime.Mount{optional(ro("/a/loop", "/x"))}, runtime.Setup, syscall.ELOOP, nil},
		{"source of this process", []runtime.Mount{ro("/proc/self/fd", "/x")}, runtime.Denied, nil, []string{"/proc/4711/fd"}},
		{"optional and writable", []runtime.Mount{optional(rw("/a/none", "/x"))}, runtime.Denied, nil, []string{"optional"}},
		{"optional mask", []runtime.Mount{optional(at(runtime.MountMask, "/x"))}, runtime.Denied, nil, []string{"optional"}},
		{"socket that is none", []runtime.Mount{{Kind: runtime.MountSocket, Source: "/a/file", Target: "/s"}}, runtime.Setup, nil, []string{"not a unix socket"}},
		{"device that is none", []runtime.Mount{{Kind: runtime.MountDevice, Source: "/a/file", Target: "/s"}}, runtime.Setup, nil, []string{"device"}},

		{"two binds at one place", []runtime.Mount{ro("/a", "/x"), ro("/b", "/x")}, runtime.Denied, nil, []string{"mounts[1]", "mounts[0]", `"/b"`, `"/a"`}},
		{"two binds at one place by a link", []runtime.Mount{ro("/a", "/a"), ro("/b/sub", "/a/dir"), ro("/b", "/a/in")}, runtime.Denied, nil, []string{"mounts[2]", "mounts[1]"}},
		{"tmpfs over a bind", []runtime.Mount{ro("/a", "/x"), at(runtime.MountTmpfs, "/x/")}, runtime.Denied, nil, []string{"mounts[1]", "mounts[0]"}},
		{"tmpfs of two sizes", []runtime.Mount{at(runtime.MountTmpfs, "/x"), {Kind: runtime.MountTmpfs, Target: "/x", Size: 9}}, runtime.Denied, nil, []string{"mounts[1]", "mounts[0]"}},
		{"read-only made writable", []runtime.Mount{ro("/a", "/x"), rw("/a", "/x")}, runtime.Denied, nil, []string{"mounts[1]", "mounts[0]"}},
		{"mask lifted", []runtime.Mount{at(runtime.MountMask, "/x"), ro("/a", "/x")}, runtime.Denied, nil, []string{"mounts[1]", "mounts[0]"}},
		{"bind at a link of the plan", []runtime.Mount{link("y", "/x"), ro("/a", "/x")}, runtime.Denied, nil, []string{"mounts[1]", "mounts[0]"}},

		{"below a file of the plan", []runtime.Mount{at(runtime.MountFile, "/f"), at(runtime.MountTmpfs, "/f/x")}, runtime.Denied, nil, []string{"mounts[1]", "mounts[0]", "no directory"}},
		{"below a bound file", []runtime.Mount{ro("/a/file", "/f"), at(runtime.MountTmpfs, "/f/x/y")}, runtime.Denied, nil, []string{"mounts[1]", "mounts[0]"}},
		{"below a file of the host", []runtime.Mount{rw("/a", "/x"), at(runtime.MountTmpfs, "/x/file/y")}, runtime.Setup, syscall.ENOTDIR, []string{"mounts[1]", "mounts[0]"}},
		{"absent below read-only", []runtime.Mount{ro("/a", "/x"), at(runtime.MountTmpfs, "/x/none")}, runtime.Setup, fs.ErrNotExist, []string{"mounts[1]", "mounts[0]", "/a/none"}},
		{"absent below proc", []runtime.Mount{at(runtime.MountProc, "/proc"), at(runtime.MountTmpfs, "/proc/none")}, runtime.Setup, fs.ErrNotExist, []string{"mounts[1]", "mounts[0]"}},
		{"below this process's proc", []runtime.Mount{at(runtime.MountProc, "/proc"), at(runtime.MountTmpfs, "/proc/self/fd")}, runtime.Denied, nil, []string{"/proc/4711"}},
		{"directory over a file", []runtime.Mount{ro("/a", "/x"), ro("/b", "/x/file")}, runtime.Setup, nil, []string{"mounts[1]", "mounts[0]", "directory"}},
		{"file over a directory", []runtime.Mount{ro("/a", "/x"), ro("/b/file", "/x/dir")}, runtime.Setup, nil, []string{"mounts[1]", "mounts[0]", "directory"}},
		{"link on the host", []runtime.Mount{rw("/a", "/x"), link("y", "/x/new")}, runtime.Denied, nil, []string{"mounts[1]", "mounts[0]", "host"}},
		{"link below read-only", []runtime.Mount{ro("/a", "/x"), link("y", "/x/new")}, runtime.Setup, nil, []string{"mounts[1]", "mounts[0]"}},
		{"link over a file", []runtime.Mount{ro("/a", "/x"), link("y", "/x/file")}, runtime.Setup, nil, []string{"mounts[1]", "mounts[0]"}},
		{"target in a circle", []runtime.Mount{ro("/a", "/x"), at(runtime.MountTmpfs, "/x/loop/y")}, runtime.Setup, syscall.ELOOP, []string{"mounts[1]"}},
		{"target in a circle of the plan", []runtime.Mount{link("q", "/p"), link("p", "/q"), at(runtime.MountTmpfs, "/p/y")}, runtime.Setup, syscall.ELOOP, []string{"mounts[2]"}},

		{"mask of nothing below a writable bind", []runtime.Mount{rw("/a", "/x"), at(runtime.MountMask, "/x/.env")}, runtime.Denied, nil, []string{"mounts[1]", "mounts[0]", "/a/.env"}},
		{"mask of nothing that is writable elsewhere", []runtime.Mount{ro("/a", "/x"), rw("/a", "/y"), at(runtime.MountMask, "/x/.env")}, runtime.Denied, nil, []string{"mounts[2]", "mounts[1]"}},
		{"mask-file of a directory", []runtime.Mount{ro("/a", "/x"), at(runtime.MountMaskFile, "/x/dir")}, runtime.Setup, nil, []string{"mounts[1]", "directory"}},
		{"mask of what is shown elsewhere", []runtime.Mount{ro("/a", "/x"), rw("/a", "/y"), at(runtime.MountMask, "/x/file")}, runtime.Denied, nil, []string{"mounts[2]", "mounts[1]", `"/y/file"`}},

		{"engine socket", []runtime.Mount{ro("/run/docker.sock", "/s")}, runtime.Denied, nil, []string{"/run/docker.sock"}},
		{"directory of the engine socket", []runtime.Mount{ro("/run", "/run")}, runtime.Denied, nil, []string{"/run/docker.sock"}},
		{"root with the engine socket", []runtime.Mount{ro("/", "/")}, runtime.Denied, nil, []string{"/run/docker.sock"}},
		{"user bus", []runtime.Mount{ro("/run/user/1000", "/r")}, runtime.Denied, nil, []string{"/run/user/1000/bus"}},
		{"socket in the workspace", []runtime.Mount{rw("/home/u/w", "/w")}, runtime.Denied, nil, []string{"/home/u/w/s"}},
		{"socket asked for by a launch", []runtime.Mount{{Kind: runtime.MountSocket, Source: "/run/docker.sock", Target: "/s", Origin: "launch.Mounts[0]"}}, runtime.Denied, nil, []string{"launch.Mounts[0]"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res, err := mounts.Plan(mounts.Input{Mounts: tt.mounts, Host: small()})
			if err == nil {
				t.Fatalf("planned:\n%s", lines(res.Mounts))
			}
			var f *runtime.Failure
			if !errors.As(err, &f) || f.Kind != tt.kind || f.Step != runtime.StepPlan {
				t.Fatalf("%v is not %s of step plan", err, tt.kind)
			}
			if tt.is != nil && !errors.Is(err, tt.is) {
				t.Errorf("%v does not wrap %v", err, tt.is)
			}
			for _, s := range tt.says {
				if !strings.Contains(err.Error(), s) {
					t.Errorf("%q does not say %q", err, s)
				}
			}
		})
	}
}

func TestBudgetsAreCheckedAtPlanTime(t *testing.T) {
	many := make([]runtime.Mount, 10)
	for i := range many {
		many[i] = runtime.Mount{Kind: runtime.MountFile, Target: "/f" + string(rune('a'+i))}
	}
	fiveAFile := func(m *runtime.Mount) int {
		if m.Kind == runtime.MountFile {
			return 5
		}
		return 0
	}
	tests := []struct {
		name string
		tool mounts.Tool
		ok   bool
		says string
	}{
		{"words fit exactly", mounts.Tool{Name: "bwrap", Words: 50, UsedWords: 20}, true, ""},
		{"one word too many", mounts.Tool{Name: "bwrap", Words: 49, UsedWords: 20}, false, "49 words that \"bwrap\" takes"},
		{"words by kind", mounts.Tool{Words: 50, UsedWords: 0, WordsOf: fiveAFile}, true, ""},
		{"too many words by kind", mounts.Tool{Words: 49, WordsOf: fiveAFile}, false, "words"},
		{"word too long", mounts.Tool{WordBytes: 2}, false, "3 bytes"},
		{"descriptors fit exactly", mounts.Tool{FirstDescriptor: 6, DescriptorLimit: 16}, true, ""},
		{"descriptors run out", mounts.Tool{FirstDescriptor: 6, DescriptorLimit: 15}, false, "descriptors"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			asked := many
			if tt.tool.WordBytes != 0 {
				asked = []runtime.Mount{at(runtime.MountTmpfs, "/ab")}
			}
			res, err := mounts.Plan(mounts.Input{Mounts: asked, Host: small(), Tool: tt.tool})
			if tt.ok != (err == nil) {
				t.Fatalf("err = %v", err)
			}
			if err != nil && (!errors.Is(err, runtime.ErrUnsupported) || !strings.Contains(err.Error(), tt.says)) {
				t.Errorf("%v does not say %q", err, tt.says)
			}
			if err == nil && tt.tool.FirstDescriptor != 0 {
				for i, m := range res.Mounts {
					if m.Descriptor != 6+i {
						t.Errorf("descriptor %d of operation %d", m.Descriptor, i)
					}
				}
				if res.NextDescriptor != 16 {
					t.Errorf("next descriptor %d", res.NextDescriptor)
				}
			}
		})
	}
}
