package main

import (
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
func open(backend, state string, opts ...sbx.Option) (*sbx.Sandbox, error) {
	b, err := newBackend(backend)
	if err != nil {
		return nil, err
	}
	j, err := openJournal(state)
	if err != nil {
		return nil, err
	}
	return newSandbox(b, append(opts, sbx.WithJournal(j), sbx.WithStager(stage.New()))...)
}

func openJournal(state string) (sbx.Journal, error) {
	dir, err := stateDir(state)
	if err != nil {
		return nil, err
	}
	return journal.Open(dir)
}
