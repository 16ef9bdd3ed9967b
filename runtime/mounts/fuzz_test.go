package mounts_test

import (
	"errors"
	"path"
	"strings"
	"testing"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/mounts"
	"github.com/sbxkit/sbxkit/runtime/mounts/mountstest"
)

// FuzzPaths plans with any bytes as source, target and link text: the plan holds only clean absolute places without links, or is refused
// as a Failure; and the tool can carry it out.
func FuzzPaths(f *testing.F) {
	f.Add("/a", "/x", "y")
	f.Add("/a b/\n", "/--x/\xff", "../..")
	f.Add("/a/../b", "/x//y/./", "/")
	f.Add("/link", "/link/x", "link")
	f.Add("/a\x00", "//", "\x00")
	f.Add("/proc/self", "/proc/self/x", "loop")
	f.Fuzz(func(t *testing.T, source, target, text string) {
		host := small()
		if name := path.Clean("/" + source); !strings.Contains(source, "\x00") && name != "/" {
			if _, err := host.Lstat(name); err != nil {
				makeFile(host, name)
			}
		}
		for _, list := range [][]runtime.Mount{
			{ro(source, target), at(runtime.MountTmpfs, "/x")},
			{rw("/a", "/x"), rw(source, "/x"+target), at(runtime.MountMask, "/x"+target+"/m")},
			{link(text, target), ro("/a", "/x"), at(runtime.MountTmpfs, target+"/y")},
			{ro("/", "/"), at(runtime.MountTmpfs, "/run"), at(runtime.MountTmpfs, "/home"), at(runtime.MountMask, target), optional(ro(source, source))},
		} {
			res, err := mounts.Plan(mounts.Input{Mounts: list, Host: host})
			if err != nil {
				var failure *runtime.Failure
				if !errors.As(err, &failure) {
					t.Fatalf("untyped: %v", err)
				}
				continue
			}
			w := mountstest.NewWorld(host)
			for _, op := range res.Mounts {
				if op.Target != path.Clean(op.Target) || op.Target[0] != '/' || strings.ContainsRune(op.Target, 0) || strings.ContainsRune(op.Source, 0) {
					t.Fatalf("%q", op.Target)
				}
				if err := w.Apply(op); err != nil {
					t.Fatalf("%q at %q: %v", op.Source, op.Target, err)
				}
			}
		}
	})
}

// makeFile makes a file where nothing that is no directory stands on its way.
func makeFile(host *mountstest.FS, name string) {
	for dir := path.Dir(name); dir != "/"; dir = path.Dir(dir) {
		if info, err := host.Lstat(dir); err == nil && !info.IsDir() {
			return
		}
	}
	host.File(name, name)
}
