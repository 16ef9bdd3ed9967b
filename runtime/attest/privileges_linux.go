package attest

import (
	"fmt"

	"github.com/sbxkit/sbxkit/runtime"
)

func (s *Subject) noNewPrivileges(runtime.Claim) verdict {
	st, err := s.readStatus()
	if err != nil {
		return unknown(err)
	}
	if !st.NoNewPrivs {
		return broken("status: NoNewPrivs 0")
	}
	return holds("status: NoNewPrivs 1")
}

func (s *Subject) capabilities(runtime.Claim) verdict {
	st, err := s.readStatus()
	if err != nil {
		return unknown(err)
	}
	return hold(st.Inheritable|st.Permitted|st.Effective|st.Bounding|st.Ambient == 0,
		"status: CapInh %x CapPrm %x CapEff %x CapBnd %x CapAmb %x", st.Inheritable, st.Permitted, st.Effective, st.Bounding, st.Ambient)
}

// seccomp holds where a filter is in force beyond those that the launcher itself stands under.
func (s *Subject) seccomp(runtime.Claim) verdict {
	st, err := s.readStatus()
	if err != nil {
		return unknown(err)
	}
	inherited := 0
	if s.expect.Launcher > 0 {
		l, err := ReadStatus(s.expect.Launcher)
		if err != nil {
			return unknown(err)
		}
		inherited = l.SeccompFilters
	}
	return hold(st.Seccomp == 2 && (st.SeccompFilters > inherited || st.SeccompFilters == 0 && inherited == 0),
		"status: Seccomp %d with %d filters, %d of them inherited", st.Seccomp, st.SeccompFilters, inherited)
}

func (s *Subject) appArmor(runtime.Claim) verdict {
	want := s.expect.Request.Hardening.AppArmor
	var buf [512]byte
	for _, file := range []string{"/attr/apparmor/current", "/attr/current"} {
		b, err := ReadFile(s.base+file, buf[:])
		if err != nil {
			continue
		}
		have := string(trimLabel(b))
		return hold(have == want, "%s: %s", file[1:], have)
	}
	return unknown(fmt.Errorf("no AppArmor label of process %d", s.pid))
}

// trimLabel takes the mode off a label: "profile (enforce)".
func trimLabel(b []byte) []byte {
	for i, c := range b {
		if c == ' ' || c == '\n' || c == 0 {
			return b[:i]
		}
	}
	return b
}

// parentDeath is in no record of the kernel that another process can read (prctl(2), PR_GET_PDEATHSIG is the caller's own).
func (s *Subject) parentDeath(c runtime.Claim) verdict { return s.proven(c) }

func (s *Subject) proven(c runtime.Claim) verdict {
	for _, g := range s.expect.Proven {
		if g.Name == c.Name {
			return verdict{g.Measured, g.Evidence}
		}
	}
	return verdict{runtime.MeasuredClaimed, "the kernel keeps no record of it, and the probe has not shown it"}
}

// init holds where the command is not the first process of its pid namespace: something stands above it and reaps.
func (s *Subject) init(runtime.Claim) verdict {
	st, err := s.readStatus()
	if err != nil {
		return unknown(err)
	}
	if len(st.InnerPID) < 2 {
		return broken("status: NSpid %v: no pid namespace of its own", st.InnerPID)
	}
	return hold(st.InnerPID[len(st.InnerPID)-1] > 1, "status: pid %d in its namespace", st.InnerPID[len(st.InnerPID)-1])
}
