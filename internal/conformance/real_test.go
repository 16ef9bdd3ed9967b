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

// TestBackends holds every backend of this host to the whole contract. What an engine's program is held to in every test run is the part that it
// does otherwise than the API; the rest of it takes minutes, and -conformance has it.
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
			case c.cli && !*live:
				o.Only = daily()
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

// daily are the checks that an engine's program is held to in every test run: those of how a command is started and talked to, how its end is
// read, and how a run is ended and found again. The rest is planned, refused and measured by the same code as by the API.
func daily() (names []string) {
	for _, c := range sbxtest.Checks() {
		if slices.Contains([]string{"steps", "streams", "stdin", "outcomes"}, c.Group) || slices.Contains(dailyToo, c.Name) {
			names = append(names, c.Name)
		}
	}
	return names
}

// dailyToo are checks of other groups.
var dailyToo = []string{
	"a signal reaches the command", "a command that ignores TERM is killed after its grace",
	"removing a run that is reopened while it runs ten times", "killing a run that is ended ten times",
	"an owner finds what is his, and only that", "a resource without a record is found by its owner's label and removed",
	"a run can be killed and reaped by its record alone", "a controller that dies while it runs leaves nothing after a reconcile",
}

func TestTheDailyChecksAreThere(t *testing.T) {
	for _, name := range dailyToo {
		if !slices.ContainsFunc(sbxtest.Checks(), func(c sbxtest.Check) bool { return c.Name == name }) {
			t.Errorf("there is no check %q", name)
		}
	}
	t.Logf("%d of %d checks", len(daily()), len(sbxtest.Checks()))
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
