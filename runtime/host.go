package runtime

import (
	"fmt"
	"io"
	"io/fs"
	"os"
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
