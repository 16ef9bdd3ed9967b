package attest

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/sbxkit/sbxkit/runtime"
)

// descriptors holds where the process has exactly the planned descriptors open.
func (s *Subject) descriptors(runtime.Claim) verdict {
	have, err := s.open()
	if err != nil {
		return unknown(err)
	}
	return s.compare(have)
}

// Inherited measures ClaimDescriptors of a launcher that has not executed the command yet: what of its descriptors an exec will not close,
// without those it closes itself before (Expect.Closing, and a descriptor of /proc that only names it).
func (s *Subject) Inherited(c runtime.Claim, when string) runtime.Guarantee {
	g := runtime.Guarantee{Name: c.Name, Claimed: c.Value, Required: c.Required, When: when}
	v := s.inherited()
	g.Measured, g.Evidence = v.measured, v.evidence
	return g
}

func (s *Subject) inherited() verdict {
	all, err := s.open()
	if err != nil {
		return unknown(err)
	}
	var have []int
	var buf [512]byte
	for _, fd := range all {
		if slices.Contains(s.expect.Closing, fd) {
			continue
		}
		b, err := ReadFile(s.base+"/fdinfo/"+strconv.Itoa(fd), buf[:])
		if err != nil {
			return unknown(err)
		}
		flags, err := openFlags(b)
		if err != nil {
			return unknown(err)
		}
		if flags&unix.O_CLOEXEC != 0 {
			continue
		}
		if flags&unix.O_PATH != 0 {
			if target, err := link(s.base + "/fd/" + strconv.Itoa(fd)); err == nil && target == "/proc" {
				continue
			}
		}
		have = append(have, fd)
	}
	return s.compare(have)
}

// openFlags are the flags of a descriptor, of which close-on-exec is one here (proc_pid_fdinfo(5)).
func openFlags(fdinfo []byte) (int, error) {
	for line := range bytes.Lines(fdinfo) {
		if v, ok := bytes.CutPrefix(line, []byte("flags:")); ok {
			n, err := strconv.ParseInt(string(bytes.TrimSpace(v)), 8, 64)
			return int(n), err
		}
	}
	return 0, fmt.Errorf("reading fdinfo: no flags in %q", fdinfo)
}

// open lists the process's descriptors, sorted.
func (s *Subject) open() ([]int, error) {
	dir, err := os.Open(s.base + "/fd")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	have := make([]int, 0, len(names))
	for _, n := range names {
		fd, err := strconv.Atoi(n)
		if err != nil {
			return nil, err
		}
		have = append(have, fd)
	}
	slices.Sort(have)
	return have, nil
}

func (s *Subject) compare(have []int) verdict {
	if slices.Equal(have, s.expect.Descriptors) {
		return holds("fd: %s", words(have))
	}
	var strange []string
	for _, fd := range have {
		if !slices.Contains(s.expect.Descriptors, fd) {
			target, err := link(s.base + "/fd/" + strconv.Itoa(fd))
			if err != nil {
				target = "?"
			}
			strange = append(strange, fmt.Sprintf("%d (%s)", fd, target))
		}
	}
	if len(strange) > 0 {
		return broken("fd: not planned: %s", strings.Join(strange, ", "))
	}
	return broken("fd: %s, planned %s", words(have), words(s.expect.Descriptors))
}

func words(n []int) string {
	var b strings.Builder
	for i, x := range n {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(strconv.Itoa(x))
	}
	return b.String()
}
