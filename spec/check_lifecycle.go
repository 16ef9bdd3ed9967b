package spec

import "strings"

// signals that a stop ladder may send, with their numbers on every platform of the seam.
var signals = map[string]int{"HUP": 1, "INT": 2, "QUIT": 3, "KILL": 9, "TERM": 15}

func (c *checker) lifecycle() {
	d, l := &c.doc.Lifecycle, &c.b.Lifecycle
	c.missing("lifecycle", "")
	if d.At.Line == 0 {
		return
	}
	if c.extending() {
		c.needs(d.At, "lifecycle", "it is not the base's", d.Because)
	}
	c.sentence(d.Because, "because")
	l.Pos = d.At
	set := func(t Text, out *string, what string, words ...string) {
		if t.given() {
			*out = c.oneOf(t, what, words...)
		}
		if *out == "" && !t.given() {
			c.errorf(d.At, "it is one of "+strings.Join(words, ", "), "%s is missing", what)
		}
	}
	set(d.Prepare, &l.Prepare, "lifecycle.prepare", prepareSet...)
	if s := &d.Start; s.At.Line > 0 {
		l.Start.Pos = s.At
	}
	set(d.Start.Gate, &l.Start.Gate, "lifecycle.start.gate", gateSet...)
	set(d.Start.Status, &l.Start.Status, "lifecycle.start.status", statusSet...)
	set(d.Start.Session, &l.Start.Session, "lifecycle.start.session", sessionSet...)
	set(d.Remove.Teardown, &l.Remove, "lifecycle.remove.teardown", teardownSet...)
	set(d.Export, &l.Export, "lifecycle.export", exportSet...)
	set(d.Reconcile, &l.Reconcile, "lifecycle.reconcile", reconcileSet...)
	if d.Stop != nil {
		l.Stop = nil
		for _, r := range d.Stop {
			l.Stop = append(l.Stop, c.rung(r))
		}
	}
	if n := len(l.Stop); n == 0 || !l.Stop[n-1].Kill {
		c.errorf(d.At, "", "lifecycle.stop does not end in kill: true; a run could outlive it")
	}
	c.reason(d.Because, "lifecycle")
}

func (c *checker) rung(d rungDoc) StopRung {
	r := StopRung{Pos: d.At, Kill: d.Kill.Value}
	if d.Signal.given() == d.Kill.Value {
		c.errorf(d.At, "", "a rung of lifecycle.stop is a signal, or kill: true")
	}
	if d.Signal.given() {
		r.Signal = strings.TrimPrefix(d.Signal.Text, "SIG")
		r.Number = signals[r.Signal]
		if r.Number == 0 {
			c.errorf(d.Signal.Pos, "it is one of "+strings.Join(signalSet, ", "), "lifecycle.stop: %s is no signal that ends a process", quote(d.Signal.Text))
		}
	}
	r.Grace, _ = c.duration(d.Grace, "lifecycle.stop: grace")
	return r
}
