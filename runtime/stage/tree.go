package stage

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
)

// validName reports whether a name is a relative slash-separated path that stays where it is. Unlike fs.ValidPath it takes every byte a file
// system takes: names of real trees are not always UTF-8.
func validName(name string) bool {
	if strings.IndexByte(name, 0) >= 0 {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part == "." || part == ".." {
			return false
		}
	}
	return true
}

// walkTree calls f for everything below a directory of root, sorted by name, a directory before what is in it; the directory itself is not
// among it. Where f gives fs.SkipDir for a directory, what is in it is left out. most is asked before a directory is read: so many entries
// of it are too many, 0 for no bound. Names that are not UTF-8 are among it (fs.WalkDir over os.Root.FS refuses those).
func walkTree(root *os.Root, dir string, most func() int64, f func(name string, d fs.DirEntry) error) error {
	entries, err := readDir(root, dir, most())
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		switch err := f(name, e); {
		case errors.Is(err, fs.SkipDir):
			continue
		case err != nil:
			return err
		}
		if e.IsDir() {
			if err := walkTree(root, name, most, f); err != nil {
				return err
			}
		}
	}
	return nil
}

func readDir(root *os.Root, dir string, most int64) (entries []fs.DirEntry, err error) {
	d, err := root.Open(dir)
	if err != nil {
		return nil, err
	}
	defer func() {
		if closed := d.Close(); err == nil {
			err = closed
		}
	}()
	entries, err = d.ReadDir(int(most))
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if most > 0 && int64(len(entries)) >= most {
		return nil, exceeds("%q holds more than the bound on files lets in", dir)
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// openRegular opens a regular file for reading. Not waiting at the opening and looking at what was opened are for the case that a FIFO took the
// file's place.
func openRegular(root *os.Root, name string) (*os.File, fs.FileInfo, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%q was replaced while it was read", name)
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}
