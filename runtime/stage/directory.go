package stage

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
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
	// What is left out needs no room, and a directory of the bound's own size is read to its end.
	most := func() int64 { return s.bounds.files - s.bounds.haveFiles + 1 + maxRepositoryState }
	err = walkTree(root, ".", most, func(name string, d fs.DirEntry) error {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if repositoryState(path.Base(name)) {
			left = leave(left, name)
			return fs.SkipDir
		}
		if err := copyEntry(ctx, s, root, name, d); err != nil {
			return fmt.Errorf("%q: %w", name, err)
		}
		return nil
	})
	return left, err
}

// maxRepositoryState is how many entries of one directory may be a repository's own state, in any spelling.
const maxRepositoryState = 64

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

func copyFile(ctx context.Context, s *sink, root *os.Root, name string) (err error) {
	f, info, err := openRegular(root, name)
	if err != nil {
		return err
	}
	defer func() {
		if closed := f.Close(); err == nil {
			err = closed
		}
	}()
	return s.file(ctx, name, info.Mode(), f)
}
