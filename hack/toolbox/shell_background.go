//go:build linux

package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

// The interpreter runs a background command in a goroutine: it has no pid, and
// dies with the shell. Here it is a process, as it is in every other shell. A
// statement "COMMAND &" is rewritten into "sbx-background N", where N finds its
// source, and "$!" into a variable.
const (
	backgroundCommand  = "sbx-background"
	backgroundVariable = "sbx_background"
	// shellVariable holds "$$", which in a background command is still the pid of
	// the shell that started it.
	shellVariable = "sbx_shell"
	// nameVariable holds "$0", which the interpreter knows of whole files only.
	nameVariable = "sbx_name"
	// execCommand before a command that is no builtin and no function replaces the
	// process by it: "$!" is then the pid of the command itself.
	execCommand = "sbx-exec"
)

// sources are the texts of background commands and functions, as they were
// written, for the shells that run them.
type sources struct {
	commands  []string
	functions map[string]string
}

// rewriteBackground prepares stmt, and everything in it that this process runs.
func (s *sources) rewriteBackground(stmt *syntax.Stmt) error {
	var failed error
	source := func(node syntax.Node) string {
		var text strings.Builder
		failed = errors.Join(failed, syntax.NewPrinter().Print(&text, node))
		return text.String()
	}
	// First, so that the sources below have it too. The long form, since what
	// follows could be read as part of the name.
	syntax.Walk(stmt, func(node syntax.Node) bool {
		if p, ok := node.(*syntax.ParamExp); ok && p.Param != nil {
			switch p.Param.Value {
			case "!":
				p.Short, p.Param.Value = false, backgroundVariable
			case "$":
				p.Short, p.Param.Value = false, shellVariable
			case "0":
				p.Short, p.Param.Value = false, nameVariable
			}
		}
		return true
	})
	syntax.Walk(stmt, func(node syntax.Node) bool {
		switch node := node.(type) {
		case *syntax.FuncDecl:
			s.functions[node.Name.Value] = source(node)
		case *syntax.Stmt:
			if !node.Background {
				return true
			}
			foreground := *node
			foreground.Background, foreground.Comments = false, nil
			if simple, ok := node.Cmd.(*syntax.CallExpr); ok && len(simple.Args) > 0 {
				replaced := *simple
				replaced.Args = append([]*syntax.Word{literalWord(execCommand)}, simple.Args...)
				foreground.Cmd = &replaced
			}
			s.commands = append(s.commands, source(&foreground))
			number := strconv.Itoa(len(s.commands) - 1)
			*node = syntax.Stmt{Position: node.Position, Cmd: &syntax.CallExpr{Args: []*syntax.Word{literalWord(backgroundCommand), literalWord(number)}}}
			return false
		}
		return true
	})
	return failed
}

func literalWord(text string) *syntax.Word {
	return &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{Value: text}}}
}

// backgrounds are the background processes of a shell that it has not waited for.
type backgrounds struct {
	mu   sync.Mutex
	jobs map[int]*backgroundJob // by pid
}

type backgroundJob struct {
	done   chan struct{}
	status int // once done
}

// startBackground starts the background command that sbx-background names and
// returns the command that sets "$!".
func (sh *shell) startBackground(hc interp.HandlerContext, args []string) ([]string, error) {
	n, err := strconv.Atoi(args[len(args)-1])
	if err != nil || n < 0 || n >= len(sh.sources.commands) {
		return nil, fmt.Errorf("%s: no background command %q", backgroundCommand, args[len(args)-1])
	}
	// POSIX: without job control it ignores what a terminal sends its group, and
	// reads nothing.
	program := sh.inheritance(hc.Env) + "trap '' INT QUIT\n" + sh.sources.commands[n] + "\n"
	cmd := exec.Command("/proc/self/exe", append([]string{"-c", program, sh.name}, sh.runner.Params...)...)
	cmd.Args[0] = "sh"
	cmd.Env, cmd.Dir = exported(hc.Env), hc.Dir
	// Files are handed over; anything else would be copied by a goroutine that
	// ends with this shell.
	for _, stream := range []any{hc.Stdout, hc.Stderr} {
		if _, ok := stream.(*os.File); !ok {
			return nil, fmt.Errorf("background command: its output is not a file but %T", stream)
		}
	}
	cmd.Stdout, cmd.Stderr = hc.Stdout, hc.Stderr
	if err := cmd.Start(); err != nil {
		fmt.Fprintf(hc.Stderr, "%s: starting a background command: %v\n", sh.name, err)
		return withStatus(1), nil
	}
	job := &backgroundJob{done: make(chan struct{})}
	sh.background.mu.Lock()
	if sh.background.jobs == nil {
		sh.background.jobs = make(map[int]*backgroundJob)
	}
	sh.background.jobs[cmd.Process.Pid] = job
	sh.background.mu.Unlock()
	go func() {
		defer close(job.done)
		// The error repeats what the state says, or the process could not be
		// waited for, which is what a shell reports as not its child.
		if err := cmd.Wait(); cmd.ProcessState == nil {
			fmt.Fprintf(sh.call.err, "%s: waiting for %d: %v\n", sh.name, cmd.Process.Pid, err)
			job.status = 127
			return
		}
		job.status = shellStatus(cmd.ProcessState)
	}()
	return []string{"eval", fmt.Sprintf("%s=%d", backgroundVariable, cmd.Process.Pid)}, nil
}

// inheritance is the program text that gives a new shell what a forked one
// would have: variables that are not exported, and functions.
func (sh *shell) inheritance(env expand.Environ) string {
	var text strings.Builder
	for name, v := range env.Each {
		if !v.IsSet() || v.Exported || v.ReadOnly || v.Kind != expand.String || !syntax.ValidName(name) {
			continue
		}
		fmt.Fprintf(&text, "%s=%s\n", name, quote(v.Str))
	}
	for _, name := range slices.Sorted(maps.Keys(sh.runner.Funcs)) {
		if source, ok := sh.sources.functions[name]; ok {
			fmt.Fprintln(&text, source)
		}
	}
	return text.String()
}

// shellStatus is what "$?" is after a process that ended so.
func shellStatus(state *os.ProcessState) int {
	if status := state.Sys().(syscall.WaitStatus); status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}

// waitForBackground is wait: for all background processes, or for those whose pids
// it is given. A trapped signal ends it, as POSIX wants.
func (sh *shell) waitForBackground(hc interp.HandlerContext, args []string) []string {
	sh.background.mu.Lock()
	pids := slices.Sorted(maps.Keys(sh.background.jobs))
	sh.background.mu.Unlock()
	all := len(args) == 1
	if !all {
		pids = nil
		for _, word := range args[1:] {
			pid, err := strconv.Atoi(word)
			if err != nil {
				fmt.Fprintf(hc.Stderr, "%s: wait: %q is not a process id\n", sh.name, word)
				return withStatus(2)
			}
			pids = append(pids, pid)
		}
	}
	status := 0
	for _, pid := range pids {
		sh.background.mu.Lock()
		job := sh.background.jobs[pid]
		sh.background.mu.Unlock()
		if job == nil {
			status = 127
			continue
		}
		select {
		case <-job.done:
			status = job.status
		case sig := <-sh.traps.arrived():
			return withStatus(128 + int(sig))
		}
		sh.background.mu.Lock()
		delete(sh.background.jobs, pid)
		sh.background.mu.Unlock()
	}
	if all {
		status = 0
	}
	return withStatus(status)
}
