//go:build linux

package enginetest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sbx "github.com/sbxkit/sbxkit/runtime"
)

// TestAMaskShowsNothingOfWhatItHides masks a directory of a bound tree and one of the image, a file of each, and looks for what they hold.
func TestAMaskShowsNothingOfWhatItHides(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		tree := t.TempDir()
		for name, text := range map[string]string{"keys/id": "canary", "token": "canary", "plain": "plain"} {
			p := filepath.Join(tree, name)
			if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(p, []byte(text+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		out := e.shell("ls -a /in/keys /etc; cat /in/token /etc/passwd /in/plain; cat /in/keys/id; touch /in/keys/new /etc/new; true", func(l *sbx.Launch) {
			l.Mounts = []sbx.Mount{
				{Kind: sbx.MountBindRW, Source: tree, Target: "/in"},
				{Kind: sbx.MountMask, Target: "/in/keys"},
				{Kind: sbx.MountMask, Target: "/in/token"},
				{Kind: sbx.MountMaskDir, Target: "/etc"},
			}
		})
		if strings.Contains(out, "canary") || strings.Contains(out, "root:") || !strings.Contains(out, "plain") {
			t.Errorf("the masks show %q", out)
		}
		if strings.Count(out, "ead-only file system") != 2 {
			t.Errorf("a mask can be written to: %q", out)
		}
		if files, err := os.ReadDir(filepath.Join(tree, "keys")); err != nil || len(files) != 1 {
			t.Errorf("what is masked was changed: %v, %v", files, err)
		}
	})
}

// TestADeclaredTmpfsIsEmptyAndHasItsOptions holds both engines to the same options: nothing of what stands beneath, the size, the mode,
// programs that can be executed.
func TestADeclaredTmpfsIsEmptyAndHasItsOptions(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		out := e.shell("ls -a /scratch; echo --; ls -a /etc; cp /bin/toolbox /scratch/true; /scratch/true && echo runs; cat /proc/self/mountinfo", func(l *sbx.Launch) {
			l.Mounts = []sbx.Mount{
				{Kind: sbx.MountTmpfs, Target: "/scratch", Size: 64 << 20, Mode: 0o751},
				{Kind: sbx.MountTmpfs, Target: "/etc", Size: 1 << 20},
			}
		})
		before, rest, _ := strings.Cut(out, "--\n")
		etc, table, ran := strings.Cut(rest, "runs\n")
		if before != ".\n..\n" && before != "" || !ran {
			t.Errorf("the tmpfs: %q", out)
		}
		// The engine itself puts these there, whatever is mounted.
		for _, f := range strings.Fields(etc) {
			if !slices.Contains([]string{".", "..", "hosts", "hostname", "resolv.conf"}, f) {
				t.Errorf("%s of the image is seen in a tmpfs", f)
			}
		}
		for place, want := range map[string][]string{
			"/scratch": {"rw", "nosuid", "nodev", "size=65536k", "mode=751"}, "/etc": {"rw", "nosuid", "nodev", "size=1024k"},
		} {
			have := ""
			for line := range strings.Lines(table) {
				if f := strings.Fields(line); len(f) > 5 && f[4] == place {
					have = f[5] + "," + f[len(f)-1]
				}
			}
			options := strings.Split(have, ",")
			for _, o := range want {
				if !slices.Contains(options, o) {
					t.Errorf("%s is mounted with %s, without %s", place, have, o)
				}
			}
			if slices.Contains(options, "noexec") {
				t.Errorf("%s is mounted with %s", place, have)
			}
		}
	})
}
