package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sbxkit/sbxkit/gen"
)

func newDiff() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Say what a change of a spec changes",
		Long: "Say what the change from one spec to another means for a reviewer: what it widens, what it tightens, and what it changes\n" +
			"otherwise. A built-in spec goes by its name. The exit status is 1 where anything is widened.",
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			old, err := loadOne(args[0])
			if err != nil {
				return err
			}
			new, err := loadOne(args[1])
			if err != nil {
				return err
			}
			changes := gen.Review(old, new)
			if asJSON {
				err = writeJSON(cmd.OutOrStdout(), struct {
					Changes []gen.Change `json:"changes"`
				}{append([]gen.Change{}, changes...)})
			} else {
				for _, change := range changes {
					fmt.Fprintf(cmd.OutOrStdout(), "%-8s  %s", change.Effect, change.What)
					if change.Where != "" {
						fmt.Fprintf(cmd.OutOrStdout(), "  (%s)", change.Where)
					}
					fmt.Fprintln(cmd.OutOrStdout())
				}
			}
			if err != nil {
				return err
			}
			if slices.ContainsFunc(changes, func(c gen.Change) bool { return c.Effect == gen.Widens }) {
				return errFindings
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "give the changes as JSON")
	return c
}
