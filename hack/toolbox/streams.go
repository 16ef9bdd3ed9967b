//go:build linux

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// eachInput calls do with every named file, or with standard input when there
// is none or the name is "-". A file that cannot be read is reported and the
// others are still read; the result is then exit status 1.
func eachInput(c *call, names []string, do func(name string, r io.Reader) error) error {
	if len(names) == 0 {
		names = []string{"-"}
	}
	failed := false
	for _, name := range names {
		if err := oneInput(c, name, do); err != nil {
			if errors.Is(err, errStop) {
				return nil
			}
			fmt.Fprintf(c.err, "%s: %v\n", c.name, err)
			failed = true
		}
	}
	if failed {
		return exitStatus(1)
	}
	return nil
}

// errStop ends eachInput early without a failure.
var errStop = errors.New("stop reading")

func oneInput(c *call, name string, do func(string, io.Reader) error) error {
	if name == "-" {
		return do(name, c.in)
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return do(name, f)
}
