package sbxtest

import (
	"context"
	"errors"
	"strings"

	"github.com/sbxkit/sbxkit/runtime"
)

// bait is an unsandboxed backend that runs nothing: it counts how often a launch came to it.
type bait struct {
	d        *runtime.Description
	prepared int
}

func newBait() *bait {
	d := &runtime.Description{Name: "sbxtest-bait", Kind: "script", Unsandboxed: true, Stop: []runtime.StopRung{{}}}
	for _, n := range runtime.Vocabulary() {
		d.Features = append(d.Features, runtime.Feature{Name: n, How: runtime.HowBy, By: "script"})
	}
	return &bait{d: d}
}

// errBait is what the bait refuses to prepare with.
var errBait = errors.New("the launch came to the unsandboxed backend")

func (b *bait) Describe() *runtime.Description { return b.d }

func (b *bait) Probe(context.Context, runtime.ProbeRequest) (*runtime.Identity, error) {
	return &runtime.Identity{Backend: b.d.Name, Kind: b.d.Kind, Unsandboxed: true}, nil
}

func (b *bait) Plan(in runtime.PlanInput) (*runtime.Plan, error) {
	return runtime.NewPlan(b.d.Name, in.Request, in.Request.Command, nil), nil
}

func (b *bait) Prepare(context.Context, *runtime.Plan) (runtime.Resources, error) {
	b.prepared++
	return nil, errBait
}

func (b *bait) Reopen(context.Context, runtime.Token) (runtime.Resources, error) {
	return baitResources{}, nil
}

// baitResources are nothing, and removed as such.
type baitResources struct{ runtime.Resources }

func (baitResources) Remove(context.Context) (*runtime.Teardown, error) {
	return &runtime.Teardown{How: "nothing", Confirmed: true}, nil
}

func modeChecks() []Check {
	// in runs a launch in a mode, with a bait, on a backend whose step is refused.
	//lint:ignore ST1008 the three read in the order they come about
	in := func(c *C, m runtime.Mode, step runtime.Step, kind runtime.Kind) (*runtime.Result, error, *bait) {
		if c.subject.Backend.Describe().Unsandboxed {
			c.Gap("the backend isolates nothing: there is no sandbox to do without")
		}
		b := newBait()
		st := c.stand(setting{
			hooks: refuser(step, false, runtime.Fail(kind, "not today")),
			opts:  []runtime.Option{runtime.WithMode(m), runtime.WithUnsandboxed(b)},
		})
		l := c.launch(say("x"))
		l.Image = runtime.Image{}
		if step != runtime.StepProbe {
			l.Image.Ref = c.subject.Image
		}
		res, err := st.run(l)
		return res, err, b
	}
	all := []Check{
		check("required refuses where the sandbox cannot be had", ruleModes, func(c *C) {
			_, err, b := in(c, runtime.Required, runtime.StepProbe, runtime.Unsupported)
			if c.refused(err, runtime.Unsupported, runtime.StepProbe); b.prepared > 0 {
				c.Errorf("it ran without a sandbox")
			}
		}),
		check("preferred goes without a sandbox where the probe says unsupported, and the facts say so", ruleModes, func(c *C) {
			res, err, b := in(c, runtime.Preferred, runtime.StepProbe, runtime.Unsupported)
			if b.prepared != 1 || !errors.Is(err, errBait) {
				c.Errorf("prepared %d times, %v", b.prepared, err)
			}
			if !res.Facts.Unsandboxed || !strings.Contains(res.Facts.UnsandboxedReason, "preferred") || !res.Facts.Identity.Unsandboxed {
				c.Errorf("the facts say unsandboxed %v because %q", res.Facts.Unsandboxed, res.Facts.UnsandboxedReason)
			}
		}),
		check("preferred refuses where the probe fails otherwise", ruleModes, func(c *C) {
			_, err, b := in(c, runtime.Preferred, runtime.StepProbe, runtime.Setup)
			if c.refused(err, runtime.Setup, runtime.StepProbe); b.prepared > 0 {
				c.Errorf("it ran without a sandbox")
			}
		}),
		check("preferred uses the sandbox where there is one", ruleModes, func(c *C) {
			if c.subject.Backend.Describe().Unsandboxed {
				c.Gap("the backend isolates nothing: there is no sandbox to do without")
			}
			b := newBait()
			res, err := c.stand(setting{opts: []runtime.Option{runtime.WithMode(runtime.Preferred), runtime.WithUnsandboxed(b)}}).run(c.launch(say("x")))
			if err != nil || res.Facts.Unsandboxed || b.prepared > 0 {
				c.Errorf("came to %s, %v, unsandboxed %v", res, err, res.Facts.Unsandboxed)
			}
		}),
		check("preferred without an unsandboxed backend refuses", ruleModes, func(c *C) {
			if c.subject.Backend.Describe().Unsandboxed {
				c.Gap("the backend isolates nothing: there is no sandbox to do without")
			}
			st := c.stand(setting{hooks: refuser(runtime.StepProbe, false, runtime.Fail(runtime.Unsupported, "not here")), opts: []runtime.Option{runtime.WithMode(runtime.Preferred)}})
			_, err := st.run(c.launch(say("x")))
			c.refused(err, runtime.Unsupported, runtime.StepProbe)
		}),
		check("a backend that sandboxes is not taken for one that does not", ruleModes, func(c *C) {
			b := c.subject.Backend
			if b.Describe().Unsandboxed {
				if _, err := runtime.New(b); !errors.Is(err, runtime.ErrDenied) {
					c.Errorf("a backend that isolates nothing is taken for a sandbox: %v", err)
				}
				return
			}
			if _, err := runtime.New(b, runtime.WithUnsandboxed(b)); !errors.Is(err, runtime.ErrDenied) {
				c.Errorf("got %v", err)
			}
		}),
		check("disabled without an unsandboxed backend refuses", ruleModes, func(c *C) {
			if _, err := runtime.New(c.subject.Backend, runtime.WithMode(runtime.Disabled)); !errors.Is(err, runtime.ErrDenied) {
				c.Errorf("got %v", err)
			}
		}),
		check("a mode that is none is refused", ruleModes, func(c *C) {
			if _, err := runtime.New(c.subject.Backend, runtime.WithMode("off")); !errors.Is(err, runtime.ErrDenied) {
				c.Errorf("got %v", err)
			}
		}),
	}
	for _, step := range []runtime.Step{runtime.StepPlan, runtime.StepPrepare, runtime.StepStage, runtime.StepStart} {
		all = append(all, check("unsupported at "+string(step)+" never reaches the unsandboxed backend", ruleNoFallback, func(c *C) {
			_, err, b := in(c, runtime.Preferred, step, runtime.Unsupported)
			if err == nil || b.prepared > 0 {
				c.Errorf("prepared without a sandbox %d times, %v", b.prepared, err)
			}
		}))
	}
	return all
}
