package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/sbxkit/sbxkit/gen"
)

// places are the flags that say where generated code belongs.
type places struct{ out, plans string }

func (p *places) bind(c *cobra.Command) {
	c.Flags().StringVarP(&p.out, "out", "o", ".", "directory below which each package gets one of its own")
	c.Flags().StringVar(&p.plans, "plans", "", "directory of the golden plans (default "+gen.DefaultPlans+" in the module)")
}

// written is what generate says of one package.
type written struct {
	Package string `json:"package"`
	Spec    string `json:"spec"`
	Changed bool   `json:"changed"`
}

func newGenerate() *cobra.Command {
	var (
		where  places
		asJSON bool
	)
	c := &cobra.Command{
		Use:   "generate [-o DIR] SPEC…",
		Short: "Make a Go package of each spec",
		Long: "Make a Go package of each spec. A directory stands for the .yaml files in it. Nothing is written unless every spec is\n" +
			"right and the code made of it compiles in the module; each package is put in place in one step.",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fmt.Errorf("generate needs a spec: sbxgen generate [-o DIR] SPEC…")
			}
			t, err := newTarget(".", where.out, where.plans, args)
			if err != nil {
				return err
			}
			backends, err := t.load()
			if err != nil {
				return err
			}
			packages, err := gen.Generate(cmd.Context(), backends, t.options())
			if err != nil {
				return err
			}
			all := make([]written, 0, len(packages))
			for _, p := range packages {
				changed, err := gen.Write(t.module, p)
				if err != nil {
					return err
				}
				all = append(all, written{p.Dir, p.Spec, changed})
			}
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), all)
			}
			for _, w := range all {
				if w.Changed {
					fmt.Fprintf(cmd.OutOrStdout(), "%s: written from %s\n", w.Package, w.Spec)
				}
			}
			return nil
		},
	}
	where.bind(c)
	c.Flags().BoolVar(&asJSON, "json", false, "say what was written as JSON")
	return c
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("writing JSON: %w", err)
	}
	return nil
}
