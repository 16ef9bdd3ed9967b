//go:build unix

package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/sbxkit/sbxkit/runtime"
)

// ownedAlone says that i is this user's, and that nobody else can write to it.
func ownedAlone(path string, i fs.FileInfo) error {
	st, ok := i.Sys().(*syscall.Stat_t)
	if !ok {
		return fmt.Errorf("looking at %q: the system does not say whose it is", path)
	}
	if uid := os.Geteuid(); int(st.Uid) != uid {
		return &unsafeError{path, fmt.Sprintf("it belongs to user %d, and this is user %d", st.Uid, uid), "pass a state directory of your own"}
	}
	if i.Mode().Perm()&0o022 != 0 {
		return &unsafeError{path, fmt.Sprintf("others can write to it (mode %v)", i.Mode().Perm()), "chmod go-w -- " + runtime.ShellQuote(path)}
	}
	return nil
}

func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

func isReadOnly(err error) bool { return errors.Is(err, syscall.EROFS) }

// guarded are flags for opening what this package put into a directory: what somebody put in its place is not followed and not waited for.
const guarded = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// unlinkHeld says that a file can be removed while it is open and locked.
const unlinkHeld = true

// syncDir makes the names in a directory survive a reboot (fsync(2), notes).
func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
