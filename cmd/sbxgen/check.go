package main

import (
	"context"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sbxkit/sbxkit/gen"
)

// finding is a difference with the command that mends it.
type finding struct {
	gen.Difference
	Mend string `json:"mend"`
}

func newCheck() *cobra.Command {
	var (
		where  places
		asJSON bool
	)
	c := &cobra.Command{
		Use:   "check [[-o DIR] SPEC…]",
		Short: "Compare generated code with what specs give",
		Long: "Compare generated code with what specs give. Without a spec, every generated package of the module is checked: what its\n" +
			"go:generate lines make has to be there, and nothing else that sbxgen ever wrote. Missing, stale, hand-edited and orphaned\n" +
			"files are shown, each with a diff and the command that mends it, and the exit status is 1.",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			var (
				found []finding
				err   error
			)
			if len(args) == 0 {
				found, err = checkModule(cmd.Context(), ".")
			} else {
				found, err = checkSpecs(cmd.Context(), where, args)
			}
			if err != nil {
				return err
			}
			if asJSON {
				if err := writeJSON(cmd.OutOrStdout(), struct {
					Findings []finding `json:"findings"`
				}{append([]finding{}, found...)}); err != nil {
					return err
				}
			} else {
				printFindings(cmd.OutOrStdout(), found)
			}
			if len(found) != 0 {
				return errFindings
			}
			return nil
		},
	}
	where.bind(c)
	c.Flags().BoolVar(&asJSON, "json", false, "give the findings as JSON")
	return c
}

// checkSpecs compares the packages of some specs.
func checkSpecs(ctx context.Context, where places, specs []string) ([]finding, error) {
	t, err := newTarget(".", where.out, where.plans, specs)
	if err != nil {
		return nil, err
	}
	mend := "sbxgen generate"
	if where.out != "." {
		mend += " -o " + where.out
	}
	if where.plans != "" {
		mend += " --plans " + where.plans
	}
	_, found, err := checkTarget(ctx, t, mend+" "+strings.Join(specs, " "))
	return found, err
}

// checkTarget makes the packages of a target and compares them.
func checkTarget(ctx context.Context, t target, mend string) ([]gen.Package, []finding, error) {
	backends, err := t.load()
	if err != nil {
		return nil, nil, err
	}
	packages, err := gen.Generate(ctx, backends, t.options())
	if err != nil {
		return nil, nil, err
	}
	var found []finding
	for _, p := range packages {
		differences, err := gen.Compare(t.module, p)
		if err != nil {
			return nil, nil, err
		}
		for _, d := range differences {
			f := finding{d, mend}
			if d.Foreign {
				f.Mend = "move " + d.Path + " to another directory: it was not generated"
			}
			found = append(found, f)
		}
	}
	return packages, found, nil
}

// checkModule compares everything the module's go:generate lines make, and looks for what they do not make any more.
func checkModule(ctx context.Context, dir string) ([]finding, error) {
	module, err := gen.Module(dir)
	if err != nil {
		return nil, err
	}
	directives, err := gen.Directives(module)
	if err != nil {
		return nil, err
	}
	var (
		packages []gen.Package
		found    []finding
	)
	for _, d := range directives {
		t, ok, err := directiveTarget(d)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", d.File, d.Line, err)
		}
		if !ok {
			continue
		}
		made, differences, err := checkTarget(ctx, t, "go generate ./"+path.Dir(d.File))
		if err != nil {
			return nil, err
		}
		packages, found = append(packages, made...), append(found, differences...)
	}
	orphans, err := gen.Orphans(module, packages)
	if err != nil {
		return nil, err
	}
	for _, o := range orphans {
		found = append(found, finding{o, "rm " + o.Path})
	}
	slices.SortStableFunc(found, func(a, b finding) int { return strings.Compare(a.Path, b.Path) })
	return found, nil
}

// directiveTarget reads the arguments of a go:generate line; ok is false where it makes no packages.
func directiveTarget(d gen.Directive) (t target, ok bool, err error) {
	args := doubleDash(d.Args)
	if cmd, rest, err := newRoot().Find(args); err == nil && cmd.HasParent() {
		if cmd.Name() != "generate" {
			return target{}, false, nil
		}
		args = rest
	}
	var where places
	c := &cobra.Command{Use: "generate"}
	where.bind(c)
	c.Flags().Bool("json", false, "")
	if err := c.ParseFlags(args); err != nil {
		return target{}, false, err
	}
	specs := c.Flags().Args()
	if len(specs) == 0 {
		return target{}, false, fmt.Errorf("the go:generate line names no spec")
	}
	t, err = newTarget(d.Dir, filepath.FromSlash(where.out), filepath.FromSlash(where.plans), specs)
	return t, true, err
}

func printFindings(w io.Writer, found []finding) {
	for i, f := range found {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s: %s", f.Path, f.State)
		switch {
		case f.Foreign:
			fmt.Fprint(w, ": no spec gives it")
		case f.State == gen.StateOrphan:
			fmt.Fprintf(w, ": left from %s", f.Spec)
		default:
			fmt.Fprintf(w, ": not what %s gives", f.Spec)
		}
		fmt.Fprintf(w, "; mend it with: %s\n%s", f.Mend, f.Diff)
	}
	switch len(found) {
	case 0:
	case 1:
		fmt.Fprintln(w, "\n1 generated file is not what its spec gives")
	default:
		fmt.Fprintf(w, "\n%d generated files are not what their specs give\n", len(found))
	}
}
