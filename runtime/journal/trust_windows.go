package journal

import (
	"errors"
	"io/fs"
	"syscall"
)

// ownedAlone leaves it to the access control list the directory inherits: a profile's own directories are private.
func ownedAlone(string, fs.FileInfo) error { return nil }

// Windows system error codes (winerror.h).
const (
	errorWriteProtect syscall.Errno = 19
	errorDiskFull     syscall.Errno = 112
)

func isFull(err error) bool { return errors.Is(err, errorDiskFull) }

func isReadOnly(err error) bool { return errors.Is(err, errorWriteProtect) }

// guarded is nothing: opening does not follow links that Lstat did not see.
const guarded = 0

// unlinkHeld says that a locked file cannot be removed.
const unlinkHeld = false

// syncDir does nothing: a directory cannot be synced.
func syncDir(string) error { return nil }
