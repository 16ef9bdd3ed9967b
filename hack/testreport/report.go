package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// event is one line of go test -json, documented at go doc test2json.
type event struct {
	Action      string
	Package     string
	ImportPath  string // of build-output and build-fail
	Test        string
	Elapsed     float64 // seconds
	Output      string
	FailedBuild string // the package whose build failed, on a package's fail
}

// report collects the events of one go test.
type report struct {
	out      io.Writer
	packages map[string]*packageTests
	builds   map[string]*strings.Builder // output of builds, by import path
	skipped  []skippedTest
	counts   struct{ passed, failed, skipped int }
}

// packageTests is a package whose tests have begun and not ended.
type packageTests struct {
	tests  map[string]*test
	order  []string // names in the order they began
	output strings.Builder
}

type test struct {
	action string // pass, fail, skip; "" while it runs
	passed bool   // it said that it passed
	parent bool   // it has subtests
	output []string
}

type skippedTest struct{ pkg, name, reason string }

func newReport(out io.Writer) *report {
	return &report{out: out, packages: make(map[string]*packageTests), builds: make(map[string]*strings.Builder)}
}

// read takes events until the end of in. A line that is no event is printed as it is.
func (r *report) read(in io.Reader) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) != nil || e.Action == "" {
				fmt.Fprintln(r.out, strings.TrimSuffix(string(line), "\n"))
			} else {
				r.take(e)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (r *report) take(e event) {
	if e.Action == "build-output" {
		if r.builds[e.ImportPath] == nil {
			r.builds[e.ImportPath] = new(strings.Builder)
		}
		r.builds[e.ImportPath].WriteString(e.Output)
		return
	}
	if e.Package == "" {
		return
	}
	p := r.packages[e.Package]
	if p == nil {
		p = &packageTests{tests: make(map[string]*test)}
		r.packages[e.Package] = p
	}
	if e.Test == "" {
		r.takePackage(p, e)
		return
	}
	t := p.tests[e.Test]
	if t == nil {
		t = new(test)
		p.tests[e.Test] = t
		p.order = append(p.order, e.Test)
		if above, _, sub := cutLast(e.Test); sub {
			if parent := p.tests[above]; parent != nil {
				parent.parent = true
			}
		}
	}
	switch e.Action {
	case "output":
		t.output = append(t.output, e.Output)
		if strings.HasPrefix(strings.TrimLeft(e.Output, " "), "--- PASS: "+e.Test+" ") {
			t.passed = true
		}
	case "pass":
		// go test also reports as passed the test in which the program ended with
		// success, although it never said so.
		if t.passed {
			t.action = e.Action
		}
	case "fail", "skip":
		t.action = e.Action
	}
}

// cutLast cuts a test's name around its last slash.
func cutLast(name string) (before, after string, found bool) {
	i := strings.LastIndexByte(name, '/')
	if i < 0 {
		return name, "", false
	}
	return name[:i], name[i+1:], true
}

// takePackage takes an event about the package itself, and counts its tests
// once it has ended.
func (r *report) takePackage(p *packageTests, e event) {
	switch e.Action {
	case "output":
		p.output.WriteString(e.Output)
		return
	case "pass", "fail", "skip":
	default:
		return
	}
	delete(r.packages, e.Package)
	r.end(p, e)
}

func (r *report) end(p *packageTests, e event) {
	var failed []string
	before := r.counts.passed
	skips := 0
	for _, name := range p.order {
		switch t := p.tests[name]; {
		case t.action == "skip":
			r.skipped = append(r.skipped, skippedTest{e.Package, name, reason(t.output)})
			skips++
		case t.action == "pass" && !t.parent:
			r.counts.passed++
		case t.action == "fail" && !p.subtestFailed(name):
			failed = append(failed, name)
		case t.action == "":
			// It began and never ended: the program panicked, exited or was
			// killed, possibly with success.
			t.output = append(t.output, "this test began and did not end\n")
			if !p.subtestFailed(name) {
				failed = append(failed, name)
			}
		}
	}
	r.counts.skipped += skips
	r.counts.failed += len(failed)
	if len(failed) == 0 && e.Action == "fail" {
		// No test is to blame: the build, TestMain, or the end of the program.
		r.counts.failed++
	}
	if len(failed) == 0 && e.Action != "fail" {
		if e.Action == "pass" && len(p.order) > 0 {
			fmt.Fprintf(r.out, "ok    %s  %d passed, %d skipped (%.1fs)\n", e.Package, r.counts.passed-before, skips, e.Elapsed)
		}
		return
	}
	fmt.Fprintf(r.out, "FAIL  %s (%.1fs)\n", e.Package, e.Elapsed)
	if build := r.builds[e.FailedBuild]; build != nil {
		fmt.Fprint(r.out, indent(build.String()))
	}
	fmt.Fprint(r.out, indent(withoutNoise(p.output.String())))
	for _, name := range failed {
		fmt.Fprintf(r.out, "    FAIL  %s\n", name)
		// What its parents said belongs to it as much.
		for above, _, sub := cutLast(name); sub; above, _, sub = cutLast(above) {
			if parent := p.tests[above]; parent != nil {
				fmt.Fprint(r.out, indent(indent(withoutNoise(strings.Join(parent.output, "")))))
			}
		}
		fmt.Fprint(r.out, indent(indent(withoutNoise(strings.Join(p.tests[name].output, "")))))
	}
}

// subtestFailed is whether a test below name failed or did not end.
func (p *packageTests) subtestFailed(name string) bool {
	return slices.ContainsFunc(p.order, func(other string) bool {
		return strings.HasPrefix(other, name+"/") && p.tests[other].action != "pass" && p.tests[other].action != "skip"
	})
}

// noise is what the testing package prints around a test.
var noise = []string{"=== ", "--- FAIL", "--- SKIP", "--- PASS", "PASS", "FAIL", "ok  \t", "exit status "}

func isNoise(line string) bool {
	line = strings.TrimLeft(line, " ")
	return line == "" || slices.ContainsFunc(noise, func(prefix string) bool { return strings.HasPrefix(line, prefix) })
}

func withoutNoise(text string) string {
	var kept strings.Builder
	for line := range strings.Lines(text) {
		if !isNoise(strings.TrimSuffix(line, "\n")) {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

// reason is what a skipped test said last, without the place it said it.
func reason(output []string) string {
	text := strings.TrimSpace(withoutNoise(strings.Join(output, "")))
	if text == "" {
		return "no reason given"
	}
	lines := strings.Split(text, "\n")
	last := strings.TrimSpace(lines[len(lines)-1])
	if _, said, found := strings.Cut(last, ": "); found && strings.Contains(last[:len(last)-len(said)], ".go:") {
		return said
	}
	return last
}

func indent(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString("    " + line)
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		b.WriteByte('\n')
	}
	return b.String()
}

// finish prints what is left, the skipped tests and the counts, and returns the
// exit status. testErr is how go test ended.
func (r *report) finish(testErr error) int {
	// A package that never ended, because go test itself was stopped.
	var open []string
	for name := range r.packages {
		open = append(open, name)
	}
	slices.Sort(open)
	for _, name := range open {
		p := r.packages[name]
		if len(p.order) > 0 || p.output.Len() > 0 {
			p.output.WriteString("the tests of this package did not end\n")
			r.end(p, event{Action: "fail", Package: name})
		}
	}
	if testErr != nil && r.counts.failed == 0 {
		for _, build := range r.builds {
			fmt.Fprint(r.out, build.String())
		}
		fmt.Fprintf(r.out, "FAIL  go test: %v\n", testErr)
		r.counts.failed++
	}
	if r.counts.passed+r.counts.failed == 0 {
		fmt.Fprintln(r.out, "FAIL  no test ran")
	}
	if len(r.skipped) > 0 {
		fmt.Fprintln(r.out)
	}
	for _, s := range r.skipped {
		fmt.Fprintf(r.out, "SKIPPED  %s %s: %s\n", s.pkg, s.name, s.reason)
	}
	fmt.Fprintf(r.out, "%d passed, %d failed, %d skipped\n", r.counts.passed, r.counts.failed, r.counts.skipped)
	if r.counts.failed > 0 || r.counts.passed == 0 {
		return 1
	}
	return 0
}
