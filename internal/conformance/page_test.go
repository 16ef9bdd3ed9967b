package conformance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sbxkit/sbxkit/runtime/sbxtest"
)

// pagePath is where make conformance writes the page.
const pagePath = "../../docs/conformance.md"

func TestThePageIsOfThisSuite(t *testing.T) {
	p, err := readPage(pagePath)
	if err != nil {
		t.Fatal(err)
	}
	if why := p.stale(); why != "" {
		t.Errorf("docs/conformance.md is stale: %s; run make conformance", why)
	}
	text, err := os.ReadFile(pagePath)
	if err != nil {
		t.Fatal(err)
	}
	if string(p.text()) != string(text) {
		t.Error("docs/conformance.md is not as make conformance writes it")
	}
}

func TestAPageThatHasAgedIsNoticed(t *testing.T) {
	text, err := os.ReadFile(pagePath)
	if err != nil {
		t.Fatal(err)
	}
	check := sbxtest.Checks()[0].Name
	for _, c := range []struct{ name, old, now string }{
		{"a check that is no longer", "\n| " + check + " |", "\n| another check |"},
		{"a backend that is new", " | bwrap |", " |"},
		{"a failure", " pass |", " FAIL |"},
		{"a check that was not run", " pass |", " not run |"},
		{"a gap without a reason", " pass |", " gap |"},
		{"gaps that are passes now", " gap |", " pass |"},
		{"gaps for another reason", ": ", ": not "},
		{"a group that is called otherwise", "| **stdin** |", "| **input** |"},
		{"a rule that reads otherwise", "(LIFECYCLE, ", "(SPEC, "},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := 1
			if strings.HasPrefix(c.name, "gaps") {
				n = -1
			}
			changed := strings.Replace(string(text), c.old, c.now, n)
			if changed == string(text) {
				t.Fatalf("the page has no %q", c.old)
			}
			aged := filepath.Join(t.TempDir(), "page.md")
			if err := os.WriteFile(aged, []byte(changed), 0o644); err != nil {
				t.Fatal(err)
			}
			p, err := readPage(aged)
			if err != nil {
				t.Fatal(err)
			}
			if why := p.stale(); why == "" {
				t.Error("nobody notices")
			} else {
				t.Log(why)
			}
		})
	}
}

func TestAReportIsHeldAgainstThePage(t *testing.T) {
	p := newPage()
	check := sbxtest.Checks()[0]
	report := func(s sbxtest.Status) *sbxtest.Report {
		return &sbxtest.Report{Backend: "local", Rows: []sbxtest.Row{{Group: check.Group, Name: check.Name, Status: s, Gap: "why"}}}
	}
	p.set("local", report(sbxtest.Passed))
	if d := p.differs("local", report(sbxtest.Passed)); len(d) != 0 {
		t.Errorf("the same result differs: %q", d)
	}
	for _, s := range []sbxtest.Status{sbxtest.Failed, sbxtest.Gap} {
		if d := p.differs("local", report(s)); len(d) != 1 {
			t.Errorf("%s where the page has a pass: %q", s, d)
		}
	}
	if d := p.differs("nobody", report(sbxtest.Passed)); len(d) != 1 {
		t.Errorf("a backend that is not on the page: %q", d)
	}
	path := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(path, p.text(), 0o644); err != nil {
		t.Fatal(err)
	}
	q, err := kept(path)
	if err != nil {
		t.Fatal(err)
	}
	q.set("fake", report(sbxtest.Gap))
	if d := q.differs("local", report(sbxtest.Passed)); len(d) != 0 {
		t.Errorf("what is not run anew is lost: %q", d)
	}
	if d := q.differs("fake", report(sbxtest.Gap)); len(d) != 0 || q.reasons["fake/"+check.Name] != "why" {
		t.Errorf("a new column: %q, %q", d, q.reasons)
	}
}
