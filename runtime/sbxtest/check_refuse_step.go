package sbxtest

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/sbxkit/sbxkit/runtime"
)

// refuser makes hooks that refuse one step: before the backend does its work, or after it was done and only the answer is missing.
func refuser(step runtime.Step, after bool, err error) Hooks {
	var h Hooks
	switch step {
	case runtime.StepProbe:
		h.Probe = func(ctx context.Context, r runtime.ProbeRequest, next func(context.Context, runtime.ProbeRequest) (*runtime.Identity, error)) (*runtime.Identity, error) {
			if after {
				_, _ = next(ctx, r)
			}
			return nil, err
		}
	case runtime.StepPlan:
		h.Plan = func(in runtime.PlanInput, next func(runtime.PlanInput) (*runtime.Plan, error)) (*runtime.Plan, error) {
			if after {
				_, _ = next(in)
			}
			return nil, err
		}
	case runtime.StepPrepare:
		h.Prepare = func(ctx context.Context, p *runtime.Plan, next prepareNext) (runtime.Resources, error) {
			if after {
				_, _ = next(ctx, p)
			}
			return nil, err
		}
	case runtime.StepStage:
		h.Stage = func(ctx context.Context, s *runtime.Stage, next func(context.Context, *runtime.Stage) (string, error)) (string, error) {
			if after {
				_, _ = next(ctx, s)
			}
			return "", err
		}
	case runtime.StepStart:
		h.Start = func(ctx context.Context, r *runtime.StartRequest, next startNext) (runtime.Process, error) {
			if after {
				_, _ = next(ctx, r)
			}
			return nil, err
		}
	}
	return h
}

func stepRefusalChecks() []Check {
	var all []Check
	for _, step := range []runtime.Step{runtime.StepProbe, runtime.StepPlan, runtime.StepPrepare, runtime.StepStage, runtime.StepStart} {
		for _, kind := range []runtime.Kind{runtime.Unsupported, runtime.Denied, runtime.Setup} {
			all = append(all, check(fmt.Sprintf("%s refuses as %s", step, kind), ruleTyped, func(c *C) {
				c.refuses(step, false, kind)
			}))
		}
	}
	for _, step := range []runtime.Step{runtime.StepPrepare, runtime.StepStage, runtime.StepStart} {
		all = append(all, check(fmt.Sprintf("%s does its work and its answer is lost", step), ruleCleanup, func(c *C) {
			kind := runtime.Setup
			if step == runtime.StepStart {
				kind = runtime.Uncertain // whether the command ran is then not known
			}
			c.refuses(step, true, kind)
		}))
	}
	return append(all,
		check("an error that says no kind is Setup", ruleTyped, func(c *C) {
			cause := errors.New("a plain error")
			st := c.stand(setting{hooks: refuser(runtime.StepPrepare, false, cause)})
			_, err := st.run(c.launch(say("x")))
			if c.refused(err, runtime.Setup, runtime.StepPrepare); !errors.Is(err, cause) {
				c.Errorf("the cause is lost: %v", err)
			}
		}),
		check("a journal that cannot write refuses before anything exists", ruleRecord, func(c *C) {
			prepared := 0
			st := c.stand(setting{hooks: Hooks{Prepare: func(ctx context.Context, p *runtime.Plan, next prepareNext) (runtime.Resources, error) {
				prepared++
				return next(ctx, p)
			}}})
			st.journal.setFull(syscall.ENOSPC)
			_, err := st.run(c.launch(say("x")))
			if c.refused(err, runtime.Setup, runtime.StepPrepare); prepared > 0 || !errors.Is(err, syscall.ENOSPC) {
				c.Errorf("prepared %d times, error %v", prepared, err)
			}
		}),
		check("a journal that fills up before the start refuses it", ruleRecord, func(c *C) {
			var st *stand
			st = c.stand(setting{hooks: Hooks{Stage: func(ctx context.Context, s *runtime.Stage, next func(context.Context, *runtime.Stage) (string, error)) (string, error) {
				defer st.journal.setFull(syscall.ENOSPC)
				return next(ctx, s)
			}}})
			out := &output{}
			l := c.launch(say("ran"))
			l.Stdout = out
			res, err := st.run(l)
			if err == nil || res.Outcome != runtime.NeverRan || out.String() != "" {
				c.Errorf("outcome %s, %v, output %q", res, err, out)
			}
			st.journal.setFull(nil)
		}),
		check("a wait that fails is uncertain, and everything is removed", ruleNeverSuccess, func(c *C) {
			st := c.stand(setting{hooks: Hooks{Wait: func(context.Context, time.Duration, func(context.Context, time.Duration) (*runtime.Exit, error)) (*runtime.Exit, error) {
				return nil, errors.New("the engine died")
			}}})
			res, err := st.run(c.launch(say("x")))
			c.outcome(res, runtime.UncertainOutcome)
			if !errors.Is(err, runtime.ErrUncertain) || res.Success() || !res.Facts.Charged {
				c.Errorf("got %v, success %v", err, res.Success())
			}
		}),
		check("a removal that fails says what is left, and a reconcile settles it", ruleCleanup, removalFails),
		check("a removal that hangs does not hang the caller", ruleDetached, removalHangs),
	)
}

// refuses runs a launch whose step is refused, and checks what must hold then.
func (c *C) refuses(step runtime.Step, after bool, kind runtime.Kind) {
	st := c.stand(setting{hooks: refuser(step, after, runtime.Fail(kind, "not today"))})
	charges := 0
	l := c.launch(say("x"))
	l.Charge = func(context.Context, *runtime.Plan) error { charges++; return nil }
	res, err := st.run(l)
	if err == nil || res.Success() || res.Outcome == runtime.Exited {
		c.Fatalf("a refusal at %s came to %s, %v", step, res, err)
	}
	f := c.failure(err)
	if f.Kind != kind || f.Step != step {
		c.Errorf("refused as %s at %s: %v", f.Kind, f.Step, err)
	}
	if charged := step == runtime.StepStart; f.Charged != charged || (charges == 1) != charged {
		c.Errorf("charged %d times; the failure says %v", charges, f.Charged)
	}
	if kind == runtime.Uncertain {
		c.outcome(res, runtime.UncertainOutcome)
		return
	}
	c.outcome(res, runtime.NeverRan)
}

func removalFails(c *C) {
	broken := true
	st := c.stand(setting{hooks: Hooks{Remove: func(ctx context.Context, next removeNext) (*runtime.Teardown, error) {
		if broken {
			return nil, errors.New("the engine does not answer")
		}
		return next(ctx)
	}}})
	res, err := st.run(c.launch(exit(3)))
	if c.outcome(res, runtime.Exited); res.Code != 3 || res.Success() {
		c.Errorf("a witnessed exit 3 came out as %s", res)
	}
	f := c.failure(err)
	if f.Kind != runtime.Uncertain || f.Step != runtime.StepRemove || len(f.Left) == 0 {
		c.Fatalf("the failure is %v with %d things left", err, len(f.Left))
	}
	for _, left := range f.Left {
		if left.What == "" || left.Name == "" || left.Settle == "" {
			c.Errorf("what is left is not said with the command that settles it: %+v", left)
		}
	}
	broken = false
	c.reconciled(st, 1, func(r runtime.Reconciled) {
		if r.Outcome != runtime.Exited || r.Code != 3 {
			c.Errorf("the record says %s %d", r.Outcome, r.Code)
		}
	})
}

func removalHangs(c *C) {
	let := make(chan struct{})
	st := c.stand(setting{opts: []runtime.Option{runtime.WithRemoveTimeout(200 * time.Millisecond)}, hooks: Hooks{
		Remove: func(ctx context.Context, next removeNext) (*runtime.Teardown, error) {
			<-let
			return next(context.WithoutCancel(ctx))
		},
	}})
	_, err := st.run(c.launch(say("x")))
	close(let)
	if f := c.failure(err); f.Kind != runtime.Uncertain || len(f.Left) == 0 {
		c.Errorf("got %v", err)
	}
	c.await("the late removal", func() bool { return len(st.found()) == 0 })
	// By a driver that gives a removal its time.
	c.reconciled(c.stand(setting{journal: st.journal}), 1, nil)
}

// reconciled reconciles a stand's journal and checks that so many dead runs were settled and nothing is left.
func (c *C) reconciled(st *stand, runs int, look func(runtime.Reconciled)) *runtime.ReconcileReport {
	rep, err := st.box.Reconcile(c.ctx, runtime.ReconcileOptions{})
	c.must(err, "reconciling")
	if len(rep.Runs) != runs {
		c.Errorf("the reconcile settled %d runs, want %d: %+v", len(rep.Runs), runs, rep)
	}
	for _, r := range rep.Runs {
		if !r.Removed || r.Failure != nil {
			c.Errorf("not removed: %+v: %v", r, r.Failure)
		}
		if look != nil {
			look(r)
		}
	}
	return rep
}
