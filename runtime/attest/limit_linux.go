package attest

import (
	"golang.org/x/sys/unix"

	"github.com/sbxkit/sbxkit/runtime"
)

// ResourceLimit is one of the kernel's limits of a process (prlimit(2)), by vocabulary name.
type ResourceLimit struct {
	Name     string
	Resource int
	Of       func(*runtime.Limits) *runtime.Limit
}

// ResourceLimits lists them.
var ResourceLimits = []ResourceLimit{
	{"limits.open-files", unix.RLIMIT_NOFILE, func(l *runtime.Limits) *runtime.Limit { return l.OpenFiles }},
	{"limits.user-processes", unix.RLIMIT_NPROC, func(l *runtime.Limits) *runtime.Limit { return l.UserProcesses }},
	{"limits.cpu-time", unix.RLIMIT_CPU, func(l *runtime.Limits) *runtime.Limit { return l.CPUTime }},
	{"limits.address-space", unix.RLIMIT_AS, func(l *runtime.Limits) *runtime.Limit { return l.AddressSpace }},
	{"limits.data", unix.RLIMIT_DATA, func(l *runtime.Limits) *runtime.Limit { return l.Data }},
	{"limits.file-size", unix.RLIMIT_FSIZE, func(l *runtime.Limits) *runtime.Limit { return l.FileSize }},
	{"limits.core", unix.RLIMIT_CORE, func(l *runtime.Limits) *runtime.Limit { return l.Core }},
	{"limits.stack", unix.RLIMIT_STACK, func(l *runtime.Limits) *runtime.Limit { return l.Stack }},
	{"limits.locked-memory", unix.RLIMIT_MEMLOCK, func(l *runtime.Limits) *runtime.Limit { return l.LockedMemory }},
	{"limits.pending-signals", unix.RLIMIT_SIGPENDING, func(l *runtime.Limits) *runtime.Limit { return l.PendingSignals }},
	{"limits.message-queue", unix.RLIMIT_MSGQUEUE, func(l *runtime.Limits) *runtime.Limit { return l.MessageQueue }},
}

// limit compares a limit with what the kernel holds for the process; those of a cgroup are read back by the caller's function.
func (s *Subject) limit(c runtime.Claim) verdict {
	for _, r := range ResourceLimits {
		if r.Name != c.Name {
			continue
		}
		var got unix.Rlimit
		if err := unix.Prlimit(s.pid, r.Resource, nil, &got); err != nil {
			return unknown(err)
		}
		want := r.Of(&s.expect.Request.Limits)
		return hold(want != nil && got.Cur == want.Soft && got.Max == want.Hard, "prlimit: soft %d, hard %d", got.Cur, got.Max)
	}
	if s.expect.ReadLimit == nil {
		return verdict{runtime.MeasuredClaimed, "nothing reads it back"}
	}
	have, evidence, err := s.expect.ReadLimit(c.Name)
	if err != nil {
		return unknown(err)
	}
	return hold(have == c.Value, "%s", evidence)
}
