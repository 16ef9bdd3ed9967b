package sbxtest

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/sbxkit/sbxkit/runtime"
)

// manual walks a plan by hand, without a driver: what the contract says of each call holds whoever makes it.
type manual struct {
	c     *C
	st    *stand
	plan  *runtime.Plan
	entry runtime.JournalEntry
	res   runtime.Resources
	proc  runtime.Process
}

// prepared plans and prepares a launch of p.
func (c *C) prepared(p ...Act) *manual {
	st := c.plain()
	m := &manual{c: c, st: st, plan: st.plan(c.launch(p...))}
	var err error
	m.entry, err = st.journal.Create(c.ctx, runtime.Record{Version: runtime.RecordVersion, Run: m.plan.Request.Run, Backend: m.plan.Backend, Step: runtime.StepPrepare, Token: m.plan.Token})
	c.must(err, "making a record")
	m.res, err = st.backend.Prepare(c.ctx, m.plan)
	c.must(err, "preparing")
	c.cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if _, err := m.res.Remove(ctx); err != nil {
			c.Errorf("the last removal: %v", err)
		}
	})
	return m
}

func (m *manual) stage() *manual {
	_, err := m.res.Stage(m.c.ctx, &runtime.Stage{})
	m.c.must(err, "staging")
	return m
}

func (m *manual) start(out io.Writer) error {
	var err error
	m.proc, err = m.res.Start(m.c.ctx, &runtime.StartRequest{
		Stdin: runtime.StdinNone, Stdout: runtime.Output{Writer: out}, Stderr: runtime.Output{Writer: io.Discard},
		Record: func(runtime.Token) error { return nil }, Started: func() {},
	})
	return err
}

// running starts a program that hangs and waits until it does.
func (m *manual) running() *manual {
	out := &output{}
	m.c.must(m.stage().start(out), "starting")
	m.c.await("the command", func() bool { return out.String() == "up\n" })
	return m
}

// removedTen removes ten times: after the first one nothing is there.
func (m *manual) removedTen() {
	for i := range 10 {
		t, err := m.res.Remove(m.c.ctx)
		if err != nil || t == nil || !t.Confirmed || len(t.Left) > 0 {
			m.c.Errorf("removal %d gave %+v, %v", i+1, t, err)
		}
	}
	m.done()
}

func (m *manual) killedTen() {
	for i := range 10 {
		if err := m.res.Kill(m.c.ctx); err != nil {
			m.c.Errorf("kill %d: %v", i+1, err)
		}
	}
}

// ended waits for the process, whose run was killed or removed.
func (m *manual) ended() {
	if m.proc != nil {
		if x, err := m.proc.Wait(m.c.ctx, time.Second); err == nil && x.Ran && x.Signal == 0 && x.Code == 0 {
			m.c.Errorf("a command that was killed is said to have exited 0")
		}
	}
}

// done drops the record, so that nothing is left.
func (m *manual) done() { m.c.must(m.entry.Remove(), "removing the record") }

func idempotenceChecks() []Check {
	hang := Program{say("up"), act(DoHang)}
	states := []struct {
		name string
		make func(*C) *manual
	}{
		{"prepared", func(c *C) *manual { return c.prepared(hang...) }},
		{"staged", func(c *C) *manual { return c.prepared(hang...).stage() }},
		{"running", func(c *C) *manual { return c.prepared(hang...).running() }},
		{"ended", func(c *C) *manual {
			m := c.prepared(exit(3)).stage()
			c.must(m.start(io.Discard), "starting")
			x, err := m.proc.Wait(c.ctx, time.Second)
			if err != nil || !x.Ran || x.Code != 3 {
				c.Errorf("the wait gave %+v, %v", x, err)
			}
			m.proc = nil
			return m
		}},
		{"whose start failed", func(c *C) *manual {
			m := c.prepared(hang...).stage()
			ctx, cancel := context.WithCancel(c.ctx)
			cancel()
			p, err := m.res.Start(ctx, &runtime.StartRequest{
				Stdin: runtime.StdinNone, Stdout: runtime.Output{Writer: io.Discard}, Stderr: runtime.Output{Writer: io.Discard},
				Record: func(runtime.Token) error { return nil }, Started: func() {},
			})
			if err == nil {
				c.Errorf("a start whose context has ended started %+v", p.Identity())
			}
			return m
		}},
		{"whose record could not be written at the start", func(c *C) *manual {
			m := c.prepared(hang...).stage()
			p, err := m.res.Start(c.ctx, &runtime.StartRequest{
				Stdin: runtime.StdinNone, Stdout: runtime.Output{Writer: io.Discard}, Stderr: runtime.Output{Writer: io.Discard},
				Record: func(runtime.Token) error { return fmt.Errorf("the disk is full") }, Started: func() {},
			})
			if err == nil {
				// A container is named before it exists; its start records nothing new.
				m.proc = p
			}
			return m
		}},
		{"reopened while it runs", func(c *C) *manual {
			m := c.prepared(hang...).running()
			res, err := m.st.backend.Reopen(c.ctx, m.res.Token())
			c.must(err, "reopening")
			m.res = res
			return m
		}},
		{"reopened and gone", func(c *C) *manual {
			m := c.prepared(hang...)
			_, err := m.res.Remove(c.ctx)
			c.must(err, "removing")
			res, err := m.st.backend.Reopen(c.ctx, m.plan.Token)
			c.must(err, "reopening")
			m.res = res
			return m
		}},
	}
	var all []Check
	for _, s := range states {
		all = append(all,
			check("removing a run that is "+s.name+" ten times", ruleTenTimes, func(c *C) {
				m := s.make(c)
				m.removedTen()
				m.ended()
			}),
			check("killing a run that is "+s.name+" ten times", ruleTenTimes, func(c *C) {
				m := s.make(c)
				m.killedTen()
				m.ended()
				m.removedTen()
			}),
		)
	}
	return append(all,
		check("a removal beside others is safe", ruleTenTimes, func(c *C) {
			m := c.prepared(hang...).running()
			var running sync.WaitGroup
			for range 6 {
				running.Go(func() {
					if t, err := m.res.Remove(c.ctx); err != nil || !t.Confirmed {
						c.Errorf("a removal gave %+v, %v", t, err)
					}
				})
			}
			running.Wait()
			m.ended()
			m.done()
		}),
		check("stopping, killing and reaping a run ten times", ruleTenTimes, func(c *C) {
			st := c.plain()
			r := st.up(nil, act(DoHang))
			first, _ := r.Stop(c.ctx)
			for range 10 {
				if res, err := r.Stop(c.ctx); err != nil || res != first {
					c.Errorf("a later stop gave %v, %v", res, err)
				}
				c.must(r.Kill(c.ctx), "killing")
				c.must(r.Reap(c.ctx), "reaping")
			}
		}, "ready.line"),
		check("a wait can be repeated and gives the same result", ruleTenTimes, func(c *C) {
			st := c.plain()
			r := st.start(c.launch(exit(3)))
			first, _ := st.wait(r)
			for range 10 {
				if res, _ := st.wait(r); res != first {
					c.Errorf("another result: %v", res)
				}
			}
		}),
		check("closing a driver ten times", ruleTenTimes, func(c *C) {
			st := c.plain()
			st.ok(c.launch(say("x")))
			for range 10 {
				c.must(st.box.Close(), "closing")
			}
		}),
		check("reconciling ten times finds nothing more", ruleTenTimes, func(c *C) {
			st := c.plain()
			st.ok(c.launch(say("x")))
			for range 10 {
				c.reconciled(st, 0, nil)
			}
		}),
	)
}
