package sbxtest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/sbxkit/sbxkit/runtime"
)

// rungs are the names of the rungs of the ladder that were used.
func rungs(r *runtime.Result) string {
	var names []string
	for _, g := range r.Evidence.Ladder {
		names = append(names, g.Name)
	}
	return strings.Join(names, " ")
}

func timeoutChecks() []Check {
	timed := func(c *C, res *runtime.Result, which string) {
		c.outcome(res, runtime.TimedOut)
		if res.Timeout != which || res.Evidence.Cause == "" || res.Success() || res.ExitCode() != 124 {
			c.Errorf("timeout %q because %q, success %v, exit code %d", res.Timeout, res.Evidence.Cause, res.Success(), res.ExitCode())
		}
	}
	return []Check{
		check("a run longer than its wall time is ended as that", ruleTimeouts, func(c *C) {
			l := c.launch(act(DoHang))
			l.Timeouts.Wall = 500 * time.Millisecond
			res, _ := c.plain().run(l)
			timed(c, res, runtime.TimeoutWall)
			if !strings.HasPrefix(rungs(res), "TERM") {
				c.Errorf("the ladder was %q", rungs(res))
			}
		}, "timeouts.wall"),
		check("a run within its wall time is not ended", ruleTimeouts, func(c *C) {
			l := c.launch(wait(100*time.Millisecond), say("x"))
			l.Timeouts.Wall = 30 * time.Second
			if got := c.plain().ok(l); got != "x\n" {
				c.Errorf("it wrote %q", got)
			}
		}, "timeouts.wall"),
		check("a run that goes quiet is ended as that", ruleTimeouts, func(c *C) {
			l := c.launch(say("x"), act(DoHang))
			l.Timeouts.Idle = 500 * time.Millisecond
			res, _ := c.plain().run(l)
			timed(c, res, runtime.TimeoutIdle)
		}, "timeouts.idle"),
		check("output keeps a run from being idle", ruleTimeouts, func(c *C) {
			var p Program
			for range 8 {
				p = append(p, say("x"), wait(400*time.Millisecond))
			}
			l := c.launch(p...)
			l.Timeouts.Idle = 2 * time.Second
			c.plain().ok(l)
		}, "timeouts.idle"),
		check("a command that does not get ready is timed out", ruleReady, func(c *C) {
			l := c.launch(say("something else"), act(DoHang))
			l.Ready, l.Timeouts.Start = &runtime.Ready{Line: "never said"}, 8*time.Second
			if c.subject.Backend.Describe().Kind == "process" {
				l.Timeouts.Start = time.Second
			}
			res, err := c.plain().run(l)
			timed(c, res, runtime.TimeoutStart)
			if err == nil {
				c.Errorf("not ready is no failure")
			}
		}, "ready.line", "timeouts.start"),
		check("a command that ends before it is ready is a failure", ruleReady, func(c *C) {
			l := c.launch(say("something else"))
			l.Ready = &runtime.Ready{Line: "never said"}
			res, err := c.plain().run(l)
			if err == nil || res.Success() {
				c.Errorf("came to %s, %v", res, err)
			}
		}, "ready.line"),
		check("a line makes a command ready", ruleReady, func(c *C) {
			st := c.plain()
			st.end(st.up(nil, act(DoHang)))
		}, "ready.line"),
		check("a line on stderr makes a command ready too", ruleReady, func(c *C) {
			st := c.plain()
			l := c.launch(sayErr("up"), act(DoHang))
			l.Ready = &runtime.Ready{Line: "up"}
			st.end(st.start(l))
		}, "ready.line"),
		check("a command inside that exits 0 makes a run ready", ruleReady, func(c *C) {
			st := c.plain()
			l := c.launch(act(DoHang))
			l.Ready = &runtime.Ready{Exec: c.argv(exit(0))}
			st.end(st.start(l))
		}, "ready.exec"),
		check("a start that hangs is timed out, and what comes late is removed", ruleDetached, func(c *C) {
			st := c.stand(setting{hooks: Hooks{Prepare: func(ctx context.Context, p *runtime.Plan, next prepareNext) (runtime.Resources, error) {
				<-ctx.Done()
				return nil, runtime.Fail(runtime.Setup, "the engine did not answer: %w", context.Cause(ctx))
			}}})
			l := c.launch(say("x"))
			l.Timeouts.Start = 300 * time.Millisecond
			res, err := st.run(l)
			timed(c, res, runtime.TimeoutStart)
			if !errors.Is(err, context.DeadlineExceeded) {
				c.Errorf("the error is %v", err)
			}
		}, "timeouts.start"),
		check("a command that stops on TERM needs no other rung", ruleLadder, func(c *C) {
			out := &output{}
			st := c.plain()
			l := c.launch(onTerm("bye", 7), say("up"), act(DoHang))
			l.Stdout, l.Ready = out, &runtime.Ready{Line: "up"}
			r := st.start(l)
			res, err := r.Stop(c.ctx)
			if err != nil || rungs(res) != "TERM" || !strings.Contains(out.String(), "bye") {
				c.Errorf("came to %s, %v by %q, output %q", res, err, rungs(res), out)
			}
			c.outcome(res, runtime.Canceled)
		}, "ready.line"),
		check("a command that ignores TERM is killed after its grace", ruleLadder, func(c *C) {
			st := c.plain()
			l := c.launch(ignore(syscall.SIGTERM), say("up"), act(DoHang))
			l.Ready, l.Timeouts.Grace = &runtime.Ready{Line: "up"}, 300*time.Millisecond
			r := st.start(l)
			began := time.Now()
			res, err := r.Stop(c.ctx)
			if c.outcome(res, runtime.Canceled); err != nil || rungs(res) != "TERM kill" && rungs(res) != "TERM kill sweep" {
				c.Errorf("came to %s, %v by %q", res, err, rungs(res))
			}
			if d := time.Since(began); d < 300*time.Millisecond {
				c.Errorf("it was killed after %v, before its grace was over", d)
			}
		}, "ready.line", "timeouts.grace"),
		check("every rung says when it began and by when it ends", ruleLadder, func(c *C) {
			l := c.launch(act(DoHang))
			l.Timeouts.Wall = 300 * time.Millisecond
			res, _ := c.plain().run(l)
			for _, g := range res.Evidence.Ladder {
				if g.Name == "" || g.Deadline <= 0 || g.At < 300*time.Millisecond {
					c.Errorf("rung %+v", g)
				}
			}
			if len(res.Evidence.Ladder) == 0 {
				c.Errorf("no rung is told")
			}
		}, "timeouts.wall"),
		check("a signal call that hangs does not keep the kill back", ruleLadder, func(c *C) {
			st := c.stand(setting{hooks: Hooks{Signal: func(ctx context.Context, _ syscall.Signal, _ func(context.Context, syscall.Signal) error) error {
				<-ctx.Done()
				return context.Cause(ctx)
			}}})
			l := c.launch(act(DoHang))
			l.Timeouts.Wall, l.Timeouts.Grace = 300*time.Millisecond, 300*time.Millisecond
			res, _ := st.run(l)
			timed(c, res, runtime.TimeoutWall)
			if !strings.Contains(rungs(res), "kill") {
				c.Errorf("the ladder was %q", rungs(res))
			}
		}, "timeouts.wall"),
		check("a liveness hook that says no ends the run as idle", ruleLiveness, func(c *C) {
			l := c.launch(act(DoHang))
			l.Timeouts.Liveness = 100 * time.Millisecond
			l.Liveness = runtime.LivenessFunc(func(context.Context, runtime.LivenessView) error { return errors.New("no pulse") })
			res, _ := c.plain().run(l)
			timed(c, res, runtime.TimeoutIdle)
			if !strings.Contains(res.Evidence.Cause, "no pulse") {
				c.Errorf("the cause is %q", res.Evidence.Cause)
			}
		}, "liveness.hook"),
		check("a liveness hook sees the run and no way to its stdin", ruleLiveness, livenessSees, "liveness.hook", "stdin.pipe"),
		check("a heartbeat that stops ends the run as idle", ruleHeartbeat, func(c *C) {
			l := c.launch(act(DoHang))
			l.Heartbeat = 500 * time.Millisecond
			res, _ := c.plain().run(l)
			timed(c, res, runtime.TimeoutIdle)
		}, "liveness.heartbeat"),
		check("a limit above what the policy has for the wall is refused", ruleTimeouts, func(c *C) {
			p := c.subject.Backend.Describe().Policy.Timeouts.Wall
			if p == 0 {
				c.Gap("the policy bounds no wall time")
			}
			l := c.launch(say("x"))
			l.Timeouts.Wall = p + time.Second
			_, err := c.plain().run(l)
			c.refused(err, runtime.Denied, runtime.StepPlan)
		}),
	}
}

// livenessSees asks about a duplex run often, and checks that its bytes come through untouched.
func livenessSees(c *C) {
	st := c.plain()
	var asked atomic.Int64
	out := &output{}
	l := c.launch(act(DoReply))
	l.Stdin.Mode, l.Stdout, l.Timeouts.Liveness = runtime.StdinPipe, out, 20*time.Millisecond
	l.Liveness = runtime.LivenessFunc(func(_ context.Context, v runtime.LivenessView) error {
		asked.Add(1)
		if v.RunID == "" || v.Started.IsZero() {
			return fmt.Errorf("the view is %+v", v)
		}
		return nil
	})
	r := st.start(l)
	var want strings.Builder
	for i := range 5 {
		before := asked.Load()
		c.await("the hook", func() bool { return asked.Load() > before })
		c.write(r, fmt.Sprintf("%d\n", i))
		fmt.Fprintf(&want, "re:%d\n", i)
	}
	c.must(r.CloseWrite(), "half-closing")
	res, err := st.wait(r)
	if err != nil || !res.Success() || out.String() != want.String() {
		c.Errorf("came to %s, %v; output %q", res, err, out)
	}
}
