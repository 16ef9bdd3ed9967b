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

// Host is where control groups can be made here. It is not changed after Find.
type Host struct {
	// Mode is "v1", "v2", "hybrid" or "none", as Identity.Cgroup has it.
	Mode string

	// roots are the mount points of v1 controllers, by controller.
	roots map[string]string
	// own is our own group in each v1 controller's hierarchy, relative to its root.
	own map[string]string
	// unified is the mount point of the one hierarchy, "" without one; ownUnified our own group in it.
	unified, ownUnified string
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
	h := &Host{Mode: "none", roots: map[string]string{}, own: map[string]string{}}
	list, err := mountinfo.GetMountsFromReader(strings.NewReader(mounts), nil)
	if err != nil {
		return nil, fmt.Errorf("looking for control groups: %w", err)
	}
	// Of a hierarchy mounted from below its root we see that part only: what stands above is cut off our own path.
	cut := map[string]string{}
	for _, m := range list {
		switch m.FSType {
		case "cgroup2":
			if h.unified == "" {
				h.unified, cut[""] = m.Mountpoint, m.Root
			}
		case "cgroup":
			for _, c := range strings.Split(m.VFSOptions, ",") {
				if slices.Contains(controllers, c) && h.roots[c] == "" {
					// Controllers mounted together ("cpu,cpuacct") are known by a link each beside their mount.
					h.roots[c], cut[c] = filepath.Join(filepath.Dir(m.Mountpoint), c), m.Root
				}
			}
		}
	}
	for line := range strings.Lines(groups) {
		parts := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(parts) != 3 {
			return nil, fmt.Errorf("looking for control groups: %q is no line of /proc/self/cgroup", line)
		}
		if parts[0] == "0" && parts[1] == "" {
			h.ownUnified = below(cut[""], parts[2])
			continue
		}
		for _, c := range strings.Split(parts[1], ",") {
			if h.roots[c] != "" {
				h.own[c] = below(cut[c], parts[2])
			}
		}
	}
	switch {
	case len(h.roots) > 0 && h.unified != "":
		h.Mode = "hybrid"
	case len(h.roots) > 0:
		h.Mode = "v1"
	case h.unified != "":
		h.Mode = "v2"
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

// parents says below which directories a group with these controllers can be made: one, by "", in the one hierarchy, or one by controller.
func (h *Host) parents(needed []string) (dirs map[string]string, err error) {
	dirs = map[string]string{}
	if h.unified != "" {
		if dir, ok := h.unifiedParent(needed); ok {
			dirs[""] = dir
			return dirs, nil
		}
	}
	var missing []string
	for _, c := range needed {
		root := h.roots[c]
		if root == "" {
			missing = append(missing, c)
			continue
		}
		dirs[c] = filepath.Join(root, h.own[c])
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("no hierarchy here has the controller %s", strings.Join(missing, ", "))
	}
	return dirs, nil
}

// unifiedParent looks from our own group upward for the first whose children have the needed controllers and in which we may make one. A
// group that has processes of its own cannot hand controllers to children, except the root (cgroups(7), "no internal processes").
func (h *Host) unifiedParent(needed []string) (string, bool) {
	for group := h.ownUnified; ; group = filepath.Dir(group) {
		dir := filepath.Join(h.unified, group)
		b, err := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control"))
		if err == nil && containsAll(strings.Fields(string(b)), needed) {
			return dir, true
		}
		// Root itself can be told to hand them on.
		if group == "/" || group == "." {
			b, err := os.ReadFile(filepath.Join(dir, "cgroup.controllers"))
			return dir, err == nil && containsAll(strings.Fields(string(b)), needed)
		}
	}
}

func containsAll(have, want []string) bool {
	for _, w := range want {
		if !slices.Contains(have, w) {
			return false
		}
	}
	return true
}
