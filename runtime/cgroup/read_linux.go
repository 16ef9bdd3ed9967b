package cgroup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/sbxkit/sbxkit/runtime"
)

// Claim is what a limit of l claims, in the words that Value gives it back in.
func Claim(l *runtime.Limits, limit string) string {
	switch limit {
	case "limits.cpuset":
		return "CPUs " + l.CPUSet
	case "limits.cpus":
		return fmt.Sprintf("at most %d billionths of a CPU", l.CPUs.Hard)
	}
	return fmt.Sprintf("at most %d", l.Get(limit).Hard)
}

// Value reads back how the kernel holds a limit, in the words of Claim, and says where it was read. A value that the kernel keeps in its own
// steps (pages of memory, microseconds of CPU) counts as the one that was asked for where it is the nearest step below.
func (g *Group) Value(limit string) (value, evidence string, err error) {
	file := g.file(limit)
	if file == "" {
		return "", "", fmt.Errorf("%s is in no control group of this run", limit)
	}
	text, err := readTrimmed(file)
	if err != nil {
		return "", "", err
	}
	evidence = filepath.Base(file) + ": " + text
	switch limit {
	case "limits.cpuset":
		return "CPUs " + text, evidence, nil
	case "limits.cpus":
		quota, wanted := text, ""
		q, p := g.quota()
		if strings.HasSuffix(file, "cpu.max") {
			wanted = fmt.Sprintf("%d %d", q, p)
		} else {
			wanted = strconv.FormatInt(q, 10)
			have, err := readTrimmed(filepath.Join(filepath.Dir(file), "cpu.cfs_period_us"))
			if err != nil {
				return "", "", err
			}
			quota, wanted = quota+" "+have, wanted+" "+strconv.FormatUint(p, 10)
			evidence += " of " + have
		}
		if quota == wanted {
			return Claim(&g.limits, limit), evidence, nil
		}
		return "a quota of " + quota, evidence, nil
	}
	want := g.limits.Get(limit).Hard
	have, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return text, evidence, nil // "max"
	}
	if limit == "limits.swap" && g.dirs[""] == "" {
		want += g.limits.Memory.Hard // v1 counts both together
	}
	if limit != "limits.processes" {
		page := uint64(os.Getpagesize())
		want = want / page * page
	}
	if have == want {
		return Claim(&g.limits, limit), evidence, nil
	}
	return fmt.Sprintf("at most %d", have), evidence, nil
}

// file is where a limit is kept.
func (g *Group) file(limit string) string {
	c := controllerOf(limit)
	if d, ok := g.dirs[""]; ok {
		return filepath.Join(d, map[string]string{
			"limits.memory": "memory.max", "limits.swap": "memory.swap.max", "limits.processes": "pids.max", "limits.cpus": "cpu.max", "limits.cpuset": "cpuset.cpus",
		}[limit])
	}
	d, ok := g.dirs[c]
	if !ok {
		return ""
	}
	return filepath.Join(d, map[string]string{
		"limits.memory": "memory.limit_in_bytes", "limits.swap": "memory.memsw.limit_in_bytes", "limits.processes": "pids.max", "limits.cpus": "cpu.cfs_quota_us",
		"limits.cpuset": "cpuset.cpus",
	}[limit])
}

func readTrimmed(file string) (string, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	return string(bytes.TrimSpace(b)), nil
}

// Has reports whether a process is in every directory of the group.
func (g *Group) Has(pid int) (bool, error) {
	want := strconv.Itoa(pid)
	for _, d := range g.dirs {
		text, err := readTrimmed(filepath.Join(d, "cgroup.procs"))
		if err != nil {
			return false, err
		}
		found := false
		for line := range strings.SplitSeq(text, "\n") {
			found = found || line == want
		}
		if !found {
			return false, nil
		}
	}
	return true, nil
}

// OOMKills gives how many processes of the group the kernel has killed for its memory limit, and where that is counted. Zero and an empty
// place where the group has no such limit.
func (g *Group) OOMKills() (n int64, where string, err error) {
	file, key := "", "oom_kill"
	if d, ok := g.dirs[""]; ok && g.limits.Memory != nil {
		file = filepath.Join(d, "memory.events")
	} else if d, ok := g.dirs["memory"]; ok {
		file = filepath.Join(d, "memory.oom_control") // with a count since Linux 4.13
	}
	if file == "" {
		return 0, "", nil
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return 0, "", err
	}
	for line := range bytes.Lines(b) {
		if name, value, ok := strings.Cut(strings.TrimSpace(string(line)), " "); ok && name == key {
			n, err := strconv.ParseInt(value, 10, 64)
			return n, filepath.Base(file) + ": oom_kill", err
		}
	}
	return 0, "", fmt.Errorf("%s does not count kills", file)
}

// PeakMemory is the most memory the group used, in bytes; 0 where that is not counted.
func (g *Group) PeakMemory() int64 {
	for _, f := range []string{filepath.Join(g.dirs[""], "memory.peak"), filepath.Join(g.dirs["memory"], "memory.max_usage_in_bytes")} {
		if text, err := readTrimmed(f); err == nil {
			if n, err := strconv.ParseInt(text, 10, 64); err == nil {
				return n
			}
		}
	}
	return 0
}

// processes lists who is in the group, in any of its directories.
func (g *Group) processes() ([]int, error) {
	seen := map[int]bool{}
	var out []int
	for _, d := range g.dirs {
		text, err := readTrimmed(filepath.Join(d, "cgroup.procs"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for line := range strings.FieldsSeq(text) {
			pid, err := strconv.Atoi(line)
			if err != nil {
				return nil, fmt.Errorf("reading who is in %s: %w", d, err)
			}
			if !seen[pid] {
				seen[pid] = true
				out = append(out, pid)
			}
		}
	}
	return out, nil
}
