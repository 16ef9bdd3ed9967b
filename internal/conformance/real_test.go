package conformance

import (
	"flag"
	"os"
	"slices"
	"testing"

	"github.com/sbxkit/sbxkit/runtime/sbxtest"
)

var (
	live  = flag.Bool("conformance", false, "hold the backends of this host to every check, and compare with the page; takes minutes")
	write = flag.String("write", "", "write what was found to this page, and keep what it has of backends that were not run")
)

// TestBackends holds every backend of this host to the contract: the processes to all of it, the engines to the groups that tests of
// every day need, or with -conformance to all of it too.
func TestBackends(t *testing.T) {
	for _, c := range columns() {
		t.Run(c.name, func(t *testing.T) {
			c.need(t)
			o := sbxtest.Options{Parallel: c.parallel}
			switch {
			case c.name == "fake" && !*live:
				t.Skip("TestFake runs it")
			case c.name == "fake":
				o = bubbled
			case c.image() != "" && !*live:
				if o.Only = daily(); c.cli {
					t.Skip("its checks take minutes: make conformance runs them")
				}
			}
			f, end := c.factory()
			rep := sbxtest.Run(t, f, o)
			t.Log(rep.Summary())
			if err := end(); err != nil {
				t.Error(err)
			}
			recordOrCompare(t, c.name, rep)
		})
	}
}

// daily are the checks that engines are held to in every test run.
func daily() (names []string) {
	for _, c := range sbxtest.Checks() {
		if slices.Contains([]string{"steps", "stdin", "outcomes", "idempotence", "journal"}, c.Group) {
			names = append(names, c.Name)
		}
	}
	return names
}

// recordOrCompare puts a full report on the page, or, as with every report, holds it against the page.
func recordOrCompare(t *testing.T, name string, rep *sbxtest.Report) {
	t.Helper()
	if *write != "" {
		p, err := kept(*write)
		if err != nil {
			t.Fatal(err)
		}
		p.set(name, rep)
		if err := os.WriteFile(*write, p.text(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !*live {
		return // what another host lacks is no failure of a test of every day
	}
	p, err := readPage(pagePath)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range p.differs(name, rep) {
		t.Error(d)
	}
}
