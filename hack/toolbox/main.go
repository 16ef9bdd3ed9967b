//go:build linux

// Toolbox is the whole user land of the test image: a shell, the small
// commands tests use, and sbx-probe, which behaves badly on request. It is one
// static binary that acts as the program it is called by, so an image or a
// root filesystem needs nothing from a registry or from the host.
//
//	toolbox list             the names it answers to
//	toolbox install DIR      write a root filesystem that contains it
//	toolbox NAME ARG...      act as NAME
package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

func main() {
	dropSignalsAsPid1()
	c := &call{
		name: filepath.Base(os.Args[0]),
		args: os.Args[1:],
		in:   os.Stdin,
		out:  os.Stdout,
		err:  os.Stderr,
	}
	os.Exit(c.dispatch())
}

// call is one invocation of an applet.
type call struct {
	name string   // the name it was called by, without a directory
	args []string // the words after the name
	in   io.Reader
	out  io.Writer
	err  io.Writer
}

// applet runs one program. A nil error is exit status 0; an exitStatus is that
// status without a message; any other error is printed and is status 1.
type applet func(*call) error

// exitStatus is the error of an applet that has already said all it has to say.
type exitStatus int

func (s exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// usageError is a wrong command line: it is printed and is exit status 2.
type usageError string

func (u usageError) Error() string { return string(u) }

// applets maps each program name to what it does. It is filled by init since
// env and sh run other applets, which would otherwise be a reference cycle.
var applets map[string]applet

func init() {
	applets = map[string]applet{
		"[":         shellBuiltin,
		"basename":  runBasename,
		"cat":       runCat,
		"chmod":     runChmod,
		"cp":        runCp,
		"dd":        runDd,
		"dirname":   runDirname,
		"echo":      shellBuiltin,
		"env":       runEnv,
		"false":     func(*call) error { return exitStatus(1) },
		"find":      runFind,
		"grep":      runGrep,
		"head":      runHead,
		"hostname":  runHostname,
		"id":        runID,
		"kill":      runKill,
		"ln":        runLn,
		"ls":        runLs,
		"mkdir":     runMkdir,
		"mv":        runMv,
		"nc":        runNc,
		"printf":    shellBuiltin,
		"pwd":       shellBuiltin,
		"rm":        runRm,
		"rmdir":     runRmdir,
		"sbx-probe": runProbe,
		"seq":       runSeq,
		"sh":        runShell,
		"sleep":     runSleep,
		"sort":      runSort,
		"tail":      runTail,
		"tee":       runTee,
		"test":      shellBuiltin,
		"touch":     runTouch,
		"true":      func(*call) error { return nil },
		"uname":     runUname,
		"uniq":      runUniq,
		"wc":        runWc,
		"yes":       runYes,
	}
}

// dispatch runs the applet that c names and returns its exit status.
func (c *call) dispatch() int {
	if c.name == "toolbox" {
		switch {
		case len(c.args) == 0:
			fmt.Fprintln(c.err, "usage: toolbox list | install DIR | NAME ARG...")
			return 2
		case c.args[0] == "list":
			for _, name := range slices.Sorted(maps.Keys(applets)) {
				fmt.Fprintln(c.out, name)
			}
			return 0
		case c.args[0] == "install":
			return c.status(runInstall(&call{name: "install", args: c.args[1:], in: c.in, out: c.out, err: c.err}))
		}
		c.name, c.args = c.args[0], c.args[1:]
	}
	run, ok := applets[c.name]
	if !ok {
		fmt.Fprintf(c.err, "toolbox: no applet is called %q; toolbox list prints them\n", c.name)
		return 127
	}
	return c.status(run(c))
}

// status turns an applet's error into an exit status and prints what is left
// to print.
func (c *call) status(err error) int {
	if err == nil {
		return 0
	}
	var status exitStatus
	if errors.As(err, &status) {
		return int(status)
	}
	fmt.Fprintf(c.err, "%s: %v\n", c.name, err)
	var usage usageError
	if errors.As(err, &usage) {
		return 2
	}
	return 1
}
