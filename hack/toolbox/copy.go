//go:build linux

package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// destination resolves "SOURCE... TARGET": into the target when it is a
// directory, onto it when it is not.
func destination(operands []string) (sources []string, place func(string) string, err error) {
	sources, target := operands[:len(operands)-1], operands[len(operands)-1]
	info, statErr := os.Stat(target)
	into := statErr == nil && info.IsDir()
	if len(sources) > 1 && !into {
		return nil, nil, fmt.Errorf("%s is not a directory", target)
	}
	return sources, func(source string) string {
		if into {
			return filepath.Join(target, filepath.Base(source))
		}
		return target
	}, nil
}

// runCp copies files, and trees with -r; modes are kept, owners are not.
func runCp(c *call) error {
	flags := newFlags(c)
	recursive := flags.BoolP("recursive", "r", false, "directories too; symlinks stay symlinks")
	flags.BoolVarP(recursive, "RECURSIVE", "R", false, "the same")
	flags.BoolVarP(recursive, "archive", "a", false, "the same")
	flags.BoolP("preserve", "p", true, "keep modes (always so)")
	flags.BoolP("force", "f", true, "overwrite (always so)")
	operands, err := parse(c, flags, 2)
	if err != nil {
		return err
	}
	sources, place, err := destination(operands)
	if err != nil {
		return err
	}
	return eachName(c, sources, func(source string) error {
		info, err := os.Stat(source)
		switch {
		case err != nil:
			return err
		case !info.IsDir():
			return copyFile(source, place(source), info)
		case !*recursive:
			return fmt.Errorf("%s is a directory: -r copies it", source)
		}
		return copyTree(source, place(source))
	})
}

func copyTree(source, target string) error {
	return filepath.WalkDir(source, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(source, path)
		if err != nil {
			return err
		}
		to := filepath.Join(target, rel)
		info, err := d.Info()
		if err != nil {
			return err
		}
		switch {
		case d.IsDir():
			if err := os.Mkdir(to, info.Mode().Perm()|0o700); err != nil && !errors.Is(err, fs.ErrExist) {
				return err
			}
			return nil
		case d.Type()&fs.ModeSymlink != 0:
			link, err := os.Readlink(path)
			if err != nil {
				return err
			}
			return os.Symlink(link, to)
		case d.Type().IsRegular():
			return copyFile(path, to, info)
		}
		return fmt.Errorf("%s is neither a file, a directory nor a symlink", path)
	})
}

func copyFile(source, target string, info fs.FileInfo) error {
	in, err := os.Open(source)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, info.Mode().Perm())
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		return errors.Join(err, out.Close())
	}
	return out.Close()
}

// runMv renames; across filesystems it copies and removes.
func runMv(c *call) error {
	flags := newFlags(c)
	flags.BoolP("force", "f", true, "overwrite (always so)")
	operands, err := parse(c, flags, 2)
	if err != nil {
		return err
	}
	sources, place, err := destination(operands)
	if err != nil {
		return err
	}
	return eachName(c, sources, func(source string) error {
		err := os.Rename(source, place(source))
		if !errors.Is(err, syscall.EXDEV) {
			return err
		}
		if err := copyTree(source, place(source)); err != nil {
			return err
		}
		return os.RemoveAll(source)
	})
}
