package journal

import (
	"fmt"
	"io"
	"os"
)

// readSmall reads a regular file of at most limit bytes. Nothing else is followed, waited for or read.
func readSmall(path string, limit int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|guarded, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	i, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !i.Mode().IsRegular() {
		return nil, &unsafeError{path, "it is not a regular file", "look at what put it there"}
	}
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(b)) > limit {
		return nil, fmt.Errorf("%q holds more than %d bytes: %w", path, limit, ErrCorrupt)
	}
	return b, nil
}
