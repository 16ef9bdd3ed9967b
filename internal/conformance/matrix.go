package conformance

import (
	"bytes"
	"fmt"
	"os"
	"strings"

	"github.com/sbxkit/sbxkit/runtime/sbxtest"
)

// matrix is what the suite found of each backend, by column.
type matrix struct {
	names   []string
	reports []*sbxtest.Report
}

func (m *matrix) add(name string, r *sbxtest.Report) {
	m.names, m.reports = append(m.names, name), append(m.reports, r)
}

// cell is how a check came out in a column.
func cell(r *sbxtest.Report, check string) string {
	for _, row := range r.Rows {
		if row.Name == check {
			return string(row.Status)
		}
	}
	return "not run"
}

// write writes the matrix as a page.
func (m *matrix) write(path string) error {
	var b bytes.Buffer
	b.WriteString("# Conformance\n\nWritten by `make conformance`, from the reports of `runtime/sbxtest`. A gap is a check that says nothing of a backend, with the\n" +
		"backend's or the host's own reason below; it is no pass. On another host, `sbxctl doctor --conformance` prints the same table.\n\n")
	for i, r := range m.reports {
		fmt.Fprintf(&b, "- **%s**: %s\n", m.names[i], r.Summary())
	}
	b.WriteString("\n| check | " + strings.Join(m.names, " | ") + " |\n|---|" + strings.Repeat("---|", len(m.names)) + "\n")
	group := ""
	for _, c := range sbxtest.Checks() {
		if c.Group != group {
			group = c.Group
			fmt.Fprintf(&b, "| **%s** |%s\n", group, strings.Repeat(" |", len(m.names)))
		}
		fmt.Fprintf(&b, "| %s |", c.Name)
		for _, r := range m.reports {
			fmt.Fprintf(&b, " %s |", cell(r, c.Name))
		}
		b.WriteByte('\n')
	}
	b.WriteString("\n## Gaps\n")
	for i, r := range m.reports {
		fmt.Fprintf(&b, "\n### %s\n\n", m.names[i])
		for _, row := range r.Rows {
			if row.Status == sbxtest.Gap {
				fmt.Fprintf(&b, "- %s: %s\n", row.Name, row.Gap)
			}
		}
	}
	b.WriteString("\n## Rules\n\n")
	for _, c := range sbxtest.Checks() {
		fmt.Fprintf(&b, "- %s: \u201c%s\u201d (%s)\n", c.Name, c.Rule, c.Where)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		return fmt.Errorf("writing the conformance matrix: %w", err)
	}
	return nil
}
