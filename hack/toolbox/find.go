//go:build linux

package main

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// runFind walks trees and prints paths: -name GLOB, -type f|d|l|s|p,
// -maxdepth N, all of which must hold.
func runFind(c *call) error {
	operands := c.args
	var roots []string
	for len(operands) > 0 && !strings.HasPrefix(operands[0], "-") {
		roots, operands = append(roots, operands[0]), operands[1:]
	}
	if len(roots) == 0 {
		roots = []string{"."}
	}
	name, kind, depth := "", "", -1
	for len(operands) > 0 {
		if operands[0] == "-print" {
			operands = operands[1:]
			continue
		}
		if len(operands) < 2 {
			return usageError(operands[0] + " wants a value, or is unknown")
		}
		var err error
		switch value := operands[1]; operands[0] {
		case "-name":
			name = value
			_, err = filepath.Match(value, "")
		case "-type":
			kind = value
			if !slices.Contains([]string{"f", "d", "l", "s", "p"}, value) {
				err = fmt.Errorf("-type %s is not one of f d l s p", value)
			}
		case "-maxdepth":
			depth, err = strconv.Atoi(value)
		default:
			err = fmt.Errorf("%s is unknown", operands[0])
		}
		if err != nil {
			return usageError(err.Error())
		}
		operands = operands[2:]
	}
	failed := false
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				fmt.Fprintf(c.err, "%s: %v\n", c.name, err)
				failed = true
				if d == nil {
					return fs.SkipAll
				}
				return nil
			}
			level := 0
			if rel, _ := filepath.Rel(root, path); rel != "." {
				level = strings.Count(rel, "/") + 1
			}
			matched, _ := filepath.Match(name, filepath.Base(path))
			if (name == "" || matched) && (kind == "" || kind == kindLetter(d.Type())) {
				// WalkDir has dropped the ./ that find keeps.
				if root == "." && path != "." {
					path = "./" + path
				}
				if _, err := fmt.Fprintln(c.out, path); err != nil {
					return err
				}
			}
			if d.IsDir() && depth >= 0 && level >= depth {
				return fs.SkipDir
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if failed {
		return exitStatus(1)
	}
	return nil
}

func kindLetter(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return "f"
	case mode.IsDir():
		return "d"
	case mode&fs.ModeSymlink != 0:
		return "l"
	case mode&fs.ModeSocket != 0:
		return "s"
	case mode&fs.ModeNamedPipe != 0:
		return "p"
	}
	return "?"
}
