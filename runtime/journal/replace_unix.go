//go:build unix

package journal

import (
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
)

// replace makes data the content of dir/name, atomically for every reader. With sync both the content and the name are on disk when it
// returns; without, a power failure may leave the old content, or a file that is not whole and is found out by its checksum.
func replace(dir, name string, data []byte, sync bool) error {
	path := filepath.Join(dir, name)
	f, err := renameio.NewPendingFile(path, renameio.WithTempDir(dir), renameio.WithStaticPermissions(filePerm))
	if err != nil {
		return err
	}
	// After the replacement it does nothing; before, the error that led here is the one to report.
	defer f.Cleanup()
	if _, err := f.Write(data); err != nil {
		return err
	}
	if !sync {
		// The library's own replacement always syncs, which costs more than a whole launch of a process.
		if err := f.File.Close(); err != nil {
			return err
		}
		return os.Rename(f.Name(), path)
	}
	if err := f.CloseAtomicallyReplace(); err != nil {
		return err
	}
	return syncDir(dir)
}
