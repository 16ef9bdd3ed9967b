package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sbxkit/sbxkit/spec"
)

func newSchema() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of specs",
		Long:  "Print the JSON Schema (2020-12) of specs. An editor that is given it completes and checks a spec while it is written.",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, err := cmd.OutOrStdout().Write(spec.Schema()); err != nil {
				return fmt.Errorf("printing the schema: %w", err)
			}
			return nil
		},
	}
}
