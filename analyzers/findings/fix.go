package findings

import (
	"cmp"
	"errors"
	"fmt"
	"go/format"
	"os"
	"slices"

	"github.com/sbxkit/sbxkit/analyzers/unit"
)

// Fix computes the first fix of each finding that has one. It returns the new contents of the files concerned and the findings that remain:
// those without a fix, and those whose fix overlaps one already taken.
func Fix(list []Finding, read func(string) ([]byte, error)) (files map[string][]byte, remaining []Finding, err error) {
	edits := make(map[string][]unit.TextEdit)
	for _, f := range list {
		if len(f.SuggestedFixes) == 0 || overlaps(edits, f.SuggestedFixes[0].Edits) {
			remaining = append(remaining, f)
			continue
		}
		for _, e := range f.SuggestedFixes[0].Edits {
			edits[e.Filename] = append(edits[e.Filename], e)
		}
	}
	files = make(map[string][]byte)
	var errs []error
	for name, list := range edits {
		data, err := read(name)
		if err != nil {
			errs = append(errs, fmt.Errorf("fixing: %w", err))
			continue
		}
		slices.SortFunc(list, func(a, b unit.TextEdit) int { return cmp.Compare(b.Start, a.Start) })
		text := string(data)
		for _, e := range list {
			if e.Start < 0 || e.End < e.Start || e.End > len(text) {
				errs = append(errs, fmt.Errorf("fixing %s: the file has changed since it was analysed; run again", name))
				text = ""
				break
			}
			text = text[:e.Start] + e.New + text[e.End:]
		}
		if text == "" {
			continue
		}
		out := []byte(text)
		if formatted, err := format.Source(out); err == nil && isFormatted(data) {
			out = formatted
		}
		files[name] = out
	}
	return files, remaining, errors.Join(errs...)
}

func isFormatted(src []byte) bool {
	out, err := format.Source(src)
	return err == nil && string(out) == string(src)
}

func overlaps(taken map[string][]unit.TextEdit, edits []unit.TextEdit) bool {
	for _, e := range edits {
		for _, t := range taken[e.Filename] {
			if e.Start < t.End && t.Start < e.End || e.Start == t.Start {
				return true
			}
		}
	}
	return false
}

// WriteFiles writes the files with the permissions they have.
func WriteFiles(files map[string][]byte) error {
	var names []string
	for n := range files {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		mode := os.FileMode(0o644)
		if st, err := os.Stat(n); err == nil {
			mode = st.Mode().Perm()
		}
		if err := os.WriteFile(n, files[n], mode); err != nil {
			return fmt.Errorf("writing a fixed file: %w", err)
		}
	}
	return nil
}
