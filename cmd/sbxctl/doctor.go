package main

import (
	"context"
	"encoding/json"
	"errors"
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
	// Guarantees are what a real minimal run under the backend's own policy was promised and what was measured of it.
	Guarantees []sbx.Guarantee `json:"guarantees,omitempty"`
	// Unmeasured says why there are none.
	Unmeasured *sbx.Failure `json:"unmeasured,omitempty"`
}

func doctorCommand(s streams) *cobra.Command {
	var only, image string
	var asJSON, suite bool
	var groups []string
	c := &cobra.Command{
		Use:   "doctor [--backend NAME] [--image REF] [--conformance [--group NAME]...] [--json]",
		Short: "Probe the backends by a real launch, measure what they promise, and say what would mend those that fail",
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
			if suite {
				checks, err := checksOf(groups)
				if err != nil {
					return err
				}
				return conformance(c.Context(), s, names, image, checks, asJSON)
			}
			if len(groups) > 0 {
				return usageError{errors.New("--group names a part of --conformance, which was not asked for")}
			}
			var rows []diagnosis
			for _, name := range names {
				rows = append(rows, diagnose(c.Context(), name, image))
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
	c.Flags().StringVar(&image, "image", "", "image with a /bin/sleep in which an engine's guarantees are measured, `REF`")
	c.Flags().BoolVar(&suite, "conformance", false, "hold the backends to the seam's whole contract, which takes minutes; exit 125 where a check fails")
	c.Flags().StringArrayVar(&groups, "group", nil, "hold them to this group of checks alone, `NAME`; can be given again")
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return c
}

func diagnose(ctx context.Context, name, image string) (d diagnosis) {
	d.Backend = name
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
	defer func() {
		if err := box.Close(); err != nil && d.Failure == nil {
			d.Failure = sbx.AsFailure(err, sbx.Uncertain)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	if d.Identity, err = box.Probe(ctx); err != nil {
		d.Failure = sbx.AsFailure(err, sbx.Setup)
		return d
	}
	d.Works = true
	// An engine's command is measured while it runs, so one that ends at once would not be seen.
	l := sbx.Launch{Argv: []string{"/bin/sleep", "30"}}
	if b.Describe().Kind == "engine" {
		l.Image.Ref = image
	}
	run, err := box.Launch(ctx, l)
	if err != nil {
		d.Unmeasured = sbx.AsFailure(err, sbx.Setup)
		return d
	}
	d.Guarantees = run.Facts().Guarantees
	d.Unmeasured = sbx.AsFailure(run.Kill(ctx), sbx.Uncertain)
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
	if err := t.Flush(); err != nil {
		return err
	}
	for _, d := range rows {
		if err := printGuarantees(s, d); err != nil {
			return err
		}
	}
	return nil
}

// printGuarantees prints what a run of a backend was promised, what was measured, when and by what.
func printGuarantees(s streams, d diagnosis) error {
	if !d.Works {
		return nil
	}
	fmt.Fprintf(s.out, "\n%s guarantees:\n", d.Backend)
	if d.Unmeasured != nil {
		fmt.Fprintf(s.out, "  not measured: %v\n", d.Unmeasured)
		return nil
	}
	t := tabwriter.NewWriter(s.out, 2, 8, 2, ' ', 0)
	fmt.Fprintln(t, "  NAME\tCLAIMED\tMEASURED\tWHEN\tEVIDENCE")
	for _, g := range d.Guarantees {
		need := ""
		if g.Required {
			need = " (required)"
		}
		fmt.Fprintf(t, "  %s%s\t%s\t%s\t%s\t%s\n", g.Name, need, g.Claimed, g.Measured, dash(g.When), dash(g.Evidence))
	}
	return t.Flush()
}
