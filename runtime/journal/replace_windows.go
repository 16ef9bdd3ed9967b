package journal

import (
	"os"
	"path/filepath"
)

// replace makes data the content of dir/name. os.Rename replaces an existing file here too (MoveFileEx), though the system does not call
// that atomic; a record that is not whole is found out by its checksum.
func replace(dir, name string, data []byte, sync bool) (err error) {
	f, err := os.CreateTemp(dir, "."+name)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name()) // the error that led here is the one to report
		}
	}()
	_, err = f.Write(data)
	if err == nil && sync {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), filepath.Join(dir, name))
}

// reserve does nothing: each replacement takes new room.
func reserve(string, string) error { return nil }

// keep is replace with a sync.
func keep(dir, name string, data []byte, _, _ bool) (bool, error) {
	err := replace(dir, name, data, true)
	return err == nil, err
}
