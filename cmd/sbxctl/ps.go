package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"text/tabwriter"
	"time"

	sbx "github.com/sbxkit/sbxkit/runtime"
	"github.com/spf13/cobra"
)

// listed is a row of ps.
type listed struct {
	Run     sbx.RunName `json:"run"`
	Backend string      `json:"backend"`
	Step    sbx.Step    `json:"step"`
	Live    bool        `json:"live"`
	Charged bool        `json:"charged"`
	Created time.Time   `json:"created"`
	Labels  []sbx.Label `json:"labels,omitempty"`
	// Outcome is how the command ended, where that was recorded before its controller died or its removal failed; Code is the status of
	// one that exited.
	Outcome sbx.Outcome     `json:"outcome,omitempty"`
	Code    *int            `json:"code,omitempty"`
	Failure json.RawMessage `json:"failure,omitempty"`
	Error   string          `json:"error,omitempty"` // of a record that cannot be read
}

// ending is the outcome in a word or two.
func (l *listed) ending() string {
	if l.Code != nil {
		return fmt.Sprintf("%s %d", l.Outcome, *l.Code)
	}
	return dash(string(l.Outcome))
}

func list(r *sbx.Record, live bool) listed {
	l := listed{
		Run: r.Run, Backend: r.Backend, Step: r.Step, Live: live, Charged: r.Charged, Created: time.Unix(0, r.Created).UTC(),
		Labels: r.Labels, Outcome: r.Outcome, Failure: r.Failure,
	}
	if r.Outcome == sbx.Exited {
		l.Code = &r.Code
	}
	return l
}

func psCommand(s streams) *cobra.Command {
	var state string
	var asJSON bool
	c := &cobra.Command{
		Use:   "ps [--state DIR] [--json]",
		Short: "List the runs of a state directory: those that live, and those of which something is still to be removed, with how they ended",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			j, err := openJournal(c.Context(), state)
			if err != nil {
				return err
			}
			// One at a time: a state directory may hold any number of runs.
			rows := &rows{s: s, asJSON: asJSON}
			err = j.List(c.Context(), func(r sbx.Record, live bool) error { return rows.add(list(&r, live)) },
				func(path string, err error) { rows.bad(path, err) })
			if e := rows.end(); err == nil {
				err = e
			}
			return err
		},
	}
	stateFlag(c, &state)
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return c
}

// page is how many rows of a table are lined up together.
const page = 256

// rows prints rows as they come.
type rows struct {
	s      streams
	asJSON bool
	n      int
	table  *tabwriter.Writer
	err    error
}

func (r *rows) add(l listed) error {
	if r.err != nil {
		return r.err
	}
	if r.asJSON {
		r.err = r.json(l)
	} else {
		r.err = r.line(l)
	}
	r.n++
	return r.err
}

// bad adds a record that cannot be read. Its error is kept for the end: a listing goes on.
func (r *rows) bad(path string, err error) {
	r.err = errors.Join(r.err, r.add(listed{Run: sbx.RunName{Dir: path}, Error: err.Error()}))
}

func (r *rows) json(l listed) error {
	before := ",\n  "
	if r.n == 0 {
		before = "[\n  "
	}
	b, err := json.MarshalIndent(l, "  ", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(r.s.out, "%s%s", before, b)
	return err
}

func (r *rows) line(l listed) error {
	if r.n%page == 0 {
		if err := r.head(); err != nil {
			return err
		}
	}
	if l.Error != "" {
		_, err := fmt.Fprintf(r.table, "-\t-\t-\tunreadable\t-\t%s: %s\n", sbx.ShellQuote(l.Run.Dir), l.Error)
		return err
	}
	state := "dead"
	if l.Live {
		state = "live"
	}
	_, err := fmt.Fprintf(r.table, "%s\t%s\t%s\t%s\t%s\t%s\n", l.Run.ID, l.Backend, l.Step, state, l.ending(), l.Created.Format(time.RFC3339))
	return err
}

// head begins a page.
func (r *rows) head() error {
	if r.table != nil {
		if err := r.table.Flush(); err != nil {
			return err
		}
	}
	r.table = tabwriter.NewWriter(r.s.out, 0, 8, 2, ' ', 0)
	_, err := fmt.Fprintln(r.table, "RUN\tBACKEND\tSTEP\tSTATE\tOUTCOME\tCREATED")
	return err
}

// end finishes what was printed.
func (r *rows) end() error {
	if r.err != nil {
		return r.err
	}
	switch {
	case r.asJSON && r.n == 0:
		_, r.err = fmt.Fprintln(r.s.out, "[]")
	case r.asJSON:
		_, r.err = fmt.Fprintln(r.s.out, "\n]")
	case r.n == 0:
		if r.err = r.head(); r.err == nil {
			r.err = r.table.Flush()
		}
	default:
		r.err = r.table.Flush()
	}
	return r.err
}
