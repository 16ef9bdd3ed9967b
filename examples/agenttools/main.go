// Agenttools is the code-execution side of an agent server as a program in a terminal: it reads requests from its standard input, one JSON
// object a line, and writes one JSON answer a line.
//
//	{"id": 1, "tool": "run_shell", "command": "echo $((6*7))"}
//	{"id": 2, "tool": "task_start", "command": "while :; do date; sleep 1; done", "watchdog_seconds": 60}
//	{"id": 3, "tool": "task_log", "task": "task-1"}
//	{"id": 4, "tool": "task_kill", "task": "task-1"}
//	{"id": 5, "tool": "repl", "command": "x=5"}
//	{"id": 6, "tool": "repl", "command": "echo $x"}
//
// The other tools are task_list, agent_start (argv), agent_call (method, params) and agent_close. AGENTTOOLS_BACKEND names the sandbox,
// AGENTTOOLS_WORKSPACE the directory the commands work in, SBX_SANDBOX_IMAGE the image for docker and podman.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/sbxkit/sbxkit/examples/agenttools/tools"
	sbx "github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/journal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "agenttools:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context) (err error) {
	b, err := backend(os.Getenv(backendVariable))
	if err != nil {
		return err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return fmt.Errorf("finding a place for the state: %w", err)
	}
	workspace := os.Getenv("AGENTTOOLS_WORKSPACE")
	if workspace == "" {
		if workspace, err = os.MkdirTemp("", "agenttools-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(workspace)) }()
	}
	seam, err := open(ctx, b, filepath.Join(cache, "sbxkit-agenttools"), workspace)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, seam.Box.Close()) }()
	fmt.Fprintf(os.Stderr, "agenttools: %s; one JSON request a line, end of input ends\n", cmp.Or(os.Getenv(backendVariable), "bwrap"))
	return serve(ctx, seam, os.Stdin, os.Stdout)
}

// open makes the seam: a driver with a journal in state, whose leftovers of earlier sessions it removes first.
func open(ctx context.Context, b sbx.Backend, state, workspace string, opts ...sbx.Option) (tools.Seam, error) {
	if err := os.MkdirAll(filepath.Dir(state), 0o700); err != nil {
		return tools.Seam{}, err
	}
	j, err := journal.Open(ctx, state)
	if err != nil {
		return tools.Seam{}, err
	}
	box, err := sbx.New(b, append(opts, sbx.WithJournal(j))...)
	if err != nil {
		return tools.Seam{}, err
	}
	rep, err := box.Reconcile(ctx, sbx.ReconcileOptions{})
	if err != nil {
		return tools.Seam{}, errors.Join(err, box.Close())
	}
	for _, r := range rep.Runs {
		if r.Failure != nil {
			fmt.Fprintln(os.Stderr, "agenttools: an earlier session left something:", r.Failure)
		}
	}
	return tools.Seam{Box: box, Base: sbx.Launch{
		Workspace: &sbx.Workspace{Source: workspace},
		User:      sbx.User{Kind: sbx.UserCaller}, // what the commands write belongs to whoever started this
	}}, nil
}
