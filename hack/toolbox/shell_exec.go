//go:build linux

package main

import (
	"fmt"
	"os"

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
	path, err := interp.LookPathDir(hc.Dir, hc.Env, args[0])
	if err != nil {
		fmt.Fprintf(hc.Stderr, "exec: %v\n", err)
		return exitStatus(127)
	}
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
