package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	sbx "github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/journal"
	"github.com/sbxkit/sbxkit/runtime/stage"
	"github.com/spf13/cobra"
)

func stateFlag(c *cobra.Command, to *string) {
	c.Flags().StringVar(to, "state", "", "state `DIR` of the runs (default $SBX_STATE, else sbxkit below $XDG_STATE_HOME or ~/.local/state)")
}

// stateDir is where runs are recorded.
func stateDir(flag string) (string, error) {
	if flag == "" {
		flag = os.Getenv("SBX_STATE")
	}
	if flag != "" {
		return filepath.Abs(flag)
	}
	if d := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(d) {
		return filepath.Join(d, "sbxkit"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("no place for the runs' state: %w; give --state DIR", err)
	}
	return filepath.Join(home, ".local", "state", "sbxkit"), nil
}

// open makes the driver for the flags' backend and state directory.
func open(ctx context.Context, backend, state string, opts ...sbx.Option) (*sbx.Sandbox, error) {
	b, err := newBackend(backend)
	if err != nil {
		return nil, err
	}
	j, err := openJournal(ctx, state)
	if err != nil {
		return nil, err
	}
	return newSandbox(b, append(opts, sbx.WithJournal(j), sbx.WithStager(stage.New()))...)
}

func openJournal(ctx context.Context, state string) (sbx.Journal, error) {
	dir, err := stateDir(state)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return nil, sbx.Fail(sbx.Setup, "making the place of the state directory: %w", err).At(sbx.StepPrepare).WithCure("give --state DIR")
	}
	return journal.Open(ctx, dir)
}
