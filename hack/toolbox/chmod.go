//go:build linux

package main

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// runChmod sets an octal mode, or adds and removes bits (u+x, go-w, +t).
func runChmod(c *call) error {
	recursive := len(c.args) > 0 && c.args[0] == "-R"
	if recursive {
		c.args = c.args[1:]
	}
	// Not through the flag set: a mode such as -w is an operand.
	if len(c.args) < 2 {
		return usageError("usage: chmod [-R] MODE NAME...")
	}
	change, err := parseMode(c.args[0])
	if err != nil {
		return usageError(err.Error())
	}
	return eachName(c, c.args[1:], func(name string) error {
		if !recursive {
			return chmodOne(name, change)
		}
		return filepath.WalkDir(name, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.Type()&fs.ModeSymlink != 0 {
				return err
			}
			return chmodOne(path, change)
		})
	})
}

func chmodOne(name string, change func(uint32) uint32) error {
	var stat syscall.Stat_t
	if err := syscall.Stat(name, &stat); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := syscall.Chmod(name, change(stat.Mode&0o7777)); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// parseMode returns what a chmod mode does to permission bits.
func parseMode(text string) (func(uint32) uint32, error) {
	if bits, err := strconv.ParseUint(text, 8, 12); err == nil {
		return func(uint32) uint32 { return uint32(bits) }, nil
	}
	var changes []func(uint32) uint32
	for _, clause := range strings.Split(text, ",") {
		at := strings.IndexAny(clause, "+-=")
		if at < 0 {
			return nil, fmt.Errorf("%q is not a mode", text)
		}
		var who, bits uint32
		for _, r := range clause[:at] {
			mask, ok := map[rune]uint32{'u': 0o4700, 'g': 0o2070, 'o': 0o1007, 'a': 0o7777}[r]
			if !ok {
				return nil, fmt.Errorf("%q is not a mode", text)
			}
			who |= mask
		}
		if at == 0 {
			who = 0o7777
		}
		for _, r := range clause[at+1:] {
			mask, ok := map[rune]uint32{'r': 0o444, 'w': 0o222, 'x': 0o111, 's': 0o6000, 't': 0o1000}[r]
			if !ok {
				return nil, fmt.Errorf("%q is not a mode", text)
			}
			bits |= mask
		}
		bits &= who
		changes = append(changes, map[byte]func(uint32) uint32{
			'+': func(old uint32) uint32 { return old | bits },
			'-': func(old uint32) uint32 { return old &^ bits },
			'=': func(old uint32) uint32 { return old&^(who&0o777) | bits },
		}[clause[at]])
	}
	return func(old uint32) uint32 {
		for _, change := range changes {
			old = change(old)
		}
		return old
	}, nil
}
