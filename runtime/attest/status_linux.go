package attest

import (
	"bytes"
	"fmt"
	"strconv"
)

// Status is what the seam uses of /proc/<pid>/status (proc_pid_status(5)).
type Status struct {
	UID, GID       [4]int // real, effective, saved, file system; as we see them
	Groups         []int
	InnerPID       []int // NSpid: the pid in each pid namespace, outermost first
	NoNewPrivs     bool
	Seccomp        int // 0 off, 1 strict, 2 filter
	SeccompFilters int // Linux 5.9
	Threads        int
	// Capability sets.
	Inheritable, Permitted, Effective, Bounding, Ambient uint64
}

// ReadStatus reads it.
func ReadStatus(pid int) (*Status, error) {
	var buf [4096]byte
	b, err := ReadFile("/proc/"+strconv.Itoa(pid)+"/status", buf[:])
	if err != nil {
		return nil, err
	}
	return parseStatus(b)
}

func parseStatus(b []byte) (*Status, error) {
	s := &Status{}
	seen := 0
	for line := range bytes.Lines(b) {
		name, value, ok := bytes.Cut(line, []byte(":"))
		if !ok {
			continue
		}
		value = bytes.TrimSpace(value)
		var err error
		seen++
		switch string(name) {
		case "Uid":
			err = four(value, &s.UID)
		case "Gid":
			err = four(value, &s.GID)
		case "Groups":
			s.Groups, err = numbers(value)
		case "NSpid":
			s.InnerPID, err = numbers(value)
		case "NoNewPrivs":
			s.NoNewPrivs = string(value) == "1"
		case "Seccomp":
			s.Seccomp, err = strconv.Atoi(string(value))
		case "Seccomp_filters":
			s.SeccompFilters, err = strconv.Atoi(string(value))
		case "Threads":
			s.Threads, err = strconv.Atoi(string(value))
		case "CapInh":
			s.Inheritable, err = strconv.ParseUint(string(value), 16, 64)
		case "CapPrm":
			s.Permitted, err = strconv.ParseUint(string(value), 16, 64)
		case "CapEff":
			s.Effective, err = strconv.ParseUint(string(value), 16, 64)
		case "CapBnd":
			s.Bounding, err = strconv.ParseUint(string(value), 16, 64)
		case "CapAmb":
			s.Ambient, err = strconv.ParseUint(string(value), 16, 64)
		default:
			seen--
		}
		if err != nil {
			return nil, fmt.Errorf("reading a process's status, %s: %w", name, err)
		}
	}
	// A kernel that leaves one out must not read as an empty set.
	if seen < 11 {
		return nil, fmt.Errorf("reading a process's status: only %d of its lines are known", seen)
	}
	return s, nil
}

func four(value []byte, to *[4]int) error {
	n, err := numbers(value)
	if err != nil {
		return err
	}
	if len(n) != 4 {
		return fmt.Errorf("%d numbers, want 4", len(n))
	}
	copy(to[:], n)
	return nil
}

func numbers(value []byte) ([]int, error) {
	var out []int
	for f := range bytes.FieldsSeq(value) {
		n, err := strconv.Atoi(string(f))
		if err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return out, nil
}
