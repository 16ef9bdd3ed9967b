package cgroup

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sbxkit/sbxkit/runtime"
)

func TestTheHostIsReadOffItsMountsAndGroups(t *testing.T) {
	const (
		unified = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
		memory  = "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
		joint   = "36 31 0:33 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n"
		beside  = "37 31 0:34 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n"
		cut     = "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro,relatime - cgroup cgroup rw,memory\n"
	)
	for _, c := range []struct {
		name, mounts, groups, mode string
		limits                     runtime.Limits
		dir                        string // of the group "run", "" where there is none
	}{
		{"none", "", "", "none", runtime.Limits{Memory: runtime.AtMost(1)}, ""},
		{"v1", memory, "4:memory:/user/x\n", "v1", runtime.Limits{Memory: runtime.AtMost(1)}, "/sys/fs/cgroup/memory/user/x/run"},
		{"v1 joint controllers", joint, "4:cpu,cpuacct:/\n", "v1", runtime.Limits{CPUs: runtime.AtMost(1e9)}, "/sys/fs/cgroup/cpu/run"},
		{"v1 without the controller", memory, "4:memory:/\n", "v1", runtime.Limits{Processes: runtime.AtMost(1)}, ""},
		{"hybrid", memory + beside, "4:memory:/a\n0::/b\n", "hybrid", runtime.Limits{Memory: runtime.AtMost(1)}, "/sys/fs/cgroup/memory/a/run"},
		{"inside a container", cut, "4:memory:/docker/abc/x\n", "v1", runtime.Limits{Memory: runtime.AtMost(1)}, "/sys/fs/cgroup/memory/x/run"},
		{"inside a container that sees its own name", cut, "4:memory:/elsewhere\n", "v1", runtime.Limits{Memory: runtime.AtMost(1)}, "/sys/fs/cgroup/memory/run"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, err := find(c.mounts, c.groups)
			if err != nil {
				t.Fatal(err)
			}
			if h.Mode != c.mode {
				t.Errorf("mode %q, want %q", h.Mode, c.mode)
			}
			g, err := h.Plan("run", &c.limits)
			if c.dir == "" {
				if err == nil || runtime.AsFailure(err, runtime.Setup).Kind != runtime.Unsupported {
					t.Errorf("planned %v, %v", g, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := g.Paths(); len(got) != 1 || got[0] != c.dir {
				t.Errorf("planned %v, want %s", got, c.dir)
			}
		})
	}
	if h, err := find(unified, "0::/user.slice/x.scope\n"); err != nil || h.Mode != "v2" || len(h.Parents) != 1 {
		t.Errorf("%+v, %v", h, err)
	}
}

// TestTheUnifiedParentHandsItsControllersOn looks for the place of a group in a model of the one hierarchy.
func TestTheUnifiedParentHandsItsControllersOn(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		own   string
		want  string // relative
	}{
		{"root", map[string]string{"cgroup.controllers": "cpu memory pids", "cgroup.subtree_control": ""}, "/", ""},
		{"delegated to the scope's slice", map[string]string{
			"cgroup.controllers": "cpu memory pids", "cgroup.subtree_control": "memory pids",
			"app.slice/cgroup.subtree_control": "memory pids", "app.slice/x.scope/cgroup.subtree_control": "",
		}, "/app.slice/x.scope", "app.slice"},
		{"our own group hands on", map[string]string{
			"cgroup.controllers": "memory pids", "app.slice/cgroup.subtree_control": "memory pids", "app.slice/x.scope/cgroup.subtree_control": "memory pids",
		}, "/app.slice/x.scope", "app.slice/x.scope"},
		{"nothing handed on", map[string]string{"cgroup.controllers": "cpu", "a/cgroup.subtree_control": ""}, "/a", ""},
		{"only some of them", map[string]string{"cgroup.controllers": "cpu", "a/cgroup.subtree_control": "cpu", "a/b/cgroup.subtree_control": ""}, "/a/b", "a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := t.TempDir()
			for name, content := range c.files {
				f := filepath.Join(root, name)
				if err := os.MkdirAll(filepath.Dir(f), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(f, []byte(content), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if got, want := unifiedParent(root, c.own), filepath.Join(root, c.want); got != want {
				t.Errorf("below %s, want %s", got, want)
			}
		})
	}
}

func TestALimitThatTheKernelCannotCountIsRefused(t *testing.T) {
	h, err := find("35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n36 31 0:33 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n", "4:memory:/\n5:cpu:/\n")
	if err != nil {
		t.Fatal(err)
	}
	for name, l := range map[string]runtime.Limits{"swap alone": {Swap: runtime.AtMost(0)}, "a thousandth of a CPU": {CPUs: runtime.AtMost(1_000_000)}} {
		if _, err := h.Plan("run", &l); runtime.AsFailure(err, runtime.Setup) == nil || runtime.AsFailure(err, runtime.Setup).Kind != runtime.Unsupported {
			t.Errorf("%s: %v", name, err)
		}
	}
}
