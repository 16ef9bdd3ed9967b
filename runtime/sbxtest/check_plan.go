package sbxtest

import (
	"bytes"
	"context"
	"slices"
	"sync"

	"github.com/sbxkit/sbxkit/runtime"
)

func planChecks() []Check {
	return []Check{
		check("a description is complete", ruleNothingLost, describesAll),
		check("planning starts nothing", rulePure, planStartsNothing),
		check("the same launch gives the same plan", rulePure, func(c *C) {
			st := c.plain()
			a, b := st.plan(c.launch(say("x"))), st.plan(c.launch(say("x")))
			if a.Digest() != b.Digest() {
				c.Errorf("the digests are %s and %s", a.Digest(), b.Digest())
			}
		}),
		check("a plan's digest does not depend on who plans", ruleDigest, func(c *C) {
			a, b := c.plain().plan(c.launch(say("x"))), c.plain().plan(c.launch(say("x")))
			if a.Digest() != b.Digest() {
				c.Errorf("the digests are %s and %s", a.Digest(), b.Digest())
			}
		}),
		check("another command has another digest", ruleDigest, func(c *C) {
			st := c.plain()
			if st.plan(c.launch(say("x"))).Digest() == st.plan(c.launch(say("y"))).Digest() {
				c.Errorf("two commands have one digest")
			}
		}),
		check("another limit has another digest", ruleDigest, func(c *C) {
			st, l := c.plain(), c.launch(say("x"))
			m := l
			m.Limits.OpenFiles = runtime.AtMost(77)
			if st.plan(l).Digest() == st.plan(m).Digest() {
				c.Errorf("two limits have one digest")
			}
		}, "limits.open-files"),
		check("what is planned is what runs", rulePure, func(c *C) {
			st, l := c.plain(), c.launch(say("x"))
			planned := st.plan(l).Digest()
			res, err := st.run(l)
			c.must(err, "running")
			if res.Facts.PlanDigest != planned {
				c.Errorf("planned %s, ran %s", planned, res.Facts.PlanDigest)
			}
		}),
		check("a plan's JSON is stable", rulePure, func(c *C) {
			p := c.plain().plan(c.launch(say("x")))
			a, err := p.JSON()
			c.must(err, "writing the plan")
			b, err := p.JSON()
			c.must(err, "writing the plan again")
			if !bytes.Equal(a, b) {
				c.Errorf("two texts of one plan")
			}
		}),
		check("the words shown are the words run", rulePure, wordsAreShown),
		check("every word says where it comes from", rulePure, func(c *C) {
			for i, w := range c.plain().plan(c.launch(say("x"))).Words {
				if w.Spec == "" {
					c.Errorf("word %d, %q, has no origin in the spec", i, w.Text)
				}
			}
		}),
		check("a plan holds the token that finds its run", ruleTokenFirst, func(c *C) {
			p := c.plain().plan(c.launch(say("x")))
			if p.Token.Run.ID == "" || p.Token.Run != p.Request.Run || p.Token.Backend != c.subject.Backend.Describe().Name {
				c.Errorf("the token is %+v", p.Token)
			}
		}),
		check("a plan says what each step will do", ruleNineSteps, func(c *C) {
			p := c.plain().plan(c.launch(say("x")))
			if len(p.Steps) == 0 {
				c.Errorf("the plan names no step")
			}
			for _, s := range p.Steps {
				if !slices.Contains(runtime.Steps(), s.Step) || s.Does == "" {
					c.Errorf("the plan has a step %q that does %q", s.Step, s.Does)
				}
			}
		}),
		check("every required hardening is a claim", ruleAttested, func(c *C) {
			p := c.plain().plan(c.launch(say("x")))
			for _, name := range p.Request.Required {
				if !slices.ContainsFunc(p.Claims, func(k runtime.Claim) bool { return k.Name == name && k.Required }) {
					c.Errorf("%s is required, and the plan does not claim it", name)
				}
			}
		}),
		check("the environment is a claim", ruleAttested, func(c *C) {
			p := c.plain().plan(c.launch(say("x")))
			if !slices.ContainsFunc(p.Claims, func(k runtime.Claim) bool { return k.Name == "environment" }) {
				c.Errorf("the claims are %+v", p.Claims)
			}
		}),
		check("plans made at once are the same", rulePure, func(c *C) {
			st, l := c.plain(), c.launch(say("x"))
			var digests [8]string
			var running sync.WaitGroup
			for i := range digests {
				running.Go(func() {
					if p, err := st.box.Plan(c.ctx, l); err != nil {
						c.Errorf("planning: %v", err)
					} else {
						digests[i] = p.Digest()
					}
				})
			}
			running.Wait()
			for _, d := range digests[1:] {
				if d != digests[0] {
					c.Errorf("the digests are %v", digests)
				}
			}
		}),
		check("planning does not change the launch", rulePure, func(c *C) {
			l := c.launch(say("x"))
			argv := slices.Clone(l.Argv)
			c.plain().plan(l)
			if !slices.Equal(argv, l.Argv) {
				c.Errorf("the launch's words became %q", l.Argv)
			}
		}),
	}
}

// plan makes a dry run, which has to succeed.
func (st *stand) plan(l runtime.Launch) *runtime.Plan {
	p, err := st.box.Plan(st.c.ctx, l)
	st.c.must(err, "planning")
	return p
}

func describesAll(c *C) {
	b := c.subject.Backend
	d := b.Describe()
	if d != b.Describe() {
		c.Errorf("Describe gives another pointer each time")
	}
	if d.Name == "" || d.Kind == "" || d.Digest == "" || len(d.Stop) == 0 {
		c.Errorf("it does not say its name, kind, spec and stop ladder")
	}
	for _, name := range runtime.Vocabulary() {
		f, ok := d.Feature(name)
		switch {
		case !ok:
			c.Errorf("it says nothing of %s", name)
		case f.How == runtime.HowUnsupported && f.Reason == "":
			c.Errorf("%s is unsupported without a reason", name)
		case f.How == runtime.HowImplied && f.Reason == "":
			c.Errorf("%s is implied without a reason", name)
		}
	}
}

func planStartsNothing(c *C) {
	calls := 0
	st := c.stand(setting{hooks: Hooks{Prepare: func(ctx context.Context, p *runtime.Plan, next prepareNext) (runtime.Resources, error) {
		calls++
		return next(ctx, p)
	}}})
	st.plan(c.launch(say("x")))
	if calls > 0 || len(st.journal.written()) > 0 || len(st.found()) > 0 {
		c.Errorf("planning prepared %d times, wrote %d records and left %d resources", calls, len(st.journal.written()), len(st.found()))
	}
}

func wordsAreShown(c *C) {
	p := c.plain().plan(c.launch(say("x")))
	argv := p.Argv()
	if len(argv) == 0 || len(argv) != len(p.Words) {
		c.Fatalf("%d words run and %d are shown", len(argv), len(p.Words))
	}
	for i, w := range p.Words {
		if !w.Private && w.Text != argv[i] {
			c.Errorf("word %d runs as %q and is shown as %q", i, argv[i], w.Text)
		}
	}
}
