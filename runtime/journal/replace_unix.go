//go:build unix

package journal

import (
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
)

// replace makes data the content of dir/name, atomically for every reader. With sync both the content and the name are on disk when it
// returns. Without, a power failure may leave an older content, or a file that is not whole and is found out by its checksum; and the
// file may end in line breaks that data does not have.
func replace(dir, name string, data []byte, sync bool) error {
	if !sync {
		return swap(dir, name, data)
	}
	f, err := renameio.NewPendingFile(filepath.Join(dir, name), renameio.WithTempDir(dir), renameio.WithStaticPermissions(filePerm))
	if err != nil {
		return err
	}
	// After the replacement it does nothing; before, the error that led here is the one to report.
	defer f.Cleanup()
	if _, err := f.Write(data); err != nil {
		return err
	}
	if err := f.CloseAtomicallyReplace(); err != nil {
		return err
	}
	return syncDir(dir)
}

// over writes data to a new file and renames that to dir/name.
func over(dir, name string, data []byte) error {
	f, err := renameio.NewPendingFile(filepath.Join(dir, name), renameio.WithTempDir(dir), renameio.WithStaticPermissions(filePerm))
	if err != nil {
		return err
	}
	defer f.Cleanup()
	if _, err := f.Write(data); err != nil {
		return err
	}
	// The library's own replacement always syncs.
	if err := f.File.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), filepath.Join(dir, name))
}
