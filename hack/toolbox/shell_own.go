//go:build linux

package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
	"mvdan.cc/sh/v3/interp"
)

// ownBuiltins are builtins of POSIX that the interpreter knows by name only.
var ownBuiltins = map[string]applet{
	"kill":   runKill,
	"ulimit": runUlimit,
	"umask":  runUmask,
}

// runOwn runs one of ownBuiltins with the streams of the command and returns a
// command that has its exit status.
func (sh *shell) runOwn(hc interp.HandlerContext, args []string) []string {
	c := &call{name: args[0], args: args[1:], in: hc.Stdin, out: hc.Stdout, err: hc.Stderr}
	status := c.status(ownBuiltins[args[0]](c))
	if args[0] == "kill" && status == 0 {
		if sig, pids, err := parseKill(args[1:]); err == nil && slices.Contains(pids, strconv.Itoa(os.Getpid())) {
			sh.traps.await(sig)
		}
	}
	return withStatus(status)
}

// withStatus is a command that does nothing but exit with a status.
func withStatus(status int) []string {
	if status == 0 {
		return []string{"true"}
	}
	return []string{"eval", fmt.Sprintf("(exit %d)", status)}
}

// runUmask prints the mask of the shell, or sets it to an octal one.
func runUmask(c *call) error {
	if len(c.args) > 1 {
		return usageError("usage: umask [OCTAL]")
	}
	if len(c.args) == 1 {
		mask, err := strconv.ParseUint(c.args[0], 8, 9)
		if err != nil {
			return usageError(fmt.Sprintf("%q is not an octal mask", c.args[0]))
		}
		unix.Umask(int(mask))
		return nil
	}
	// The kernel tells the mask only to who sets it.
	mask := unix.Umask(0)
	unix.Umask(mask)
	_, err := fmt.Fprintf(c.out, "%04o\n", mask)
	return err
}

// ulimits are the letters of ulimit, with the size of their unit.
var ulimits = map[string]struct {
	resource int
	unit     uint64
}{
	"-c": {unix.RLIMIT_CORE, 512}, "-d": {unix.RLIMIT_DATA, 1024}, "-f": {unix.RLIMIT_FSIZE, 512},
	"-l": {unix.RLIMIT_MEMLOCK, 1024}, "-n": {unix.RLIMIT_NOFILE, 1}, "-s": {unix.RLIMIT_STACK, 1024},
	"-t": {unix.RLIMIT_CPU, 1}, "-u": {unix.RLIMIT_NPROC, 1}, "-v": {unix.RLIMIT_AS, 1024},
}

// openFilesSet is whether this shell set its limit of open files, after which
// the kernel's own answer is the right one.
var openFilesSet bool

// runUlimit prints or sets one limit: ulimit [-S|-H] [-c|-d|-f|-l|-n|-s|-t|-u|-v]
// [N|unlimited]. Without -S or -H it prints the soft one and sets both.
func runUlimit(c *call) error {
	soft, hard, letter, words := false, false, "-f", c.args
	for len(words) > 0 && len(words[0]) > 1 && words[0][0] == '-' {
		for _, l := range words[0][1:] {
			switch l {
			case 'S':
				soft = true
			case 'H':
				hard = true
			default:
				letter = "-" + string(l)
			}
		}
		words = words[1:]
	}
	which, ok := ulimits[letter]
	if !ok || len(words) > 1 {
		return usageError("usage: ulimit [-S|-H] [-c|-d|-f|-l|-n|-s|-t|-u|-v] [N|unlimited]")
	}
	var limit unix.Rlimit
	var err error
	if which.resource == unix.RLIMIT_NOFILE && !openFilesSet {
		limit, err = openFilesAtStart()
	} else {
		err = unix.Getrlimit(which.resource, &limit)
	}
	if err != nil {
		return err
	}
	if len(words) == 0 {
		value := limit.Cur
		if hard {
			value = limit.Max
		}
		if value == unix.RLIM_INFINITY {
			_, err = fmt.Fprintln(c.out, "unlimited")
		} else {
			_, err = fmt.Fprintln(c.out, value/which.unit)
		}
		return err
	}
	value := uint64(unix.RLIM_INFINITY)
	if words[0] != "unlimited" {
		if value, err = strconv.ParseUint(words[0], 10, 54); err != nil {
			return usageError(fmt.Sprintf("%q is not a limit", words[0]))
		}
		value *= which.unit
	}
	if soft || !hard {
		limit.Cur = value
	}
	if hard || !soft {
		limit.Max = value
	}
	if err := unix.Setrlimit(which.resource, &limit); err != nil {
		return fmt.Errorf("setting %s: %w", letter, err)
	}
	openFilesSet = openFilesSet || which.resource == unix.RLIMIT_NOFILE
	return nil
}
