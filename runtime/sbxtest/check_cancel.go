package sbxtest

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"github.com/sbxkit/sbxkit/runtime"
)

func cancelChecks() []Check {
	return []Check{
		check("a context that ends stops the run as canceled", ruleOutcome, func(c *C) {
			st := c.plain()
			ctx, cancel := context.WithCancel(c.ctx)
			defer cancel()
			l := c.launch(say("up"), act(DoHang))
			l.Stdout = writerFunc(func(p []byte) (int, error) { cancel(); return len(p), nil })
			res, err := st.box.Run(ctx, l)
			if res == nil {
				c.Fatalf("no result but %v", err)
			}
			if c.outcome(res, runtime.Canceled); res.Evidence.Cause == "" || res.ExitCode() != 130 {
				c.Errorf("cause %q, exit code %d", res.Evidence.Cause, res.ExitCode())
			}
		}),
		check("a context that has ended launches nothing", ruleRefuseEarly, func(c *C) {
			st := c.plain()
			ctx, cancel := context.WithCancel(c.ctx)
			cancel()
			out := &output{}
			l := c.launch(say("ran"))
			l.Stdout = out
			res, err := st.box.Run(ctx, l)
			if err == nil || res.Success() || out.String() != "" || res.Facts.Charged {
				c.Errorf("came to %s, %v; output %q, charged %v", res, err, out, res.Facts.Charged)
			}
			c.failure(err)
		}),
		check("a context that ends at the charge starts nothing", ruleDetached, func(c *C) {
			st := c.plain()
			ctx, cancel := context.WithCancel(c.ctx)
			defer cancel()
			out := &output{}
			l := c.launch(say("ran"), act(DoHang))
			l.Stdout = out
			l.Charge = func(context.Context, *runtime.Plan) error { cancel(); return nil }
			res, err := st.box.Run(ctx, l)
			if c.outcome(res, runtime.Canceled); err == nil || out.String() != "" {
				c.Errorf("came to %v; output %q", err, out)
			}
		}),
		check("the launch's context does not bound the run", ruleWaitCtx, func(c *C) {
			st := c.plain()
			ctx, cancel := context.WithCancel(c.ctx)
			l := c.launch(say("up"), act(DoCat), say("done"))
			out := &output{}
			l.Stdin.Mode, l.Stdout, l.Ready = runtime.StdinPipe, out, &runtime.Ready{Line: "up"}
			r, err := st.box.Launch(ctx, l)
			c.must(err, "launching")
			st.runs = append(st.runs, r)
			cancel()
			c.write(r, "x\n")
			c.must(r.CloseWrite(), "half-closing")
			if res, err := st.wait(r); err != nil || !res.Success() || out.String() != "up\nx\ndone\n" {
				c.Errorf("came to %s, %v; output %q", res, err, out)
			}
		}, "stdin.pipe", "ready.line"),
		check("the context of a wait bounds the waiting alone", ruleWaitCtx, func(c *C) {
			st := c.plain()
			r := st.up(nil, act(DoHang))
			ctx, cancel := context.WithTimeout(c.ctx, 50*time.Millisecond)
			defer cancel()
			if res, err := r.Wait(ctx); res != nil || !errors.Is(err, context.DeadlineExceeded) {
				c.Errorf("got %v, %v", res, err)
			}
			select {
			case <-r.Done():
				c.Errorf("the run ended with the wait")
			default:
			}
			st.end(r)
		}, "ready.line"),
		check("a stop whose context ends goes on", ruleDetached, func(c *C) {
			st := c.plain()
			l := c.launch(ignore(syscall.SIGTERM), say("up"), act(DoHang))
			l.Ready, l.Timeouts.Grace = &runtime.Ready{Line: "up"}, 500*time.Millisecond
			r := st.start(l)
			ctx, cancel := context.WithTimeout(c.ctx, 50*time.Millisecond)
			defer cancel()
			if _, err := r.Stop(ctx); !errors.Is(err, context.DeadlineExceeded) {
				c.Errorf("Stop gave %v", err)
			}
			res, err := st.wait(r)
			if c.outcome(res, runtime.Canceled); err != nil {
				c.Errorf("waiting: %v", err)
			}
		}, "ready.line", "timeouts.grace"),
		check("a kill overtakes a stop", ruleLadder, func(c *C) {
			st := c.plain()
			l := c.launch(ignore(syscall.SIGTERM), say("up"), act(DoHang))
			l.Ready, l.Timeouts.Grace = &runtime.Ready{Line: "up"}, 10*time.Minute
			r := st.start(l)
			ctx, cancel := context.WithTimeout(c.ctx, 50*time.Millisecond)
			defer cancel()
			_, _ = r.Stop(ctx)
			began := time.Now()
			c.must(r.Kill(c.ctx), "killing")
			if d := time.Since(began); d > time.Minute {
				c.Errorf("the kill took %v", d)
			}
		}, "ready.line", "timeouts.grace"),
		check("a kill ends a command that ignores everything it can", ruleLadder, func(c *C) {
			st := c.plain()
			l := c.launch(ignore(syscall.SIGTERM), ignore(syscall.SIGINT), ignore(syscall.SIGHUP), say("up"), act(DoHang))
			l.Ready = &runtime.Ready{Line: "up"}
			r := st.start(l)
			c.must(r.Kill(c.ctx), "killing")
			res, _ := st.wait(r)
			c.outcome(res, runtime.Canceled)
		}, "ready.line"),
		check("a kill ends what the command left behind", ruleLadder, func(c *C) {
			st := c.plain()
			r := st.up(nil, leaveBehind(time.Hour), act(DoHang))
			c.must(r.Kill(c.ctx), "killing")
			if res, err := st.wait(r); err != nil {
				c.Errorf("came to %s, %v", res, err)
			}
		}, "ready.line"),
		check("a signal reaches the command", ruleLadder, func(c *C) {
			st := c.plain()
			out := &output{}
			l := c.launch(onTerm("got it", 9), say("up"), act(DoHang))
			l.Stdout, l.Ready = out, &runtime.Ready{Line: "up"}
			r := st.start(l)
			c.must(r.Signal(c.ctx, syscall.SIGTERM), "signalling")
			res, err := st.wait(r)
			if c.outcome(res, runtime.Exited); err != nil || res.Code != 9 || out.String() != "up\ngot it\n" {
				c.Errorf("came to %s, %v; output %q", res, err, out)
			}
		}, "ready.line"),
		check("a signal to a command that has ended says so", ruleTenTimes, func(c *C) {
			st := c.plain()
			r := st.start(c.launch(say("x")))
			_, _ = st.wait(r)
			for range 10 {
				if err := r.Signal(c.ctx, syscall.SIGTERM); !errors.Is(err, os.ErrProcessDone) {
					c.Errorf("got %v", err)
				}
			}
		}),
		check("a run that stops by itself while it is stopped is not lost", ruleOutcome, func(c *C) {
			st := c.plain()
			r := st.start(c.launch(exit(4)))
			res, err := r.Stop(c.ctx)
			if res == nil || err != nil || (res.Outcome != runtime.Exited && res.Outcome != runtime.Canceled) {
				c.Errorf("got %v, %v", res, err)
			}
		}),
	}
}

// writerFunc is a sink made of a function.
type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
