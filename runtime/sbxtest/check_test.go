package sbxtest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// TestEveryFailureNamesItsRule lets every check fail, and reads what a person is shown of it, in a test and by sbxctl doctor.
func TestEveryFailureNamesItsRule(t *testing.T) {
	all := Checks()
	if len(all) < 120 {
		t.Errorf("there are %d checks", len(all))
	}
	broken := func(context.Context) (*Subject, error) { return nil, errors.New("nothing works") }
	names := map[string]bool{}
	for _, c := range all {
		t.Run(c.Name, func(t *testing.T) {
			if c.Group == "" || c.Name == "" || c.Rule == "" || names[c.Name] {
				t.Errorf("it has no group, no rule, or another's name: %+v", c)
			}
			names[c.Name] = true
			if document, _, _ := strings.Cut(c.Where, ","); document != "LIFECYCLE" && document != "LAUNCH" && document != "STYLE" {
				t.Errorf("its rule is written in %q, which is no document of the contract", c.Where)
			}
			row, _, _ := runCheck(t.Context(), c, broken, Options{})
			if row.Status != Failed || len(row.Problems) != 1 {
				t.Fatalf("on a backend that cannot be made it came out as %+v", row)
			}
			var table strings.Builder
			if err := WriteTable(&table, &Report{Backend: "broken", Rows: []Row{row}}); err != nil {
				t.Fatal(err)
			}
			for where, text := range map[string]string{"a test": row.failure(row.Problems[0]), "the table": table.String()} {
				for _, part := range []string{"nothing works", "violates: " + c.Name, fmt.Sprintf("%q (%s)", c.Rule, c.Where)} {
					if !strings.Contains(text, part) {
						t.Errorf("%s does not show %q: %s", where, part, text)
					}
				}
			}
		})
	}
}
