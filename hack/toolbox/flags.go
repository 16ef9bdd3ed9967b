//go:build linux

package main

import (
	"fmt"
	"io"

	"github.com/spf13/pflag"
)

// newFlags returns a flag set that prints nothing itself: its errors are the
// applet's own.
func newFlags(c *call) *pflag.FlagSet {
	fs := pflag.NewFlagSet(c.name, pflag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	return fs
}

// parse parses c's arguments and returns the operands, which number at least
// least.
func parse(c *call, fs *pflag.FlagSet, least int) ([]string, error) {
	if err := fs.Parse(c.args); err != nil {
		return nil, usageError(err.Error())
	}
	if fs.NArg() < least {
		return nil, usageError(fmt.Sprintf("%d operands wanted, %d given", least, fs.NArg()))
	}
	return fs.Args(), nil
}
