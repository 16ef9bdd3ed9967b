package main

import (
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	sbx "github.com/sbxkit/sbxkit/runtime"
	"github.com/spf13/cobra"
)

func planCommand(s streams) *cobra.Command {
	var f launchFlags
	var asJSON, explain bool
	c := &cobra.Command{
		Use:   "plan --backend NAME [flags] -- COMMAND...",
		Short: "Print what run would do, and stop before anything exists",
		Args:  cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) (err error) {
			l, err := f.launch(args)
			if err != nil {
				return err
			}
			if f.stdin == "pipe" {
				l.Stdin.Reader = s.in
			}
			box, err := open(c.Context(), f.backend, f.state)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, box.Close()) }()
			p, err := box.Plan(c.Context(), l)
			if err != nil {
				return err
			}
			switch {
			case asJSON:
				b, err := p.JSON()
				if err != nil {
					return err
				}
				_, err = s.out.Write(b)
				return err
			case explain:
				return explained(s.out, p)
			}
			_, err = fmt.Fprintln(s.out, p)
			return err
		},
	}
	f.register(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print the whole plan as JSON")
	c.Flags().BoolVar(&explain, "explain", false, "print each word with the spec line and the launch field it comes from")
	return c
}

// explained prints a word a line: the word, the spec's file:line, the vocabulary name, who asked for it.
func explained(w io.Writer, p *sbx.Plan) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "WORD\tSPEC\tFOR\tFROM")
	for _, word := range p.Words {
		text := word.Text
		if !word.Private {
			text = sbx.ShellQuote(text)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", text, word.Spec, dash(word.For), dash(word.Field))
	}
	for _, v := range p.Environment {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", v, "(launcher's environment)", "environment", v.Origin)
	}
	return t.Flush()
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
