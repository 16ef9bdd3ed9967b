//go:build linux

package main

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// readLines reads all lines of all inputs, without their newlines.
func readLines(c *call, names []string) ([]string, error) {
	var lines []string
	err := eachInput(c, names, func(_ string, r io.Reader) error {
		all, err := io.ReadAll(r)
		if err != nil || len(all) == 0 {
			return err
		}
		lines = append(lines, strings.Split(strings.TrimSuffix(string(all), "\n"), "\n")...)
		return nil
	})
	return lines, err
}

// runSort sorts lines by their bytes, or by a leading number with -n.
func runSort(c *call) error {
	fs := newFlags(c)
	numeric := fs.BoolP("numeric-sort", "n", false, "compare leading numbers")
	reverse := fs.BoolP("reverse", "r", false, "largest first")
	unique := fs.BoolP("unique", "u", false, "drop repeated lines")
	names, err := parse(c, fs, 0)
	if err != nil {
		return err
	}
	lines, err := readLines(c, names)
	if err != nil {
		return err
	}
	slices.SortFunc(lines, func(a, b string) int {
		order := 0
		if *numeric {
			order = compareNumbers(leadingNumber(a), leadingNumber(b))
		}
		if order == 0 {
			order = strings.Compare(a, b)
		}
		if *reverse {
			return -order
		}
		return order
	})
	if *unique {
		lines = slices.Compact(lines)
	}
	return printLines(c, lines)
}

func compareNumbers(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

var numberPrefix = regexp.MustCompile(`^\s*-?\d+(\.\d+)?`)

// leadingNumber is the number a line begins with, 0 when it begins with none.
func leadingNumber(line string) float64 {
	n, err := strconv.ParseFloat(strings.TrimSpace(numberPrefix.FindString(line)), 64)
	if err != nil {
		return 0
	}
	return n
}

func printLines(c *call, lines []string) error {
	out := bufio.NewWriter(c.out)
	for _, line := range lines {
		if _, err := fmt.Fprintln(out, line); err != nil {
			return err
		}
	}
	return out.Flush()
}

// runUniq drops repeated neighbouring lines; -c counts them, -d prints only
// lines that were repeated.
func runUniq(c *call) error {
	fs := newFlags(c)
	counted := fs.BoolP("count", "c", false, "print how often")
	repeated := fs.BoolP("repeated", "d", false, "only repeated lines")
	names, err := parse(c, fs, 0)
	if err != nil {
		return err
	}
	lines, err := readLines(c, names)
	if err != nil {
		return err
	}
	var kept []string
	for start := 0; start < len(lines); {
		end := start + 1
		for end < len(lines) && lines[end] == lines[start] {
			end++
		}
		if !*repeated || end-start > 1 {
			line := lines[start]
			if *counted {
				line = fmt.Sprintf("%7d %s", end-start, line)
			}
			kept = append(kept, line)
		}
		start = end
	}
	return printLines(c, kept)
}
