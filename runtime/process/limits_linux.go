package process

import (
	"errors"
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/sbxkit/sbxkit/runtime"
)

// resources names the kernel's resource limits by vocabulary name (prlimit(2)).
var resourceLimits = []struct {
	name     string
	resource int
	of       func(*runtime.Limits) *runtime.Limit
}{
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

// limit sets every kernel resource limit of the request on a held process. What it starts later inherits them.
func limit(pid int, l *runtime.Limits) error {
	for _, r := range resourceLimits {
		want := r.of(l)
		if want == nil {
			continue
		}
		err := unix.Prlimit(pid, r.resource, &unix.Rlimit{Cur: want.Soft, Max: want.Hard}, nil)
		switch {
		case err == nil:
		case errors.Is(err, syscall.EPERM):
			return runtime.Fail(runtime.Unsupported, "%s: setting the limit to %d (hard %d): %w", r.name, want.Soft, want.Hard, err).About(r.name).
				WithCure("a hard limit can be raised only with CAP_SYS_RESOURCE; ask for at most this process's own (ulimit -H)")
		default:
			return runtime.Fail(runtime.Setup, "%s: setting the limit to %d (hard %d): %w", r.name, want.Soft, want.Hard, err).About(r.name)
		}
	}
	return nil
}

// limitEvidence reads a limit back as the kernel holds it.
func limitEvidence(pid, resource int) (unix.Rlimit, string, error) {
	var got unix.Rlimit
	if err := unix.Prlimit(pid, resource, nil, &got); err != nil {
		return got, "", err
	}
	return got, fmt.Sprintf("prlimit: soft %d, hard %d", got.Cur, got.Max), nil
}
