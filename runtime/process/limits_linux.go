package process

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/attest"
)

// limit sets every kernel resource limit of the request on a held process. What it starts later inherits them.
func limit(pid int, l *runtime.Limits) error {
	for _, r := range attest.ResourceLimits {
		want := r.Of(l)
		if want == nil {
			continue
		}
		err := unix.Prlimit(pid, r.Resource, &unix.Rlimit{Cur: want.Soft, Max: want.Hard}, nil)
		switch {
		case err == nil:
		case errors.Is(err, syscall.EPERM):
			return runtime.Fail(runtime.Unsupported, "%s: setting the limit to %d (hard %d): %w", r.Name, want.Soft, want.Hard, err).About(r.Name).
				WithCure("a hard limit can be raised only with CAP_SYS_RESOURCE; ask for at most this process's own (ulimit -H)")
		default:
			return runtime.Fail(runtime.Setup, "%s: setting the limit to %d (hard %d): %w", r.Name, want.Soft, want.Hard, err).About(r.Name)
		}
	}
	return nil
}
