package conformance

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/sbxkit/sbxkit/runtime/sbxtest"
)

// page is docs/conformance.md: what the suite found of each backend, by check.
type page struct {
	heads   []string            // the backends, a column each
	found   []string            // what was found of each in one line
	cells   map[string][]string // by check, a status for each column
	reasons map[string]string   // of a gap, by column and check
	order   []string            // group/check, a row each
	rules   []string
}

const (
	foundPrefix, gapsHead, rulesHead = "- **", "\n## Gaps\n", "\n## Rules\n\n"

	introduction = "# Conformance\n\nWritten by `make conformance`, from the reports of `runtime/sbxtest`. A gap is a check that says nothing of a backend, with the\n" +
		"backend's or the host's own reason below; it is no pass. On another host, `sbxctl doctor --conformance` prints the same table.\n\n"
)

// newPage is the page of this suite and its backends with nothing found yet.
func newPage() *page {
	p := &page{cells: map[string][]string{}, reasons: map[string]string{}}
	for _, c := range columns() {
		p.heads, p.found = append(p.heads, c.name), append(p.found, "not run")
	}
	for _, c := range sbxtest.Checks() {
		p.order, p.rules = append(p.order, c.Group+"/"+c.Name), append(p.rules, ruleLine(c))
		p.cells[c.Name] = slices.Repeat([]string{"not run"}, len(p.heads))
	}
	return p
}

func ruleLine(c sbxtest.Check) string {
	return fmt.Sprintf("- %s: “%s” (%s)", c.Name, c.Rule, c.Where)
}

// readPage reads a page as it was written.
func readPage(path string) (*page, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the conformance matrix (make conformance writes it): %w", err)
	}
	p := &page{cells: map[string][]string{}, reasons: map[string]string{}}
	table, rest, _ := strings.Cut(string(text), gapsHead)
	gaps, rules, _ := strings.Cut(rest, rulesHead)
	p.rules = strings.Split(strings.TrimSpace(rules), "\n")
	group, column := "", ""
	for line := range strings.Lines(table) {
		line = strings.TrimSpace(line)
		if found, ok := strings.CutPrefix(line, foundPrefix); ok {
			_, found, _ = strings.Cut(found, "**: ")
			p.found = append(p.found, found)
		}
		if !strings.HasPrefix(line, "| ") {
			continue
		}
		fields := strings.Split(strings.TrimSuffix(strings.TrimPrefix(line, "| "), " |"), " | ")
		switch {
		case fields[0] == "check":
			p.heads = fields[1:]
		case strings.HasPrefix(fields[0], "**"):
			group = strings.Trim(fields[0], "*")
		default:
			p.cells[fields[0]] = fields[1:]
			p.order = append(p.order, group+"/"+fields[0])
		}
	}
	for line := range strings.Lines(gaps) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "### "); ok {
			column = name
		} else if check, reason, ok := strings.Cut(strings.TrimPrefix(line, "- "), ": "); ok {
			p.reasons[column+"/"+check] = reason
		}
	}
	return p, nil
}

// kept is the page of this suite with what an earlier page has of the backends that are not run anew.
func kept(path string) (*page, error) {
	p := newPage()
	old, err := readPage(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return p, nil
	case err != nil:
		return nil, err
	}
	for i, name := range p.heads {
		was := slices.Index(old.heads, name)
		if was < 0 || was >= len(old.found) {
			continue
		}
		p.found[i] = old.found[was]
		for check, row := range p.cells {
			if have := old.cells[check]; was < len(have) {
				row[i] = have[was]
			}
			if why, ok := old.reasons[name+"/"+check]; ok {
				p.reasons[name+"/"+check] = why
			}
		}
	}
	return p, nil
}

// set puts a report into its column.
func (p *page) set(name string, r *sbxtest.Report) {
	i := slices.Index(p.heads, name)
	p.found[i] = r.Summary()
	for check, row := range p.cells {
		row[i] = "not run"
		delete(p.reasons, name+"/"+check)
	}
	for _, row := range r.Rows {
		p.cells[row.Name][i] = string(row.Status)
		if row.Status == sbxtest.Gap {
			p.reasons[name+"/"+row.Name] = row.Gap
		}
	}
}

// text is the page as it is written.
func (p *page) text() []byte {
	var b bytes.Buffer
	b.WriteString(introduction)
	for i, name := range p.heads {
		fmt.Fprintf(&b, "%s%s**: %s\n", foundPrefix, name, p.found[i])
	}
	fmt.Fprintf(&b, "\n| check | %s |\n|---|%s\n", strings.Join(p.heads, " | "), strings.Repeat("---|", len(p.heads)))
	last := ""
	for _, row := range p.order {
		group, check, _ := strings.Cut(row, "/")
		if group != last {
			last = group
			fmt.Fprintf(&b, "| **%s** |%s\n", group, strings.Repeat(" |", len(p.heads)))
		}
		fmt.Fprintf(&b, "| %s | %s |\n", check, strings.Join(p.cells[check], " | "))
	}
	b.WriteString(gapsHead)
	for _, name := range p.heads {
		fmt.Fprintf(&b, "\n### %s\n\n", name)
		for _, row := range p.order {
			_, check, _ := strings.Cut(row, "/")
			if why, ok := p.reasons[name+"/"+check]; ok {
				fmt.Fprintf(&b, "- %s: %s\n", check, why)
			}
		}
	}
	b.WriteString(rulesHead + strings.Join(p.rules, "\n") + "\n")
	return b.Bytes()
}

// stale says why the page is not of this suite and these backends, as they describe themselves; empty where it is. The same checks stand
// in the same groups under the same rules; a check that a backend declares it says nothing of is a gap for that reason; every other one
// has passed, or is a gap of the host's with its reason.
func (p *page) stale() string {
	now := newPage()
	for _, l := range []struct {
		what       string
		have, want []string
	}{{"checks", p.order, now.order}, {"rules", p.rules, now.rules}, {"backends", p.heads, now.heads}} {
		if !slices.Equal(l.have, l.want) {
			return fmt.Sprintf("its %s are not the suite's: %s", l.what, firstDifference(l.have, l.want))
		}
	}
	for i, col := range columns() {
		b, err := col.make()
		if err != nil {
			return err.Error()
		}
		for _, c := range sbxtest.Checks() {
			cell, declared, reason := p.cells[c.Name][i], c.Gap(b.Describe()), p.reasons[col.name+"/"+c.Name]
			switch {
			case declared != "" && (cell != string(sbxtest.Gap) || reason != declared):
				return fmt.Sprintf("%q on %s is %q (%s), and the backend declares the gap %q", c.Name, col.name, cell, reason, declared)
			case declared == "" && cell != string(sbxtest.Passed) && (cell != string(sbxtest.Gap) || reason == ""):
				return fmt.Sprintf("%q on %s is %q (%s), which is neither a pass nor a gap with a reason", c.Name, col.name, cell, reason)
			}
		}
	}
	return ""
}

// differs says where a report has not what the page has of a backend.
func (p *page) differs(name string, r *sbxtest.Report) (all []string) {
	i := slices.Index(p.heads, name)
	for _, row := range r.Rows {
		have := "no such row"
		if cells := p.cells[row.Name]; i >= 0 && i < len(cells) {
			have = cells[i]
		}
		if have != string(row.Status) {
			all = append(all, fmt.Sprintf("%q came out as %s, and the page says %s", row.Name, row.Status, have))
		}
	}
	return all
}

func firstDifference(have, want []string) string {
	for i := range max(len(have), len(want)) {
		a, b := "nothing", "nothing"
		if i < len(have) {
			a = have[i]
		}
		if i < len(want) {
			b = want[i]
		}
		if a != b {
			return fmt.Sprintf("%q where %q belongs", a, b)
		}
	}
	return ""
}
