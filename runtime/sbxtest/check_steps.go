package sbxtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sbxkit/sbxkit/runtime"
)

// walked are the steps a launch comes by, in order.
var walked = []runtime.Step{runtime.StepProbe, runtime.StepPlan, runtime.StepPrepare, runtime.StepStage, runtime.StepCharge, runtime.StepStart,
	runtime.StepCapture, runtime.StepExport, runtime.StepImport, runtime.StepRemove}

func stepChecks() []Check {
	return []Check{
		check("a launch comes by every step, in order", ruleNineSteps, func(c *C) {
			st := c.plain()
			st.ok(c.launch(say("x")))
			var begun, ended []runtime.Step
			for _, e := range st.events.all() {
				switch {
				case e.Result != nil:
				case e.State == "":
					begun = append(begun, e.Step)
				default:
					ended = append(ended, e.Step)
				}
			}
			if !slices.Equal(begun, walked) || !slices.Equal(ended, walked) {
				c.Errorf("begun %v, ended %v", begun, ended)
			}
		}),
		check("the facts tell every step", ruleNineSteps, func(c *C) {
			res, err := c.plain().run(c.launch(say("x")))
			c.must(err, "running")
			var told []runtime.Step
			for _, s := range res.Facts.Steps {
				told = append(told, s.Step)
				if s.State == "" || (s.State == runtime.StateNothing && s.Note == "") {
					c.Errorf("step %s came to %q, because %q", s.Step, s.State, s.Note)
				}
			}
			if !slices.Equal(told, walked) {
				c.Errorf("the facts tell %v", told)
			}
		}),
		check("the result is the last event", ruleNineSteps, func(c *C) {
			st := c.plain()
			st.ok(c.launch(say("x")))
			all := st.events.all()
			for i, e := range all {
				if (e.Result != nil) != (i == len(all)-1) {
					c.Errorf("event %d of %d has result %v", i, len(all), e.Result)
				}
			}
		}),
		check("the record and its token come before the resource", ruleTokenFirst, func(c *C) {
			var st *stand
			early := ""
			st = c.stand(setting{hooks: Hooks{Prepare: func(ctx context.Context, p *runtime.Plan, next prepareNext) (runtime.Resources, error) {
				all := st.journal.written()
				if len(all) == 0 || all[len(all)-1].Token.Run.ID != p.Request.Run.ID || all[len(all)-1].Token.Name != p.Token.Name {
					early = fmt.Sprintf("prepare begins with the records %+v", all)
				}
				return next(ctx, p)
			}}})
			st.ok(c.launch(say("x")))
			if early != "" {
				c.Errorf("%s", early)
			}
		}),
		check("prepare starts nothing of the command", ruleNineSteps, func(c *C) {
			out := &output{}
			l := c.launch(say("ran"))
			l.Stdout = out
			l.Charge = func(context.Context, *runtime.Plan) error { return errors.New("not today") }
			_, err := c.plain().run(l)
			c.refused(err, runtime.Denied, runtime.StepCharge)
			if out.String() != "" {
				c.Errorf("the command wrote %q before it was charged", out)
			}
		}),
		check("the charge is called once, between stage and start", ruleCharge, func(c *C) {
			st := c.plain()
			var at []string
			l := c.launch(say("x"))
			l.Charge = func(_ context.Context, p *runtime.Plan) error {
				at = append(at, st.events.steps())
				if p == nil || p.Request == nil {
					c.Errorf("the charge got no plan")
				}
				return nil
			}
			res, err := st.run(l)
			c.must(err, "running")
			if len(at) != 1 || !strings.Contains(at[0], string(runtime.StepStage)) || strings.Contains(at[0], string(runtime.StepStart)+":") || !res.Facts.Charged {
				c.Errorf("charged at %q; the facts say %v", at, res.Facts.Charged)
			}
		}),
		check("a charge that refuses leaves nothing", ruleCharge, func(c *C) {
			cause := errors.New("no budget")
			l := c.launch(say("x"))
			l.Charge = func(context.Context, *runtime.Plan) error { return cause }
			res, err := c.plain().run(l)
			if c.refused(err, runtime.Denied, runtime.StepCharge); !errors.Is(err, cause) || res.Facts.Charged || res.Outcome != runtime.NeverRan {
				c.Errorf("got %v, charged %v, outcome %s", err, res.Facts.Charged, res.Outcome)
			}
		}),
		check("a charge that panics leaves nothing", ruleRemove, func(c *C) {
			st := c.plain()
			l := c.launch(say("x"))
			l.Charge = func(context.Context, *runtime.Plan) error { panic("charge") }
			panicked := func() (v any) {
				defer func() { v = recover() }()
				_, _ = st.box.Run(c.ctx, l)
				return nil
			}()
			if panicked != "charge" {
				c.Errorf("the caller's panic came out as %v", panicked)
			}
		}),
		check("a script runs, and its text is in no argv", ruleScript, func(c *C) {
			marker := word("marker-")
			argv := c.argv(say(marker))
			if c.subject.Modelled != "" || len(argv) != 3 {
				c.Gap("the backend's commands are no scripts of a shell")
			}
			l := c.launch()
			l.Argv, l.Script = nil, &runtime.Script{Interpreter: argv[:1], Text: []byte("echo \"$1\"\n" + argv[2]), Args: []string{"one"}}
			st := c.plain()
			for _, w := range st.plan(l).Argv() {
				if strings.Contains(w, marker) {
					c.Errorf("the script's text is in the argv: %q", w)
				}
			}
			if got := st.ok(l); got != "one\n"+marker+"\n" {
				c.Errorf("the script wrote %q", got)
			}
		}, "script"),
		check("a run goes on though nobody waits", ruleNineSteps, func(c *C) {
			st := c.plain()
			r := st.start(c.launch(say("x")))
			select {
			case <-r.Done():
			case <-c.ctx.Done():
				c.Fatalf("the run did not end by itself")
			}
			if n := st.journal.kept(); n > 0 {
				c.Errorf("the run is done and %d records are left", n)
			}
		}),
		check("a launch can be launched again", ruleNineSteps, func(c *C) {
			st, l := c.plain(), c.launch(say("again"))
			for range 2 {
				if got := st.ok(l); got != "again\n" {
					c.Errorf("it wrote %q", got)
				}
			}
		}),
		check("two runs have two names", ruleTokenFirst, func(c *C) {
			st, l := c.plain(), c.launch(say("x"))
			a, err := st.run(l)
			c.must(err, "running")
			b, err := st.run(l)
			c.must(err, "running")
			if a.Facts.RunID == b.Facts.RunID || len(a.Facts.RunID) < 20 {
				c.Errorf("the runs are %q and %q", a.Facts.RunID, b.Facts.RunID)
			}
		}),
		check("a removal says how it was confirmed", ruleRemove, func(c *C) {
			res, err := c.plain().run(c.launch(say("x")))
			c.must(err, "running")
			if t := res.Facts.Teardown; t == nil || !t.Confirmed || t.How == "" || t.Evidence == "" || len(t.Left) > 0 {
				c.Errorf("the teardown is %+v", t)
			}
		}),
		check("a closed driver refuses", ruleTyped, func(c *C) {
			st := c.plain()
			c.must(st.box.Close(), "closing")
			_, err := st.run(c.launch(say("x")))
			if !errors.Is(err, runtime.ErrDenied) {
				c.Errorf("got %v", err)
			}
		}),
		check("closing waits for the runs", ruleRemove, func(c *C) {
			st := c.plain()
			r := st.up(nil)
			c.must(st.box.Close(), "closing")
			select {
			case <-r.Done():
			default:
				c.Errorf("Close returned and the run is not done")
			}
		}),
	}
}
