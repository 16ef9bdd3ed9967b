package attest

import (
	"bytes"
	"fmt"
	"strconv"
)

// Stat is what the seam uses of /proc/<pid>/stat (proc_pid_stat(5)).
type Stat struct {
	State     byte // R, S, D, Z, T, t, X …
	Parent    int
	Group     int
	Session   int
	Terminal  int    // device number of the controlling terminal, 0 for none
	StartTime uint64 // clock ticks since boot
	// Executed is true from a process's first execve(2) on. What was only forked runs its parent's program, in its parent's memory.
	Executed bool
}

// ReadStat reads it. The error wraps fs.ErrNotExist, or is ESRCH, where the process is gone.
func ReadStat(pid int) (Stat, error) {
	var buf [1024]byte
	b, err := ReadFile("/proc/"+strconv.Itoa(pid)+"/stat", buf[:])
	if err != nil {
		return Stat{}, err
	}
	return parseStat(b)
}

func parseStat(b []byte) (Stat, error) {
	// The command's name stands in parentheses and may hold anything, parentheses too.
	i := bytes.LastIndexByte(b, ')')
	if i < 0 {
		return Stat{}, fmt.Errorf("reading a process's stat: no name in %q", b)
	}
	var f [20][]byte
	n := 0
	for field := range bytes.FieldsSeq(b[i+1:]) {
		if n == len(f) {
			break
		}
		f[n] = field
		n++
	}
	if n < len(f) {
		return Stat{}, fmt.Errorf("reading a process's stat: %d fields after the name", n)
	}
	s := Stat{State: f[0][0]}
	var err error
	for _, x := range []struct {
		field int
		to    *int
	}{{1, &s.Parent}, {2, &s.Group}, {3, &s.Session}, {4, &s.Terminal}} {
		if *x.to, err = strconv.Atoi(string(f[x.field])); err != nil {
			return Stat{}, fmt.Errorf("reading a process's stat: %w", err)
		}
	}
	if s.StartTime, err = strconv.ParseUint(string(f[19]), 10, 64); err != nil {
		return Stat{}, fmt.Errorf("reading a process's stat: %w", err)
	}
	flags, err := strconv.ParseUint(string(f[6]), 10, 64)
	if err != nil {
		return Stat{}, fmt.Errorf("reading a process's stat: %w", err)
	}
	s.Executed = flags&forkNoExec == 0
	return s, nil
}

// forkNoExec is PF_FORKNOEXEC of the flags (include/linux/sched.h), which the kernel takes off in begin_new_exec.
const forkNoExec = 0x40
