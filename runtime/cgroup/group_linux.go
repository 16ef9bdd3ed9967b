package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/containerd/cgroups/v3/cgroup1"
	"github.com/containerd/cgroups/v3/cgroup2"
	"github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"

	"github.com/sbxkit/sbxkit/runtime"
)

// Group is a run's own control group: one directory in the one hierarchy, or one in each of several. Its methods are safe for concurrent
// use.
type Group struct {
	// dirs are its directories, by v1 controller; by "" in the one hierarchy.
	dirs   map[string]string
	limits runtime.Limits
}

// Needed lists the limits of l that only a control group keeps, by vocabulary name, sorted.
func Needed(l *runtime.Limits) []string {
	var out []string
	for _, n := range Limits {
		if n == "limits.cpuset" && l.CPUSet != "" || n != "limits.cpuset" && l.Get(n) != nil {
			out = append(out, n)
		}
	}
	return out
}

// Plan says which directories a group of this name with these limits has. It makes nothing; nil where no limit needs a group.
func (h *Host) Plan(name string, l *runtime.Limits) (*Group, error) {
	names := Needed(l)
	if len(names) == 0 {
		return nil, nil
	}
	if l.Swap != nil && l.Memory == nil {
		return nil, runtime.Fail(runtime.Unsupported, "a limit on swap counts beyond the limit on memory, and there is none").About("limits.swap").WithCure("set limits.memory too")
	}
	if l.CPUs != nil && l.CPUs.Hard < leastCPUs {
		return nil, runtime.Fail(runtime.Unsupported, "%d billionths of a CPU are less than the kernel can count: the least is %d", l.CPUs.Hard, leastCPUs).About("limits.cpus").
			WithCure("ask for at least a hundredth of a CPU")
	}
	var needed []string
	for _, n := range names {
		if c := controllerOf(n); !slices.Contains(needed, c) {
			needed = append(needed, c)
		}
	}
	dirs, err := h.dirs(name, needed)
	if err != nil {
		return nil, runtime.Fail(runtime.Unsupported, "%s: %w", names[0], err).About(names[0]).WithCure("%s", cure)
	}
	return &Group{dirs: dirs, limits: *l}, nil
}

const cure = "run where control groups are delegated (systemd-run --user --scope -p Delegate=yes), as root, or do without the limit"

// Open gives the group that stands at these directories, as Paths gave them, to be killed and removed. They may be gone.
func Open(paths []string) *Group {
	g := &Group{dirs: map[string]string{}}
	for _, p := range paths {
		g.dirs[p] = p // of a reopened group nothing but its directories counts
	}
	return g
}

// Paths are the group's directories, sorted.
func (g *Group) Paths() []string {
	var out []string
	for _, d := range g.dirs {
		out = append(out, d)
	}
	slices.Sort(out)
	return out
}

// Create makes the group and sets its limits. On error nothing of it is left. What this host does not let us make is Unsupported.
func (g *Group) Create() error {
	for _, d := range g.dirs {
		// A name is used once: what is there already is somebody else's, and stays.
		if _, err := os.Lstat(d); err == nil {
			return runtime.Fail(runtime.Setup, "making the control group %s: %w", d, fs.ErrExist)
		}
	}
	err := g.create()
	if err == nil {
		return nil
	}
	for _, d := range g.dirs {
		if rerr := os.Remove(d); rerr != nil && !errors.Is(rerr, fs.ErrNotExist) {
			err = errors.Join(err, rerr)
		}
	}
	names := Needed(&g.limits)
	kind := runtime.Setup
	if refused(err) {
		kind = runtime.Unsupported
	}
	return runtime.Fail(kind, "%s: making a control group: %w", strings.Join(names, ", "), err).About(names[0]).WithCure("%s", cure)
}

// refused reports whether an error is the host's no: no permission, a read-only or missing hierarchy, a controller that is not handed on, a
// value that is not kept.
func refused(err error) bool {
	for _, no := range []error{fs.ErrPermission, fs.ErrNotExist, unix.EROFS, unix.EBUSY, unix.EOPNOTSUPP, unix.ENODEV} {
		if errors.Is(err, no) {
			return true
		}
	}
	return false
}

func (g *Group) create() error {
	if dir, ok := g.dirs[""]; ok {
		root := mountRoot(dir)
		_, err := cgroup2.NewManager(root, strings.TrimPrefix(dir, root), g.resources2())
		return err
	}
	res := g.resources1()
	for c, dir := range g.dirs {
		root := mountRoot(dir)
		var s cgroup1.Subsystem
		// The library's controllers stand below a directory of theirs by name.
		switch above := filepath.Dir(root); c {
		case "memory":
			s = cgroup1.NewMemory(above)
		case "pids":
			s = cgroup1.NewPids(above)
		case "cpu":
			s = cgroup1.NewCpu(above)
		case "cpuset":
			s = cgroup1.NewCpuset(above)
		}
		path := cgroup1.StaticPath(strings.TrimPrefix(dir, root))
		if _, err := cgroup1.New(path, res, cgroup1.WithHierarchy(func() ([]cgroup1.Subsystem, error) { return []cgroup1.Subsystem{s}, nil })); err != nil {
			return err
		}
	}
	return nil
}

// mountRoot is where the hierarchy that a group is to stand in is mounted: the outermost directory that is a group itself.
func mountRoot(dir string) string {
	root := filepath.Dir(dir)
	for {
		above := filepath.Dir(root)
		if _, err := os.Lstat(filepath.Join(above, "cgroup.procs")); err != nil || above == root {
			return root
		}
		root = above
	}
}

// The kernel counts CPU time in periods; a quota is at least a millisecond a period (sched-bwc.rst).
const (
	period    = 100_000 // microseconds
	leastCPUs = 10_000_000
)

func (g *Group) quota() (int64, uint64) {
	return int64(g.limits.CPUs.Hard / (1_000_000_000 / period)), period
}

func (g *Group) resources1() *specs.LinuxResources {
	r, l := &specs.LinuxResources{}, &g.limits
	if l.Memory != nil {
		n := int64(l.Memory.Hard)
		r.Memory = &specs.LinuxMemory{Limit: &n}
		if l.Swap != nil {
			both := n + int64(l.Swap.Hard)
			r.Memory.Swap = &both
		}
	}
	if l.Processes != nil {
		n := int64(l.Processes.Hard)
		r.Pids = &specs.LinuxPids{Limit: &n}
	}
	if l.CPUs != nil || l.CPUSet != "" {
		r.CPU = &specs.LinuxCPU{Cpus: l.CPUSet}
		if l.CPUs != nil {
			q, p := g.quota()
			r.CPU.Quota, r.CPU.Period = &q, &p
		}
	}
	return r
}

func (g *Group) resources2() *cgroup2.Resources {
	r, l := &cgroup2.Resources{}, &g.limits
	if l.Memory != nil {
		n := int64(l.Memory.Hard)
		r.Memory = &cgroup2.Memory{Max: &n}
		if l.Swap != nil {
			swap := int64(l.Swap.Hard)
			r.Memory.Swap = &swap
		}
	}
	if l.Processes != nil {
		r.Pids = &cgroup2.Pids{Max: int64(l.Processes.Hard)}
	}
	if l.CPUs != nil || l.CPUSet != "" {
		r.CPU = &cgroup2.CPU{Cpus: l.CPUSet}
		if l.CPUs != nil {
			q, p := g.quota()
			r.CPU.Max = cgroup2.NewCPUMax(&q, &p)
		}
	}
	return r
}

// BornIn runs start so that the process it forks from the calling thread is in the group from its first instruction: nothing holds it that
// could be moved before. With v1 the thread itself moves into the group for so long, and back; in the one hierarchy start is given a
// descriptor of the group for the fork (clone3(2), CLONE_INTO_CGROUP), otherwise -1. The caller has locked its thread.
func (g *Group) BornIn(start func(fd int) error) (err error) {
	if d, ok := g.dirs[""]; ok {
		fd, err := unix.Open(d, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("opening the control group %s: %w", d, err)
		}
		defer unix.Close(fd)
		return start(fd)
	}
	self := fmt.Appendf(nil, "%d", unix.Gettid())
	for _, d := range g.dirs {
		if err := os.WriteFile(filepath.Join(d, "tasks"), self, 0); err != nil {
			return fmt.Errorf("entering the control group %s: %w", d, err)
		}
		defer func() {
			// Every group stands in the one that we are in ourselves.
			if berr := os.WriteFile(filepath.Join(filepath.Dir(d), "tasks"), self, 0); berr != nil {
				err = errors.Join(err, fmt.Errorf("leaving the control group %s: %w", d, berr))
			}
		}()
	}
	return start(-1)
}

// Add moves a process into the group; what it starts later is in it from the start.
func (g *Group) Add(pid int) error {
	for _, d := range g.dirs {
		if err := os.WriteFile(filepath.Join(d, "cgroup.procs"), fmt.Appendf(nil, "%d", pid), 0); err != nil {
			return fmt.Errorf("moving process %d into its control group: %w", pid, err)
		}
	}
	return nil
}
