package sbxtest

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/sbxkit/sbxkit/runtime"
)

// Status is how a check came out.
type Status string

// The statuses. A gap is no pass.
const (
	Passed Status = "pass"
	Failed Status = "FAIL"
	Gap    Status = "gap"
)

// Row is one check's result.
type Row struct {
	Group  string `json:"group"`
	Name   string `json:"name"`
	Rule   string `json:"rule"`
	Where  string `json:"where"`
	Status Status `json:"status"`
	// Gap says why the check says nothing of this backend, with Status Gap.
	Gap string `json:"gap,omitempty"`
	// Problems say what does not hold, with Status Failed.
	Problems []string      `json:"problems,omitempty"`
	Duration time.Duration `json:"duration"` // nanoseconds
}

// failure is a problem with the rule it violates.
func (r *Row) failure(problem string) string {
	return fmt.Sprintf("%s\n\tviolates: %s\n\t%q (%s)", problem, r.Name, r.Rule, r.Where)
}

// Report is what a suite found of one backend.
type Report struct {
	Backend string `json:"backend"`
	// Identity is nil where the backend does not work on this host at all; Failure says why.
	Identity *runtime.Identity `json:"identity,omitempty"`
	Failure  *runtime.Failure  `json:"failure,omitempty"`
	Rows     []Row             `json:"rows"`
}

// Count gives how many checks came out so.
func (r *Report) Count(s Status) int {
	n := 0
	for _, row := range r.Rows {
		if row.Status == s {
			n++
		}
	}
	return n
}

// OK reports whether the backend works here and no check failed. Gaps are the backend's own to declare.
func (r *Report) OK() bool { return r.Failure == nil && r.Count(Failed) == 0 && len(r.Rows) > 0 }

// Summary is the report in one line.
func (r *Report) Summary() string {
	if r.Failure != nil {
		return fmt.Sprintf("%s: does not work here: %v", r.Backend, r.Failure)
	}
	return fmt.Sprintf("%s: %d passed, %d failed, %d gaps", r.Identity, r.Count(Passed), r.Count(Failed), r.Count(Gap))
}

// WriteTable writes reports side by side as a person reads them: a line a check that was run, a column a backend, and below it every failure and gap
// with its reason.
func WriteTable(w io.Writer, reports ...*Report) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprint(t, "GROUP\tCHECK")
	for _, r := range reports {
		fmt.Fprintf(t, "\t%s", r.Backend)
	}
	fmt.Fprintln(t)
	for _, c := range Checks() {
		if !slices.ContainsFunc(reports, func(r *Report) bool { return r.row(c.Name) != nil }) {
			continue
		}
		fmt.Fprintf(t, "%s\t%s", c.Group, c.Name)
		for _, r := range reports {
			status := "-"
			if row := r.row(c.Name); row != nil {
				status = string(row.Status)
			}
			fmt.Fprintf(t, "\t%s", status)
		}
		fmt.Fprintln(t)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, r := range reports {
		if _, err := fmt.Fprintf(w, "\n%s\n", r.Summary()); err != nil {
			return err
		}
		for _, row := range r.Rows {
			for _, p := range row.Problems {
				fmt.Fprintf(w, "  FAIL %s: %s\n", row.Name, row.failure(p))
			}
			if row.Status == Gap {
				fmt.Fprintf(w, "  gap  %s: %s\n", row.Name, row.Gap)
			}
		}
	}
	return nil
}

func (r *Report) row(name string) *Row {
	for i := range r.Rows {
		if r.Rows[i].Name == name {
			return &r.Rows[i]
		}
	}
	return nil
}
