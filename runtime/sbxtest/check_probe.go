package sbxtest

import (
	"context"
	"errors"
	"sync"

	"github.com/sbxkit/sbxkit/runtime"
)

func probeChecks() []Check {
	probe := func(c *C) *runtime.Identity {
		id, err := c.subject.Backend.Probe(c.ctx, runtime.ProbeRequest{Image: c.subject.Image})
		c.must(err, "probing")
		if id == nil {
			c.Fatalf("the probe gave neither an identity nor an error")
		}
		return id
	}
	return []Check{
		check("a probe says who the backend is", ruleProbe, func(c *C) {
			id, d := probe(c), c.subject.Backend.Describe()
			if id.Backend != d.Name || id.Kind != d.Kind {
				c.Errorf("it says backend %q of kind %q, and its description %q of kind %q", id.Backend, id.Kind, d.Name, d.Kind)
			}
			if d.Kind == "engine" && (id.Engine == "" || id.Version == "" || id.Endpoint == "") {
				c.Errorf("an engine is to say its name, version and endpoint: %+v", *id)
			}
		}),
		check("a probe says truthfully whether anything is sandboxed", ruleProbe, func(c *C) {
			if id, d := probe(c), c.subject.Backend.Describe(); id.Unsandboxed != d.Unsandboxed {
				c.Errorf("the probe says unsandboxed %v, the description %v", id.Unsandboxed, d.Unsandboxed)
			}
		}),
		check("ten probes say the same", ruleTenTimes, func(c *C) {
			first := probe(c).String()
			for range 10 {
				if next := probe(c).String(); next != first {
					c.Errorf("first %s, then %s", first, next)
				}
			}
		}),
		check("probes at once say the same", ruleConcurrent, func(c *C) {
			first := probe(c).String()
			var running sync.WaitGroup
			for range 4 {
				running.Go(func() {
					id, err := c.subject.Backend.Probe(c.ctx, runtime.ProbeRequest{Image: c.subject.Image})
					if err != nil || id.String() != first {
						c.Errorf("it says %v, %v; want %s", id, err, first)
					}
				})
			}
			running.Wait()
		}),
		check("what a caller does with an identity is his own", ruleConcurrent, func(c *C) {
			id := probe(c)
			id.Absent = append(id.Absent, runtime.Absence{Feature: "command", Why: "spoilt"})
			id.Engine = "spoilt"
			if again := probe(c); again.Engine == "spoilt" {
				c.Errorf("the next probe gives the caller's own changes")
			}
		}),
		check("a probe whose context has ended fails as a Failure or answers", ruleProbe, func(c *C) {
			ctx, cancel := context.WithCancel(c.ctx)
			cancel()
			st := c.plain()
			if id, err := st.box.Probe(ctx); err != nil {
				c.failure(err)
			} else if id == nil {
				c.Errorf("neither an identity nor an error")
			}
			probe(c)
		}),
		check("a probe has no record and leaves no resource", ruleProbe, func(c *C) {
			st := c.plain()
			_, err := st.box.Probe(c.ctx)
			c.must(err, "probing")
			if len(st.journal.written()) > 0 || len(st.found()) > 0 {
				c.Errorf("%d records, %d resources", len(st.journal.written()), len(st.found()))
			}
		}),
		check("every absence has a reason", ruleProbe, func(c *C) {
			for _, a := range probe(c).Absent {
				if a.Feature == "" || a.Why == "" {
					c.Errorf("an absence without name or reason: %+v", a)
				}
			}
		}),
		check("an image that is not there is refused with the cure", ruleRefuseEarly, func(c *C) {
			if _, ok := c.subject.Backend.(runtime.Ensurer); !ok || c.subject.Image == "" {
				c.Gap("the backend needs no image")
			}
			l := c.launch(say("x"))
			l.Image.Ref = "sbxtest.invalid/" + word("none-") + ":1"
			_, err := c.plain().run(l)
			if f := c.failure(err); f.Charged || f.Cure == "" || errors.Is(err, runtime.ErrUncertain) {
				c.Errorf("refused without a cure, or charged: %v", err)
			}
		}, "image"),
	}
}
