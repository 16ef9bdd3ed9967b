package journal

import (
	"errors"
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
	if i.Size() > limit {
		return nil, fmt.Errorf("%q holds more than %d bytes: %w", path, limit, ErrCorrupt)
	}
	b := make([]byte, i.Size())
	n, err := io.ReadFull(f, b)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return b[:n], nil
}
