// Command sbxgen makes a Go package of each sandbox backend's spec, and says how generated code and specs differ.
//
//	sbxgen generate [-o DIR] SPEC…   make packages (also without the word generate)
//	sbxgen check [[-o DIR] SPEC…]    compare what is there with what specs give
//	sbxgen init [NAME]               start a spec that extends a built-in one
//	sbxgen explain SPEC [NAME]       say what the lines of a spec mean
//	sbxgen diff OLD NEW              say what a change of a spec changes
//	sbxgen schema                    print the JSON Schema of specs
//
// It exits 0 where all is well, 1 where something is stale or to be looked at, and 2 where a spec or the command line is wrong. It runs
// under go generate as go tool sbxgen.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/spf13/cobra"
)

// Exit statuses.
const (
	exitFine     = 0
	exitFindings = 1
	exitWrong    = 2
)

// errFindings ends a command that ran well and found something; what it found is printed already.
var errFindings = errors.New("findings")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is the whole command. It looks at the current directory and writes to the two streams.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(doubleDash(args))
	root.SetOut(stdout)
	root.SetErr(stderr)
	switch err := root.ExecuteContext(ctx); {
	case err == nil:
		return exitFine
	case errors.Is(err, errFindings):
		return exitFindings
	default:
		fmt.Fprintf(stderr, "sbxgen: %v\n", err)
		return exitWrong
	}
}

// doubleDash lets the Go tools' -json stand for --json.
func doubleDash(args []string) []string {
	out := make([]string, len(args))
	for i, a := range args {
		if out[i] = a; a == "-json" {
			out[i] = "--json"
		}
	}
	return out
}

func newRoot() *cobra.Command {
	root := newGenerate()
	root.Use = "sbxgen"
	root.Short = "Make Go packages of sandbox backends' specs"
	root.SilenceErrors, root.SilenceUsage = true, true
	root.CompletionOptions.DisableDefaultCmd = true
	generate := root.RunE
	root.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		return generate(cmd, args)
	}
	root.AddCommand(newGenerate(), newCheck(), newInit(), newExplain(), newDiff(), newSchema())
	return root
}
