//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

// markExec notes the offsets of the exec commands under node that the shell
// process itself would run. Subshells, pipelines, substitutions and background
// commands share our process, so an exec there must not replace it.
func markExec(node syntax.Node, offsets map[uint]bool) {
	syntax.Walk(node, func(node syntax.Node) bool {
		switch node := node.(type) {
		case *syntax.Subshell, *syntax.CmdSubst, *syntax.ProcSubst, *syntax.FuncDecl:
			return false
		case *syntax.Stmt:
			return !node.Background
		case *syntax.BinaryCmd:
			return node.Op == syntax.AndStmt || node.Op == syntax.OrStmt
		case *syntax.CallExpr:
			if len(node.Args) > 1 && node.Args[0].Lit() == "exec" {
				offsets[node.Pos().Offset()] = true
			}
		}
		return true
	})
}

// execute replaces the process by a command with the descriptors, directory
// and exported variables of hc. It returns only an error, which ends the
// shell, as POSIX says of an exec that fails.
func execute(hc interp.HandlerContext, args []string) error {
	path, status := lookUp(hc, args[0])
	if status != 0 {
		return exitStatus(status)
	}
	var err error
	if err := unix.Chdir(hc.Dir); err != nil {
		return fmt.Errorf("exec: entering %s: %w", hc.Dir, err)
	}
	// Every stream is first copied above the targets: the file of one stream may
	// itself be the descriptor another stream is about to take.
	var copies [3]int
	for target, stream := range []any{hc.Stdin, hc.Stdout, hc.Stderr} {
		file, ok := stream.(*os.File)
		if !ok {
			return fmt.Errorf("exec: descriptor %d is not a file but %T", target, stream)
		}
		if copies[target], err = unix.FcntlInt(file.Fd(), unix.F_DUPFD_CLOEXEC, len(copies)); err != nil {
			return fmt.Errorf("exec: copying descriptor %d: %w", target, err)
		}
	}
	for target, fd := range copies {
		if err := unix.Dup3(fd, target, 0); err != nil {
			return fmt.Errorf("exec: placing descriptor %d: %w", target, err)
		}
	}
	err = unix.Exec(path, args, exported(hc.Env))
	fmt.Fprintf(hc.Stderr, "exec: %s: %v\n", path, err)
	return exitStatus(126)
}

// lookUp finds a command. When it cannot it says so, and returns the status POSIX
// gives: 127 for what is not there, 126 for what may not be executed.
func lookUp(hc interp.HandlerContext, name string) (path string, status int) {
	path, err := interp.LookPathDir(hc.Dir, hc.Env, name)
	if err == nil {
		return path, 0
	}
	if strings.Contains(name, "/") {
		place := name
		if !filepath.IsAbs(place) {
			place = filepath.Join(hc.Dir, place)
		}
		if _, statErr := os.Stat(place); statErr == nil {
			fmt.Fprintf(hc.Stderr, "%s: %v\n", name, err)
			return "", 126
		}
	}
	fmt.Fprintf(hc.Stderr, "%s: not found\n", name)
	return "", 127
}

// onExec stands before the interpreter's own execution of commands, whose exit
// status of a failed one is 127 always.
func onExec(next interp.ExecHandlerFunc) interp.ExecHandlerFunc {
	return func(ctx context.Context, args []string) error {
		if _, status := lookUp(interp.HandlerCtx(ctx), args[0]); status != 0 {
			return interp.ExitStatus(status)
		}
		return next(ctx, args)
	}
}

// exported lists the variables a command inherits, as NAME=VALUE.
func exported(env expand.Environ) []string {
	values := make(map[string]string)
	for name, v := range env.Each {
		delete(values, name)
		if v.IsSet() && v.Exported && v.Kind == expand.String {
			values[name] = v.Str
		}
	}
	list := make([]string, 0, len(values))
	for name, value := range values {
		list = append(list, name+"="+value)
	}
	return list
}
