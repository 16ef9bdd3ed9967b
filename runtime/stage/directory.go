package stage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"syscall"
)

// copyDirectory copies a directory that others may be changing: everything is opened below one root, and never waited for.
func copyDirectory(ctx context.Context, s *sink, dir string) (left []string, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() {
		if closed := root.Close(); err == nil {
			err = closed
		}
	}()
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if name == "." {
			return nil
		}
		if repositoryState(path.Base(name)) {
			left = leave(left, name)
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if err := copyEntry(ctx, s, root, name, d); err != nil {
			return fmt.Errorf("%q: %w", name, err)
		}
		return nil
	})
	return left, err
}

func copyEntry(ctx context.Context, s *sink, root *os.Root, name string, d fs.DirEntry) error {
	info, err := d.Info()
	if err != nil {
		return err
	}
	switch t := info.Mode().Type(); t {
	case fs.ModeDir:
		return s.dir(name, info.Mode())
	case fs.ModeSymlink:
		text, err := root.Readlink(name)
		if err != nil {
			return err
		}
		return s.link(name, text)
	case 0:
		return copyFile(ctx, s, root, name)
	default:
		return refuse("it is neither a directory, a file nor a link (%v)", t)
	}
}

// copyFile copies a regular file. Not waiting at the opening and looking at what was opened are for the case that a FIFO took its place.
func copyFile(ctx context.Context, s *sink, root *os.Root, name string) (err error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer func() {
		if closed := f.Close(); err == nil {
			err = closed
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errors.New("it was replaced while it was copied")
	}
	return s.file(ctx, name, info.Mode(), f)
}
