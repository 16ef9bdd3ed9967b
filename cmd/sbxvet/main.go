// Sbxvet reports code that walks around the sandbox seam.
//
// It runs by itself, or as a tool of the go command:
//
//	sbxvet [flags] [packages]
//	go tool sbxvet [flags] [packages]
//	go vet -vettool=$(which sbxvet) [packages]
//
// sbxvet help lists the rules, sbxvet help RULE explains one. The exit status is 0 when nothing was found, 1 when something was, 2 when the code could
// not be analysed.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/sbxkit/sbxkit/analyzers"
	"github.com/sbxkit/sbxkit/analyzers/policy"
	"golang.org/x/tools/go/analysis"
)

// Exit statuses.
const (
	exitClean   = 0
	exitFound   = 1
	exitUnknown = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:]))
}

func run(ctx context.Context, args []string) int {
	f := newFlags(analyzers.All())
	code, err := func() (int, error) {
		switch {
		case len(args) == 1 && args[0] == "-V=full":
			return exitClean, printVersion(os.Stdout)
		case len(args) == 1 && args[0] == "-flags":
			return exitClean, f.describe(os.Stdout)
		case len(args) > 0 && args[0] == "help":
			return help(os.Stdout, args[1:])
		}
		if err := f.set.Parse(args); err != nil {
			return exitUnknown, errReported
		}
		rest := f.set.Args()
		switch {
		case f.version:
			return exitClean, printVersion(os.Stdout)
		case f.list:
			return exitClean, list(os.Stdout)
		case f.schema:
			return exitClean, printSchema(os.Stdout, f.names())
		case len(rest) == 1 && strings.HasSuffix(rest[0], ".cfg"):
			return analyseUnit(f, rest[0])
		}
		return analyse(ctx, f, rest)
	}()
	if err != nil {
		if !errors.Is(err, errReported) {
			fmt.Fprintf(os.Stderr, "sbxvet: %v\n", err)
		}
		return exitUnknown
	}
	return code
}

var errReported = errors.New("already reported")

// help explains the rules named in args, or lists them all.
func help(w *os.File, args []string) (int, error) {
	if len(args) == 0 {
		fmt.Fprintf(w, "sbxvet reports code that walks around the sandbox seam.\n\nUsage: sbxvet [flags] [packages]\n\nRules:\n\n")
		if err := list(w); err != nil {
			return exitUnknown, err
		}
		fmt.Fprintf(w, "\nsbxvet help RULE explains a rule; sbxvet -help lists the flags.\n")
		return exitClean, nil
	}
	for i, name := range args {
		all := analyzers.All()
		n := slices.IndexFunc(all, func(a *analysis.Analyzer) bool { return a.Name == name })
		if n < 0 {
			return exitUnknown, fmt.Errorf("no rule is called %q; sbxvet -list names them", name)
		}
		if i > 0 {
			fmt.Fprintln(w)
		}
		if _, err := fmt.Fprintf(w, "%s\n\n%s\n", all[n].Doc, all[n].URL); err != nil {
			return exitUnknown, fmt.Errorf("writing help: %w", err)
		}
	}
	return exitClean, nil
}

func printSchema(w *os.File, rules []string) error {
	data, err := policy.Schema(rules)
	if err != nil {
		return err
	}
	if _, err := w.Write(data); err != nil {
		return fmt.Errorf("writing the schema: %w", err)
	}
	return nil
}

func list(w *os.File) error {
	for _, a := range analyzers.All() {
		title, _, _ := strings.Cut(a.Doc, "\n")
		if _, err := fmt.Fprintf(w, "%-14s %s\n", a.Name, strings.TrimPrefix(title, a.Name+": ")); err != nil {
			return fmt.Errorf("writing the list: %w", err)
		}
	}
	return nil
}
