package mounts

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/sbxkit/sbxkit/runtime"
)

// OS is the host's real file system. Safe for concurrent use.
type OS struct{}

var _ runtime.HostView = OS{}

// ReadFileLimit is the most OS.ReadFile reads, in bytes.
const ReadFileLimit = 1 << 20

// Lstat is os.Lstat.
func (OS) Lstat(path string) (fs.FileInfo, error) { return os.Lstat(path) }

// Readlink is os.Readlink.
func (OS) Readlink(path string) (string, error) { return os.Readlink(path) }

// ReadDir is os.ReadDir.
func (OS) ReadDir(path string) ([]fs.DirEntry, error) { return os.ReadDir(path) }

// ReadFile reads a regular file of at most ReadFileLimit bytes; a longer one is an error that wraps syscall.EFBIG. It does not wait for a
// writer where somebody put a FIFO in the file's place.
func (OS) ReadFile(path string) (data []byte, err error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() {
		if cerr := f.Close(); err == nil && cerr != nil {
			err = cerr
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("not a regular file: %w", fs.ErrInvalid)}
	}
	var b bytes.Buffer
	if size := info.Size(); size > 0 {
		b.Grow(int(min(size, ReadFileLimit)) + bytes.MinRead)
	} else {
		b.Grow(procFileSize)
	}
	if _, err := b.ReadFrom(io.LimitReader(f, ReadFileLimit+1)); err != nil {
		return nil, err
	}
	if b.Len() > ReadFileLimit {
		return nil, &fs.PathError{Op: "read", Path: path, Err: syscall.EFBIG}
	}
	return b.Bytes(), nil
}

// procFileSize is room for most files of /proc, which give their size as zero and are read anew at each call.
const procFileSize = 32 << 10
