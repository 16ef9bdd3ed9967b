//go:build linux

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"regexp"
)

// runGrep prints the lines a pattern (Go's syntax, which contains what tests
// use of POSIX extended) matches. Exit status: 0 matched, 1 not, 2 trouble.
func runGrep(c *call) error {
	flags := newFlags(c)
	fixed := flags.BoolP("fixed-strings", "F", false, "the pattern is text")
	flags.BoolP("extended-regexp", "E", true, "extended pattern (always so)")
	ignoreCase := flags.BoolP("ignore-case", "i", false, "ignore case")
	invert := flags.BoolP("invert-match", "v", false, "lines that do not match")
	count := flags.BoolP("count", "c", false, "print how many lines")
	quiet := flags.BoolP("quiet", "q", false, "print nothing")
	only := flags.BoolP("files-with-matches", "l", false, "print names of files")
	recursive := flags.BoolP("recursive", "r", false, "walk directories")
	operands, err := parse(c, flags, 1)
	if err != nil {
		return err
	}
	text, names := operands[0], operands[1:]
	if *fixed {
		text = regexp.QuoteMeta(text)
	}
	if *ignoreCase {
		text = "(?i)" + text
	}
	pattern, err := regexp.Compile(text)
	if err != nil {
		return usageError(err.Error())
	}
	if *recursive {
		if names, err = regularFiles(names); err != nil {
			fmt.Fprintf(c.err, "%s: %v\n", c.name, err)
			return exitStatus(2)
		}
	}
	found, named := false, len(names) > 1 || *recursive
	err = eachInput(c, names, func(name string, r io.Reader) error {
		matches := 0
		in := bufio.NewReader(r)
		for {
			line, err := in.ReadString('\n')
			if err != nil && !errors.Is(err, io.EOF) {
				return err
			}
			ended := err != nil
			if ended && line == "" {
				break
			}
			if !ended {
				line = line[:len(line)-1]
			}
			if pattern.MatchString(line) != *invert {
				found = true
				matches++
				switch {
				case *quiet:
					return errStop
				case *only:
					fmt.Fprintln(c.out, name)
					return nil
				case !*count && named:
					fmt.Fprintf(c.out, "%s:%s\n", name, line)
				case !*count:
					fmt.Fprintln(c.out, line)
				}
			}
			if ended {
				break
			}
		}
		if *count && named {
			fmt.Fprintf(c.out, "%s:%d\n", name, matches)
		} else if *count {
			fmt.Fprintln(c.out, matches)
		}
		return nil
	})
	switch {
	case err != nil:
		return exitStatus(2)
	case !found:
		return exitStatus(1)
	}
	return nil
}

// regularFiles lists the files under each root, "." when there is none.
func regularFiles(roots []string) ([]string, error) {
	if len(roots) == 0 {
		roots = []string{"."}
	}
	var names []string
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				names = append(names, path)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return names, nil
}
