//go:build linux

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// runLs lists directories by name; -l adds mode, owner, size and link target.
func runLs(c *call) error {
	flags := newFlags(c)
	all := flags.BoolP("all", "a", false, "names that begin with a dot too")
	flags.BoolP("one", "1", true, "one name a line (always so)")
	directory := flags.BoolP("directory", "d", false, "the directory itself")
	long := flags.BoolP("long", "l", false, "long form, numeric owners")
	flags.BoolP("numeric", "n", true, "numeric owners (always so)")
	names, err := parse(c, flags, 0)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		names = []string{"."}
	}
	show := func(path, name string) error {
		if !*long {
			_, err := fmt.Fprintln(c.out, name)
			return err
		}
		info, err := os.Lstat(path)
		if err != nil {
			return err
		}
		stat := info.Sys().(*syscall.Stat_t)
		if info.Mode()&fs.ModeSymlink != 0 {
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			name += " -> " + target
		}
		_, err = fmt.Fprintf(c.out, "%s %d %d %d %d %s\n", info.Mode(), stat.Nlink, stat.Uid, stat.Gid, info.Size(), name)
		return err
	}
	return eachName(c, names, func(name string) error {
		info, err := os.Stat(name)
		if errors.Is(err, fs.ErrNotExist) {
			info, err = os.Lstat(name)
		}
		if err != nil {
			return err
		}
		if *directory || !info.IsDir() {
			return show(name, name)
		}
		entries, err := os.ReadDir(name)
		if err != nil {
			return err
		}
		if len(names) > 1 {
			fmt.Fprintf(c.out, "%s:\n", name)
		}
		for _, entry := range entries {
			if strings.HasPrefix(entry.Name(), ".") && !*all {
				continue
			}
			if err := show(filepath.Join(name, entry.Name()), entry.Name()); err != nil {
				return err
			}
		}
		return nil
	})
}
