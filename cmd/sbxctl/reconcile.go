package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"text/tabwriter"

	sbx "github.com/sbxkit/sbxkit/runtime"
	"github.com/spf13/cobra"
)

func printJSON(s streams, v any) error {
	e := json.NewEncoder(s.out)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

func reconcileCommand(s streams) *cobra.Command {
	var state, only string
	var asJSON, dry bool
	c := &cobra.Command{
		Use:   "reconcile [--state DIR] [--backend NAME] [--dry-run] [--json]",
		Short: "Remove what dead runs of a state directory left, and nothing else",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			names := backendNames()
			if only != "" {
				names = []string{only}
			}
			reports := map[string]*sbx.ReconcileReport{}
			failed := false
			for _, name := range names {
				box, err := open(c.Context(), name, state)
				if err != nil {
					return err
				}
				rep, err := box.Reconcile(c.Context(), sbx.ReconcileOptions{DryRun: dry})
				if e := box.Close(); err == nil {
					err = e
				}
				if err != nil && !needless(err, rep, only) {
					fmt.Fprintf(s.err, "sbxctl: %v\n", err)
					failed = true
				}
				if rep != nil {
					reports[name] = rep
					failed = failed || len(rep.Bad) > 0 || slices.ContainsFunc(rep.Runs, func(r sbx.Reconciled) bool { return r.Failure != nil })
				}
			}
			var err error
			if asJSON {
				err = printJSON(s, reports)
			} else {
				err = printReports(s, names, reports, dry)
			}
			if err == nil && failed {
				return exitError{125}
			}
			return err
		},
	}
	stateFlag(c, &state)
	c.Flags().StringVar(&only, "backend", "", "reconcile this backend's runs alone")
	c.Flags().BoolVar(&dry, "dry-run", false, "say what would be removed, and touch nothing")
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return c
}

// needless reports whether a backend that cannot be asked has nothing to be asked about: no dead run of this state directory is its own.
func needless(err error, rep *sbx.ReconcileReport, only string) bool {
	return only == "" && errors.Is(err, sbx.ErrUnsupported) && rep != nil && len(rep.Runs) == 0
}

func printReports(s streams, names []string, reports map[string]*sbx.ReconcileReport, dry bool) error {
	t := tabwriter.NewWriter(s.out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "RUN\tBACKEND\tLAST STEP\tOUTCOME\tSTATE")
	seen := map[string]bool{}
	for _, name := range names {
		rep := reports[name]
		if rep == nil {
			continue
		}
		for _, r := range rep.Runs {
			state := "removed"
			switch {
			case r.Failure != nil:
				state = r.Failure.Error()
			case dry:
				state = "would be removed"
			case !r.Removed:
				state = "left"
			}
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", r.Run.ID, r.Backend, r.Step, r.Outcome, state)
		}
		for _, b := range rep.Bad {
			if !seen[b.Path] {
				seen[b.Path] = true
				fmt.Fprintf(t, "-\t-\t-\tunreadable\t%s: %s\n", sbx.ShellQuote(b.Path), b.Error)
			}
		}
		if rep.Foreign > 0 {
			fmt.Fprintf(t, "-\t%s\t-\t-\t%d resources of other owners left alone\n", name, rep.Foreign)
		}
	}
	return t.Flush()
}
