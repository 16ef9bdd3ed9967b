// Package findings holds what the rules found, once it has left the analysis: reading it from vet's JSON, ordering it, comparing
// it with a baseline, and writing it as text, JSON or SARIF.
package findings

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/sbxkit/sbxkit/analyzers/unit"
)

// A Finding is one thing a rule reports. Files are absolute.
type Finding struct {
	Unit string // the go command's name of the unit, such as "fmt [fmt.test]"
	Rule string
	unit.Diagnostic
	Pos Position
}

// A Position is a place in a file; lines and columns (bytes) count from 1.
type Position struct {
	File         string
	Line, Column int
}

// ParsePosition reads "file:line:column" or "file:line".
func ParsePosition(s string) (Position, error) {
	rest, last, ok := cutLast(s)
	if !ok {
		return Position{}, fmt.Errorf("%q is no position", s)
	}
	file, line, ok := cutLast(rest)
	if !ok {
		return Position{rest, last, 0}, nil
	}
	return Position{file, line, last}, nil
}

func cutLast(s string) (string, int, bool) {
	i := strings.LastIndexByte(s, ':')
	if i <= 0 {
		return s, 0, false
	}
	n, err := strconv.Atoi(s[i+1:])
	return s[:i], n, err == nil
}

// Read reads the stream of trees that "go vet -json" prints and returns the findings in order, each once: a package and its variant
// with tests report the same.
func Read(r io.Reader) ([]Finding, error) {
	var out []Finding
	dec := json.NewDecoder(r)
	for {
		var tree map[string]map[string]json.RawMessage
		if err := dec.Decode(&tree); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("reading what go vet printed: %w", err)
		}
		for id, rules := range tree {
			for name, raw := range rules {
				var list []unit.Diagnostic
				if err := json.Unmarshal(raw, &list); err != nil {
					return nil, fmt.Errorf("rule %s failed on %s: %s", name, id, raw)
				}
				for _, d := range list {
					pos, err := ParsePosition(d.Posn)
					if err != nil {
						return nil, fmt.Errorf("reading what go vet printed: %w", err)
					}
					out = append(out, Finding{id, name, d, pos})
				}
			}
		}
	}
	return Order(out), nil
}

// Order sorts the findings by position, rule and message and drops repetitions.
func Order(list []Finding) []Finding {
	slices.SortFunc(list, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(a.Pos.File, b.Pos.File), cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Column, b.Pos.Column),
			cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Message, b.Message), cmp.Compare(a.Unit, b.Unit))
	})
	return slices.CompactFunc(list, func(a, b Finding) bool {
		return a.Pos == b.Pos && a.Rule == b.Rule && a.Message == b.Message
	})
}

// Relative returns name relative to dir when it is below it, else name.
func Relative(dir, name string) string {
	rel, err := filepath.Rel(dir, name)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return name
	}
	return rel
}

// WriteText writes the findings as go vet does, files relative to dir where that is shorter.
func WriteText(w io.Writer, dir string, list []Finding) error {
	line := func(posn, message string) error {
		if pos, err := ParsePosition(posn); err == nil {
			posn = Relative(dir, pos.File) + strings.TrimPrefix(posn, pos.File)
		}
		_, err := fmt.Fprintf(w, "%s: %s\n", posn, message)
		return err
	}
	for _, f := range list {
		if err := line(f.Posn, f.Message); err != nil {
			return fmt.Errorf("writing findings: %w", err)
		}
		for _, r := range f.Related {
			if err := line(r.Posn, "\t"+r.Message); err != nil {
				return fmt.Errorf("writing findings: %w", err)
			}
		}
	}
	return nil
}

// WriteJSON writes the findings as one tree in vet's form, units and rules in order.
func WriteJSON(w io.Writer, list []Finding) error {
	tree := make(unit.Tree)
	for _, f := range list {
		if tree[f.Unit] == nil {
			tree[f.Unit] = make(map[string][]unit.Diagnostic)
		}
		tree[f.Unit][f.Rule] = append(tree[f.Unit][f.Rule], f.Diagnostic)
	}
	data, err := json.MarshalIndent(tree, "", "\t")
	if err != nil {
		return fmt.Errorf("encoding findings: %w", err)
	}
	if _, err := fmt.Fprintf(w, "%s\n", data); err != nil {
		return fmt.Errorf("writing findings: %w", err)
	}
	return nil
}
