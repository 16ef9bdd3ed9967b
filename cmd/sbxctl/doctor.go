package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"text/tabwriter"
	"time"

	sbx "github.com/sbxkit/sbxkit/runtime"
	"github.com/spf13/cobra"
)

// probeTime bounds one backend's probe.
const probeTime = 30 * time.Second

// diagnosis is a row of doctor.
type diagnosis struct {
	Backend  string        `json:"backend"`
	Works    bool          `json:"works"`
	Identity *sbx.Identity `json:"identity,omitempty"`
	Failure  *sbx.Failure  `json:"failure,omitempty"`
}

func doctorCommand(s streams) *cobra.Command {
	var only string
	var asJSON bool
	c := &cobra.Command{
		Use:   "doctor [--backend NAME] [--json]",
		Short: "Probe the backends by a real launch and say what would mend those that fail",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			names := backendNames()
			if only != "" {
				if !slices.Contains(names, only) {
					_, err := newBackend(only)
					return err
				}
				names = []string{only}
			}
			var rows []diagnosis
			for _, name := range names {
				rows = append(rows, diagnose(c.Context(), name))
			}
			if err := printDiagnoses(s, rows, asJSON); err != nil {
				return err
			}
			if only != "" && !rows[0].Works {
				return exitError{125}
			}
			return nil
		},
	}
	c.Flags().StringVar(&only, "backend", "", "probe this one alone; exit 125 where it fails")
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return c
}

func diagnose(ctx context.Context, name string) diagnosis {
	d := diagnosis{Backend: name}
	b, err := newBackend(name)
	if err != nil {
		d.Failure = sbx.AsFailure(err, sbx.Setup)
		return d
	}
	box, err := newSandbox(b)
	if err != nil {
		d.Failure = sbx.AsFailure(err, sbx.Setup)
		return d
	}
	defer box.Close()
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	d.Identity, err = box.Probe(ctx)
	d.Works = err == nil
	d.Failure = sbx.AsFailure(err, sbx.Setup)
	return d
}

func printDiagnoses(s streams, rows []diagnosis, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(s.out)
		e.SetIndent("", "  ")
		return e.Encode(rows)
	}
	t := tabwriter.NewWriter(s.out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "BACKEND\tSTATE\tIDENTITY OR CURE")
	for _, d := range rows {
		if d.Works {
			state := "works"
			if d.Identity.Unsandboxed {
				state = "works, isolates nothing"
			}
			fmt.Fprintf(t, "%s\t%s\t%s\n", d.Backend, state, d.Identity)
			for _, a := range d.Identity.Absent {
				fmt.Fprintf(t, "\twithout\t%s: %s; %s\n", a.Feature, a.Why, dash(a.Cure))
			}
			continue
		}
		fmt.Fprintf(t, "%s\t%s\t%s; %s\n", d.Backend, d.Failure.Kind, d.Failure.Message, dash(d.Failure.Cure))
	}
	return t.Flush()
}
