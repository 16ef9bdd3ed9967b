//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

// runShell is sh: sh [-eufnvxC] [-o OPTION] [-c COMMANDS [NAME [ARG...]] | -s [ARG...] | FILE [ARG...]].
// It reads POSIX shell. Beyond what the interpreter library does by itself,
// exec replaces the process (shell_exec.go), a background command is a process
// of its own (shell_background.go), and trap takes signals (shell_trap.go).
// Redirections know the descriptors 0, 1 and 2 only.
func runShell(c *call) error {
	line, err := parseShellLine(c.args)
	if err != nil {
		return err
	}
	sh := &shell{call: c, name: "sh"}
	params := append(line.options, "--")
	var source io.Reader
	switch {
	case line.commands != nil:
		source = strings.NewReader(*line.commands)
		if len(line.operands) > 0 {
			sh.name = line.operands[0]
			params = append(params, line.operands[1:]...)
		}
	case len(line.operands) > 0 && !line.stdin:
		file, err := os.Open(line.operands[0])
		if err != nil {
			fmt.Fprintf(c.err, "sh: %v\n", err)
			return exitStatus(127)
		}
		defer file.Close()
		source, sh.name = file, line.operands[0]
		params = append(params, line.operands[1:]...)
	default:
		// Commands read the same standard input, so the shell takes no byte
		// beyond the command it is about to run.
		source = byteReader{c.in}
		params = append(params, line.operands...)
	}
	return sh.run(source, params)
}

// shellLine is a parsed command line of sh.
type shellLine struct {
	options  []string // for the interpreter: -e, -o pipefail, …
	commands *string  // of -c
	stdin    bool     // -s
	operands []string
}

func parseShellLine(args []string) (shellLine, error) {
	var line shellLine
	wantCommands := false
	for len(args) > 0 && len(args[0]) > 1 && (args[0][0] == '-' || args[0][0] == '+') {
		word := args[0]
		args = args[1:]
		if word == "--" {
			break
		}
		for _, letter := range word[1:] {
			switch {
			case letter == 'c' && word[0] == '-':
				wantCommands = true
			case letter == 's' && word[0] == '-':
				line.stdin = true
			case letter == 'o':
				if len(args) == 0 {
					return line, usageError(word + " wants the name of an option")
				}
				line.options = append(line.options, word[:1]+"o", args[0])
				args = args[1:]
			default:
				line.options = append(line.options, word[:1]+string(letter))
			}
		}
	}
	if wantCommands {
		if len(args) == 0 {
			return line, usageError("-c wants commands")
		}
		line.commands, args = &args[0], args[1:]
	}
	line.operands = args
	return line, nil
}

// newParser reads POSIX shell and what bash adds: the interpreter does not run
// what the parser's own POSIX variant makes of export and readonly.
func newParser() *syntax.Parser { return syntax.NewParser(syntax.Variant(syntax.LangBash)) }

// byteReader reads one byte a call.
type byteReader struct{ io.Reader }

func (r byteReader) Read(p []byte) (int, error) {
	if len(p) > 1 {
		p = p[:1]
	}
	return r.Reader.Read(p)
}

// shell is one running shell.
type shell struct {
	call   *call
	name   string // $0
	runner *interp.Runner

	topLevelExec map[uint]bool // offsets of the exec commands that may replace the process
	sources      sources
	background   backgrounds
	traps        traps
}

// run executes source, one complete command at a time, and returns the
// shell's exit status.
func (sh *shell) run(source io.Reader, params []string) error {
	runner, err := interp.New(
		interp.Params(params...),
		interp.StdIO(sh.call.in, sh.call.out, sh.call.err),
		interp.CallHandler(sh.onCall),
		interp.ExecHandlers(onExec),
	)
	if err != nil {
		return usageError(err.Error())
	}
	sh.runner = runner
	ctx := context.Background()
	source = io.MultiReader(strings.NewReader(fmt.Sprintf("%s=%d %s=%s\n", shellVariable, os.Getpid(), nameVariable, quote(sh.name))), source)
	// The parser hands out a command at the newline that ends it, and the last
	// one may lack it.
	source = io.MultiReader(source, strings.NewReader("\n"))
	parser := newParser()
	var status error
	for stmts, err := range parser.InteractiveSeq(source) {
		if err != nil {
			fmt.Fprintf(sh.call.err, "%s: %v\n", sh.name, err)
			status = interp.ExitStatus(2)
			break
		}
		if parser.Incomplete() {
			continue
		}
		for _, stmt := range stmts {
			if err := sh.rewrite(stmt); err != nil {
				return fmt.Errorf("preparing a command: %w", err)
			}
			status = runner.Run(ctx, stmt) //sbx:allow rawshell this is the shell of the test image
			if _, only := asStatus(status); runner.Exited() || !only {
				return sh.end(status)
			}
		}
	}
	return sh.end(status)
}

// end runs what is due at the end of the shell, and turns the interpreter's
// result into the applet's. The status is that of the last command, unless an
// action of trap exits with another.
func (sh *shell) end(err error) error {
	for _, action := range []string{sh.traps.take(), sh.traps.takeExit()} {
		if action == "" {
			continue
		}
		parser := newParser()
		file, parseErr := parser.Parse(strings.NewReader(action), "trap")
		if parseErr != nil {
			return parseErr
		}
		//sbx:allow rawshell this is the shell of the test image
		if actionErr := sh.runner.Run(context.Background(), file); sh.runner.Exited() {
			err = actionErr
		}
	}
	if status, only := asStatus(err); only {
		if status == 0 {
			return nil
		}
		return status
	}
	return err
}

// asStatus is the exit status an error of the interpreter stands for, and
// whether it is that and nothing worse.
func asStatus(err error) (exitStatus, bool) {
	if err == nil {
		return 0, true
	}
	var status interp.ExitStatus
	only := errors.As(err, &status)
	return exitStatus(status), only
}

// rewrite prepares a statement for what the interpreter does not do itself.
func (sh *shell) rewrite(stmt *syntax.Stmt) error {
	sh.topLevelExec = make(map[uint]bool)
	if sh.sources.functions == nil {
		sh.sources.functions = make(map[string]string)
	}
	unescape(stmt)
	if err := sh.sources.rewriteBackground(stmt); err != nil {
		return err
	}
	markExec(stmt, sh.topLevelExec)
	return nil
}

// onCall sees every simple command, expanded and with its redirections in
// place, and may put another in its stead.
func (sh *shell) onCall(ctx context.Context, args []string) ([]string, error) {
	hc := interp.HandlerCtx(ctx)
	if args[0] == "exec" && len(args) > 1 && sh.topLevelExec[hc.Pos.Offset()] {
		return nil, execute(hc, args[1:])
	}
	if due := sh.traps.take(); due != "" {
		return []string{"eval", due + quote(args...)}, nil
	}
	if args[0] == execCommand {
		if args = args[1:]; sh.runner.Funcs[args[0]] == nil && !interp.IsBuiltin(args[0]) {
			return nil, execute(hc, args)
		}
	}
	switch {
	case args[0] == backgroundCommand:
		return sh.startBackground(hc, args)
	case args[0] == "wait":
		return sh.waitForBackground(hc, args), nil
	case args[0] == "trap":
		return sh.traps.set(hc, args), nil
	case ownBuiltins[args[0]] != nil:
		return sh.runOwn(hc, args), nil
	}
	return args, nil
}

// quote writes words as the shell reads them.
func quote(words ...string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = "'" + strings.ReplaceAll(word, "'", `'"'"'`) + "'"
	}
	return strings.Join(quoted, " ")
}

// shellBuiltin is a builtin of the shell called as a program, as POSIX wants it
// to be possible.
func shellBuiltin(c *call) error {
	sh := &shell{call: c, name: c.name}
	return sh.run(strings.NewReader(filepath.Base(c.name)+` "$@"`), append([]string{"--"}, c.args...))
}
