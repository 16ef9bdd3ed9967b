package process

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/attest"
)

// identify names a process that cannot be reaped meanwhile.
func identify(pid int) (runtime.ProcessIdentity, attest.Stat, error) {
	s, err := attest.ReadStat(pid)
	if err != nil {
		return runtime.ProcessIdentity{}, s, err
	}
	return runtime.ProcessIdentity{PID: pid, StartTime: s.StartTime, BootID: runtime.BootID()}, s, nil
}

// openIdentity gives a pidfd of exactly the process that id names, or os.ErrProcessDone where it is gone: another boot, another
// start time, or no such pid.
func openIdentity(id runtime.ProcessIdentity) (int, error) {
	if id.PID <= 0 || id.StartTime == 0 || id.BootID != runtime.BootID() {
		return -1, os.ErrProcessDone
	}
	fd, err := unix.PidfdOpen(id.PID, 0)
	if err != nil {
		if errors.Is(err, unix.ESRCH) || errors.Is(err, unix.EINVAL) {
			return -1, os.ErrProcessDone
		}
		return -1, fmt.Errorf("opening process %d: %w", id.PID, err)
	}
	// The descriptor holds whichever process has the pid now; its start time, read while we hold it, says whether it is the one.
	s, err := attest.ReadStat(id.PID)
	if err != nil || s.StartTime != id.StartTime {
		unix.Close(fd)
		return -1, os.ErrProcessDone
	}
	return fd, nil
}
