package runtime

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// osHost is the HostView of the real file system.
type osHost struct{}

func (osHost) Lstat(path string) (fs.FileInfo, error)     { return os.Lstat(path) }
func (osHost) Readlink(path string) (string, error)       { return os.Readlink(path) }
func (osHost) ReadDir(path string) ([]fs.DirEntry, error) { return os.ReadDir(path) }

func (osHost) ReadFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	const most = 1 << 20
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && len(b) > most {
		return nil, fmt.Errorf("reading %s: larger than 1 MiB", path)
	}
	return b, err
}

// plannedHost is a host on which a directory stands that step 3 will make: what a plan binds of the run's own directory is not there
// while the plan is made.
type plannedHost struct {
	HostView
	dir string
}

// planned reports whether path is the directory, or leads to it, and is not there yet.
func (h plannedHost) planned(path string, err error) bool {
	return errors.Is(err, fs.ErrNotExist) && (path == h.dir || strings.HasPrefix(h.dir, strings.TrimSuffix(path, "/")+"/"))
}

func (h plannedHost) Lstat(path string) (fs.FileInfo, error) {
	i, err := h.HostView.Lstat(path)
	if h.planned(path, err) {
		return plannedDir(filepath.Base(path)), nil
	}
	return i, err
}

func (h plannedHost) ReadDir(path string) ([]fs.DirEntry, error) {
	list, err := h.HostView.ReadDir(path)
	if h.planned(path, err) {
		return nil, nil
	}
	return list, err
}

// plannedDir is the description of a directory that will be made, by its name.
type plannedDir string

func (d plannedDir) Name() string     { return string(d) }
func (plannedDir) Size() int64        { return 0 }
func (plannedDir) Mode() fs.FileMode  { return fs.ModeDir | 0o700 }
func (plannedDir) ModTime() time.Time { return time.Time{} }
func (plannedDir) IsDir() bool        { return true }
func (plannedDir) Sys() any           { return nil }
