package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/moby/sys/mountinfo"
)

// Host is where control groups can be made here. It is not changed after it is made.
type Host struct {
	// Mode is "v1", "v2", "hybrid" or "none", as Identity.Cgroup has it.
	Mode string
	// Parents are the directories below which a group is made: one a controller where each has a hierarchy of its own, otherwise one, by "".
	Parents map[string]string
}

// Find looks at what is mounted and which groups this process is in. It makes nothing.
func Find() (*Host, error) {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("looking for control groups: %w", err)
	}
	groups, err := os.ReadFile("/proc/self/cgroup")
	if errors.Is(err, fs.ErrNotExist) {
		return &Host{Mode: "none"}, nil // a kernel without them
	}
	if err != nil {
		return nil, fmt.Errorf("looking for control groups: %w", err)
	}
	return find(string(mounts), string(groups))
}

// find reads the two files: what is mounted (proc_pid_mountinfo(5)) and where we are (cgroups(7)).
func find(mounts, groups string) (*Host, error) {
	list, err := mountinfo.GetMountsFromReader(strings.NewReader(mounts), nil)
	if err != nil {
		return nil, fmt.Errorf("looking for control groups: %w", err)
	}
	// Of a hierarchy mounted from below its root we see that part only: what stands above is cut off our own path.
	roots, cut := map[string]string{}, map[string]string{}
	for _, m := range list {
		switch m.FSType {
		case "cgroup2":
			if roots[""] == "" {
				roots[""], cut[""] = m.Mountpoint, m.Root
			}
		case "cgroup":
			for _, c := range strings.Split(m.VFSOptions, ",") {
				if slices.Contains(controllers, c) && roots[c] == "" {
					// Controllers mounted together ("cpu,cpuacct") are known by a link each beside their mount.
					roots[c], cut[c] = filepath.Join(filepath.Dir(m.Mountpoint), c), m.Root
				}
			}
		}
	}
	own := map[string]string{}
	for line := range strings.Lines(groups) {
		parts := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(parts) != 3 {
			return nil, fmt.Errorf("looking for control groups: %q is no line of /proc/self/cgroup", line)
		}
		for _, c := range strings.Split(parts[1], ",") { // the one hierarchy has none here
			if roots[c] != "" {
				own[c] = below(cut[c], parts[2])
			}
		}
	}
	h := &Host{Mode: "none", Parents: map[string]string{}}
	_, unified := roots[""]
	for c, root := range roots {
		if c != "" {
			h.Parents[c] = filepath.Join(root, own[c])
		}
	}
	switch {
	case len(h.Parents) > 0 && unified:
		h.Mode = "hybrid"
	case len(h.Parents) > 0:
		h.Mode = "v1"
	case unified:
		h.Mode = "v2"
		h.Parents[""] = unifiedParent(roots[""], own[""])
	}
	return h, nil
}

// below gives p relative to the part of the hierarchy that is mounted; the mounted root itself where p is not in it, as in a
// container whose own group stands above its mount.
func below(root, p string) string {
	if root == "/" {
		return p
	}
	if rest, ok := strings.CutPrefix(p, root); ok && (rest == "" || rest[0] == '/') {
		return "/" + strings.TrimPrefix(rest, "/")
	}
	return "/"
}

// controllers are those that limits here come from.
var controllers = []string{"memory", "pids", "cpu", "cpuset"}

// controllerOf names the controller that keeps a limit, by vocabulary name; "" for a limit that no control group keeps.
func controllerOf(limit string) string {
	switch limit {
	case "limits.memory", "limits.swap":
		return "memory"
	case "limits.processes":
		return "pids"
	case "limits.cpus":
		return "cpu"
	case "limits.cpuset":
		return "cpuset"
	}
	return ""
}

// Limits lists the vocabulary names that a control group can keep.
var Limits = []string{"limits.cpus", "limits.cpuset", "limits.memory", "limits.processes", "limits.swap"}

// dirs are the directories of a group of this name that has these controllers.
func (h *Host) dirs(name string, needed []string) (map[string]string, error) {
	if d, ok := h.Parents[""]; ok {
		return map[string]string{"": filepath.Join(d, name)}, nil
	}
	dirs := map[string]string{}
	for _, c := range needed {
		d, ok := h.Parents[c]
		if !ok {
			return nil, fmt.Errorf("no hierarchy here has the controller %s", c)
		}
		dirs[c] = filepath.Join(d, name)
	}
	return dirs, nil
}

// unifiedParent looks from our own group upward for the first that hands the controllers on to its children. A group that has processes of
// its own cannot, except the root (cgroups(7), "no internal processes").
func unifiedParent(root, own string) string {
	best := root
	for group := own; ; group = filepath.Dir(group) {
		if group == "/" || group == "." || group == "" {
			return best
		}
		dir := filepath.Join(root, group)
		if b, err := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control")); err == nil {
			have := strings.Fields(string(b))
			if slices.Contains(have, "memory") && slices.Contains(have, "pids") {
				return dir
			}
			if best == root && len(have) > 0 {
				best = dir
			}
		}
	}
}
