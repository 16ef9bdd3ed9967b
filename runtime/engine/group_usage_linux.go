package engine

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// groupFiles are files of a container's control groups, open while the groups are there.
type groupFiles struct {
	kills, peak, user, system *os.File
	killsName                 string
}

// openGroups opens what tells of a container's memory and processor time, version 1 or 2. What cannot be opened is not told.
func openGroups(pid int, container string) *groupFiles {
	g := &groupFiles{}
	open := func(controller, v1, v2 string) *os.File {
		dir, unified, err := cgroupDir(pid, controller)
		if err != nil || !strings.Contains(dir, container) {
			return nil
		}
		name := v1
		if unified {
			name = v2
		}
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			return nil
		}
		return f
	}
	if g.kills = open("memory", "memory.oom_control", "memory.events"); g.kills != nil {
		g.killsName = filepath.Base(g.kills.Name())
	}
	g.peak = open("memory", "memory.max_usage_in_bytes", "memory.peak")
	// Version 2 has both times in one file.
	g.user = open("cpuacct", "cpuacct.usage_user", "cpu.stat")
	g.system = open("cpuacct", "cpuacct.usage_sys", "cpu.stat")
	return g
}

func (g *groupFiles) read() groupUsage {
	var u groupUsage
	if n, ok := keyed(g.kills, "oom_kill"); ok {
		u.kills, u.killsFrom = n, g.killsName
	}
	u.peak, _ = keyed(g.peak, "")
	u.user = processorTime(g.user, "user_usec")
	u.system = processorTime(g.system, "system_usec")
	return u
}

// processorTime reads nanoseconds of version 1, or microseconds by key of version 2.
func processorTime(f *os.File, key string) time.Duration {
	if n, ok := keyed(f, key); ok {
		return time.Duration(n) * time.Microsecond
	}
	n, _ := keyed(f, "")
	return time.Duration(n)
}

// keyed reads the number after a key at the beginning of a line, or the only number of the file.
func keyed(f *os.File, key string) (int64, bool) {
	if f == nil {
		return 0, false
	}
	var buf [4096]byte
	n, err := f.ReadAt(buf[:], 0)
	if err != nil && err != io.EOF {
		return 0, false
	}
	for line := range bytes.Lines(buf[:n]) {
		fields := strings.Fields(string(line))
		switch {
		case key == "" && len(fields) == 1:
			v, err := strconv.ParseInt(fields[0], 10, 64)
			return v, err == nil
		case len(fields) == 2 && fields[0] == key:
			v, err := strconv.ParseInt(fields[1], 10, 64)
			return v, err == nil
		}
	}
	return 0, false
}

func (g *groupFiles) close() {
	for _, f := range []*os.File{g.kills, g.peak, g.user, g.system} {
		if f != nil {
			_ = f.Close()
		}
	}
}
