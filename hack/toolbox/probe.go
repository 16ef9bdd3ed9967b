//go:build linux

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

// probes are the subcommands of sbx-probe: what a sandboxed command can see,
// and what it can do wrong. Filled by init, as grandchild starts others.
var probes map[string]applet

func init() {
	probes = map[string]applet{
		"alloc":          probeAlloc,
		"connect":        probeConnect,
		"count-go-lines": probeCountGoLines,
		"environ":        probeEnviron,
		"exit":           probeExit,
		"fds":            probeFds,
		"forkbomb":       probeForkbomb,
		"grandchild":     probeGrandchild,
		"heartbeat":      probeHeartbeat,
		"ignore-term":    probeIgnoreTerm,
		"jsonrpc":        probeJSONRPC,
		"limits":         probeLimits,
		"listen":         probeListen,
		"mounts":         func(c *call) error { return printFile(c, "/proc/self/mountinfo") },
		"notify":         probeNotify,
		"repl":           probeREPL,
		"signal":         probeSignal,
		"spew":           probeSpew,
		"status":         func(c *call) error { return printFile(c, "/proc/self/status") },
	}
}

// runProbe is sbx-probe SUBCOMMAND ARG...
func runProbe(c *call) error {
	names := strings.Join(slices.Sorted(maps.Keys(probes)), " ")
	if len(c.args) == 0 {
		return usageError("usage: sbx-probe SUBCOMMAND ARG..., one of " + names)
	}
	probe, ok := probes[c.args[0]]
	if !ok {
		return usageError(fmt.Sprintf("%q is not one of %s", c.args[0], names))
	}
	inner := *c
	inner.name, inner.args = "sbx-probe "+c.args[0], c.args[1:]
	return probe(&inner)
}

// number reads the operand at index, which must be an integer of at least 0.
func number(c *call, index int) (int64, error) {
	if index >= len(c.args) {
		return 0, usageError(fmt.Sprintf("operand %d is missing: a number", index+1))
	}
	n, err := parseSize(c.args[index])
	if err != nil || n < 0 {
		return 0, usageError(fmt.Sprintf("%q is not a number of at least 0", c.args[index]))
	}
	return n, nil
}

// probeExit exits with status N, 0 to 255.
func probeExit(c *call) error {
	n, err := number(c, 0)
	if err != nil {
		return err
	}
	if n > 255 {
		return usageError("an exit status is at most 255")
	}
	return exitStatus(n)
}

// probeSignal sends a signal to itself with its default action, so that the
// process dies of exactly that signal.
func probeSignal(c *call) error {
	if len(c.args) != 1 {
		return usageError("usage: sbx-probe signal NAME-OR-NUMBER")
	}
	sig, err := parseSignal(c.args[0])
	if err != nil {
		return usageError(err.Error())
	}
	return dieOf(sig)
}

func printFile(c *call, path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	_, err = c.out.Write(data)
	return err
}

// probeEnviron prints the environment the kernel recorded at exec, one entry a
// line, in its order.
func probeEnviron(c *call) error {
	data, err := os.ReadFile("/proc/self/environ")
	if err != nil {
		return err
	}
	if len(data) == 0 {
		return nil
	}
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(data), "\x00"), "\x00") {
		if _, err := fmt.Fprintln(c.out, entry); err != nil {
			return err
		}
	}
	return nil
}

// probeCountGoLines prints "FILES LINES" of the Go source under DIR and writes
// the same to the file OUT when one is given.
func probeCountGoLines(c *call) error {
	if len(c.args) < 1 || len(c.args) > 2 {
		return usageError("usage: sbx-probe count-go-lines DIR [OUT]")
	}
	names, err := regularFiles(c.args[:1])
	if err != nil {
		return err
	}
	files, lines := 0, 0
	for _, name := range names {
		if !strings.HasSuffix(name, ".go") {
			continue
		}
		n, err := countLines(name)
		if err != nil {
			return err
		}
		files, lines = files+1, lines+n
	}
	result := fmt.Sprintf("%d %d\n", files, lines)
	if len(c.args) == 2 {
		if err := os.WriteFile(c.args[1], []byte(result), 0o644); err != nil {
			return err
		}
	}
	_, err = fmt.Fprint(c.out, result)
	return err
}

func countLines(name string) (int, error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	lines := 0
	in := bufio.NewReader(f)
	for {
		part, err := in.ReadSlice('\n')
		if len(part) > 0 && part[len(part)-1] == '\n' {
			lines++
		}
		switch {
		case errors.Is(err, io.EOF):
			return lines, nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return 0, err
		}
	}
}
