// Command sbxctl plans and runs one command in a sandbox, says what a host's sandboxes can do, and settles what a crash left.
//
//sbx:seam the command line: it wires every backend to its name
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(Main(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// exitError carries the code a command ends with; its message, if any, has been printed.
type exitError struct{ code int }

func (e exitError) Error() string { return fmt.Sprintf("exit %d", e.code) }

// usageError is a command line that cannot be read.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

// Main runs the command line and gives its exit code: the command's own for run, 125 where the sandbox, not the command, is the
// reason, 2 for a command line that cannot be read (125 with run and plan, as a command can exit 2 itself).
func Main(ctx context.Context, args []string, stdin *os.File, stdout, stderr io.Writer) int {
	root := &cobra.Command{
		Use:           "sbxctl",
		Short:         "Plan, run and settle sandboxed commands",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	io := streams{stdin, stdout, stderr}
	root.AddCommand(planCommand(io), runCommand(io), doctorCommand(io), psCommand(io), reconcileCommand(io))
	ran, err := root.ExecuteContextC(ctx)
	var exit exitError
	var usage usageError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.code
	case errors.As(err, &usage):
		fmt.Fprintf(stderr, "sbxctl: %v\nsee %s --help\n", err, ran.CommandPath())
		if ran.Name() == "run" || ran.Name() == "plan" {
			return 125
		}
		return 2
	default:
		fmt.Fprintf(stderr, "sbxctl: %v\n", err)
		if ran == root {
			return 2
		}
		return 125
	}
}

type streams struct {
	in       *os.File
	out, err io.Writer
}
