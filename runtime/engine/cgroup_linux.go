package engine

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// cgroupFile is where a limit of a control group stands: file names for version 1, under a controller, and version 2, and what they mean.
type cgroupFile struct {
	controller string
	v1, v2     string
	// read turns the file's text into the claim's number, given the group's directory.
	read func(text string, dir string) (uint64, error)
}

var cgroupFiles = map[string]cgroupFile{
	"limits.memory":    {"memory", "memory.limit_in_bytes", "memory.max", plainNumber},
	"limits.processes": {"pids", "pids.max", "pids.max", plainNumber},
	"limits.cpus":      {"cpu", "cpu.cfs_quota_us", "cpu.max", cpuQuota},
}

// cgroupLimit reads a limit of the control group that a process is in, as a claim writes it, and where it was read. The group must be
// the container's: version 1 moves a process that ends to the root group.
func cgroupLimit(pid int, container, name string) (value, evidence string, err error) {
	f, ok := cgroupFiles[name]
	if !ok {
		return "", "", fmt.Errorf("no control group file is known for %s", name)
	}
	dir, v2, err := cgroupDir(pid, f.controller)
	if err != nil {
		return "", "", err
	}
	if !strings.Contains(dir, container) {
		return "", "", fmt.Errorf("the group %s is not the container's", dir)
	}
	file := filepath.Join(dir, f.v1)
	if v2 {
		file = filepath.Join(dir, f.v2)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return "", "", err
	}
	n, err := f.read(strings.TrimSpace(string(b)), dir)
	if err != nil {
		return "", "", fmt.Errorf("reading %s: %w", file, err)
	}
	return strconv.FormatUint(n, 10), fmt.Sprintf("%s: %d", filepath.Base(file), n), nil
}

// cgroupDir finds the directory of the group that holds a controller (cgroups(7), /proc/pid/cgroup): that of version 1 where the controller
// is mounted alone or with others, else that of version 2.
func cgroupDir(pid int, controller string) (dir string, v2 bool, err error) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cgroup")
	if err != nil {
		return "", false, err
	}
	unified := ""
	for line := range bytes.Lines(b) {
		f := strings.SplitN(strings.TrimSpace(string(line)), ":", 3)
		if len(f) != 3 {
			continue
		}
		if f[0] == "0" && f[1] == "" {
			unified = f[2]
			continue
		}
		for c := range strings.SplitSeq(f[1], ",") {
			if c == controller {
				return filepath.Join("/sys/fs/cgroup", f[1], f[2]), false, nil
			}
		}
	}
	if unified == "" {
		return "", false, fmt.Errorf("process %d is in no group of the controller %s", pid, controller)
	}
	return filepath.Join("/sys/fs/cgroup", unified), true, nil
}

func plainNumber(text, _ string) (uint64, error) { return strconv.ParseUint(text, 10, 64) }

// cpuQuota gives billionths of a CPU: quota and period stand in one file of version 2, in two of version 1.
func cpuQuota(text, dir string) (uint64, error) {
	quota, period, ok := strings.Cut(text, " ")
	if !ok {
		b, err := os.ReadFile(filepath.Join(dir, "cpu.cfs_period_us"))
		if err != nil {
			return 0, err
		}
		period = strings.TrimSpace(string(b))
	}
	q, err := strconv.ParseUint(quota, 10, 64)
	if err != nil {
		return 0, err
	}
	p, err := strconv.ParseUint(period, 10, 64)
	if err != nil {
		return 0, err
	}
	if p == 0 {
		return 0, fmt.Errorf("a period of 0")
	}
	return q * 1_000_000_000 / p, nil
}
