package unit

import (
	"cmp"
	"encoding/json"
	"fmt"
	"go/token"
	"io"

	"golang.org/x/tools/go/analysis"
)

// A Tree is vet's JSON output: unit ID to analyzer to its findings.
type Tree map[string]map[string][]Diagnostic

// A Diagnostic is a finding in vet's JSON form.
type Diagnostic struct {
	Category       string         `json:"category,omitempty"`
	Posn           string         `json:"posn"` // file:line:column, the file absolute
	End            string         `json:"end"`
	Message        string         `json:"message"`
	SuggestedFixes []SuggestedFix `json:"suggested_fixes,omitempty"`
	Related        []Related      `json:"related,omitempty"`
}

// A SuggestedFix is a change that is to be made as a whole.
type SuggestedFix struct {
	Message string     `json:"message"`
	Edits   []TextEdit `json:"edits"`
}

// A TextEdit replaces the bytes from Start to End of a file.
type TextEdit struct {
	Filename string `json:"filename"`
	Start    int    `json:"start"`
	End      int    `json:"end"`
	New      string `json:"new"`
}

// A Related is a position that helps to understand a finding.
type Related struct {
	Posn    string `json:"posn"`
	End     string `json:"end"`
	Message string `json:"message"`
}

// JSON converts a diagnostic to vet's JSON form.
func JSON(fset *token.FileSet, d analysis.Diagnostic) Diagnostic {
	out := Diagnostic{
		Category: d.Category,
		Posn:     fset.Position(d.Pos).String(),
		End:      fset.Position(cmp.Or(d.End, d.Pos)).String(),
		Message:  d.Message,
	}
	for _, fix := range d.SuggestedFixes {
		f := SuggestedFix{Message: fix.Message}
		for _, e := range fix.TextEdits {
			// Offsets are those of the file as it is, whatever its //line directives say.
			tf := fset.File(e.Pos)
			f.Edits = append(f.Edits, TextEdit{tf.Name(), tf.Offset(e.Pos), tf.Offset(cmp.Or(e.End, e.Pos)), string(e.NewText)})
		}
		out.SuggestedFixes = append(out.SuggestedFixes, f)
	}
	for _, r := range d.Related {
		out.Related = append(out.Related, Related{fset.Position(r.Pos).String(), fset.Position(cmp.Or(r.End, r.Pos)).String(), r.Message})
	}
	return out
}

// WriteJSON writes the findings as one vet tree; nothing when there are none.
func (r *Result) WriteJSON(w io.Writer, id string) error {
	if len(r.Diagnostics) == 0 {
		return nil
	}
	units := make(map[string][]Diagnostic)
	for _, a := range r.Diagnostics {
		for _, d := range a.List {
			units[a.Analyzer.Name] = append(units[a.Analyzer.Name], JSON(r.Fset, d))
		}
	}
	data, err := json.MarshalIndent(Tree{id: units}, "", "\t")
	if err != nil {
		return fmt.Errorf("encoding findings: %w", err)
	}
	if _, err := fmt.Fprintf(w, "%s\n", data); err != nil {
		return fmt.Errorf("writing findings: %w", err)
	}
	return nil
}

// WriteText writes the findings in vet's text form and returns their number.
func (r *Result) WriteText(w io.Writer) (int, error) {
	n := 0
	for _, a := range r.Diagnostics {
		for _, d := range a.List {
			n++
			if _, err := fmt.Fprintf(w, "%s: %s\n", r.Fset.Position(d.Pos), d.Message); err != nil {
				return n, fmt.Errorf("writing findings: %w", err)
			}
			for _, rel := range d.Related {
				if _, err := fmt.Fprintf(w, "%s: \t%s\n", r.Fset.Position(rel.Pos), rel.Message); err != nil {
					return n, fmt.Errorf("writing findings: %w", err)
				}
			}
		}
	}
	return n, nil
}
