//go:build linux

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// eachName calls do with every name, reports what fails and goes on.
func eachName(c *call, names []string, do func(string) error) error {
	failed := false
	for _, name := range names {
		if err := do(name); err != nil {
			fmt.Fprintf(c.err, "%s: %v\n", c.name, err)
			failed = true
		}
	}
	if failed {
		return exitStatus(1)
	}
	return nil
}

// runBasename prints the last element of a path.
func runBasename(c *call) error {
	if len(c.args) < 1 || len(c.args) > 2 {
		return usageError("usage: basename PATH [SUFFIX]")
	}
	base := filepath.Base(c.args[0])
	if len(c.args) == 2 && base != c.args[1] {
		base = strings.TrimSuffix(base, c.args[1])
	}
	_, err := fmt.Fprintln(c.out, base)
	return err
}

// runDirname prints a path without its last element.
func runDirname(c *call) error {
	if len(c.args) != 1 {
		return usageError("usage: dirname PATH")
	}
	_, err := fmt.Fprintln(c.out, filepath.Dir(c.args[0]))
	return err
}

// runMkdir makes directories.
func runMkdir(c *call) error {
	flags := newFlags(c)
	parents := flags.BoolP("parents", "p", false, "parents too; no error when it exists")
	mode := flags.StringP("mode", "m", "777", "octal mode, before the umask")
	names, err := parse(c, flags, 1)
	if err != nil {
		return err
	}
	bits, err := strconv.ParseUint(*mode, 8, 12)
	if err != nil {
		return usageError(fmt.Sprintf("%q is not an octal mode", *mode))
	}
	return eachName(c, names, func(name string) error {
		if *parents {
			return os.MkdirAll(name, fs.FileMode(bits))
		}
		return os.Mkdir(name, fs.FileMode(bits))
	})
}

// runRm removes files, and directories with -r; -f forgives absent ones.
func runRm(c *call) error {
	flags := newFlags(c)
	recursive := flags.BoolP("recursive", "r", false, "directories too")
	flags.BoolVarP(recursive, "RECURSIVE", "R", false, "the same")
	force := flags.BoolP("force", "f", false, "no error for what is absent")
	names, err := parse(c, flags, 0)
	if err != nil {
		return err
	}
	if len(names) == 0 && !*force {
		return usageError("no name given")
	}
	return eachName(c, names, func(name string) error {
		info, err := os.Lstat(name)
		switch {
		case err != nil && *force && errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case info.IsDir() && !*recursive:
			return fmt.Errorf("%s is a directory: -r removes it", name)
		case *recursive:
			return os.RemoveAll(name)
		}
		return os.Remove(name)
	})
}

// runRmdir removes empty directories.
func runRmdir(c *call) error {
	names, err := parse(c, newFlags(c), 1)
	if err != nil {
		return err
	}
	return eachName(c, names, syscall.Rmdir)
}

// runTouch creates absent files and sets both times to now.
func runTouch(c *call) error {
	names, err := parse(c, newFlags(c), 1)
	if err != nil {
		return err
	}
	return eachName(c, names, func(name string) error {
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o666)
		if err != nil {
			return err
		}
		now := time.Now()
		return errors.Join(f.Close(), os.Chtimes(name, now, now))
	})
}

// runLn makes hard links, or symlinks with -s; -f replaces.
func runLn(c *call) error {
	flags := newFlags(c)
	symbolic := flags.BoolP("symbolic", "s", false, "a symlink")
	force := flags.BoolP("force", "f", false, "replace the target")
	operands, err := parse(c, flags, 2)
	if err != nil {
		return err
	}
	sources, place, err := destination(operands)
	if err != nil {
		return err
	}
	return eachName(c, sources, func(source string) error {
		target := place(source)
		if *force {
			if err := os.Remove(target); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		if *symbolic {
			return os.Symlink(source, target)
		}
		return os.Link(source, target)
	})
}
