package sbxtest

import (
	"context"
	"errors"
	"slices"

	"github.com/sbxkit/sbxkit/runtime"
)

func journalChecks() []Check {
	return append([]Check{
		check("a run that lives has its record, under its lock", ruleRecord, func(c *C) {
			st := c.plain()
			r := st.up(nil, act(DoHang))
			n := 0
			err := st.journal.List(c.ctx, func(rec runtime.Record, live bool) error {
				n++
				if !live || rec.Run.ID != r.ID() || rec.Token.Run.ID != r.ID() || rec.PlanDigest != r.Facts().PlanDigest || rec.Backend == "" || !rec.Charged {
					c.Errorf("live %v, record %+v", live, rec)
				}
				return nil
			}, func(string, error) {})
			if err != nil || n != 1 {
				c.Errorf("%d records, %v", n, err)
			}
			st.end(r)
		}, "ready.line"),
		check("the record is written at each step boundary", ruleRecord, func(c *C) {
			st := c.plain()
			st.ok(c.launch(say("x")))
			var begun []runtime.Step
			for _, r := range st.journal.written() {
				if !r.Done && (len(begun) == 0 || begun[len(begun)-1] != r.Step) {
					begun = append(begun, r.Step)
				}
			}
			for _, s := range walked[2:] {
				if !slices.Contains(begun, s) {
					c.Errorf("nothing was written when %s began: %v", s, begun)
				}
			}
		}),
		check("the record of a process that runs names it", ruleTokenFirst, func(c *C) {
			c.real()
			if c.subject.Backend.Describe().Kind != "process" {
				c.Gap("a container is named by its token before it exists")
			}
			st := c.plain()
			r := st.up(nil, act(DoHang))
			all := st.journal.written()
			if len(all[len(all)-1].Token.Processes) == 0 {
				c.Errorf("the record of a running process names none")
			}
			st.end(r)
		}, "ready.line"),
		check("the outcome is written before the resources go", ruleRecord, func(c *C) {
			st := c.plain()
			_, err := st.run(c.launch(exit(3)))
			c.must(err, "running")
			for _, r := range st.journal.written() {
				if r.Step == runtime.StepRemove && (r.Outcome != runtime.Exited || r.Code != 3) {
					c.Errorf("the removal begins with the outcome %q %d", r.Outcome, r.Code)
				}
			}
		}),
		check("a caller's labels are in the record", ruleRecord, func(c *C) {
			st := c.plain()
			l := c.launch(say("x"))
			l.Labels = map[string]string{"issue": "7"}
			st.ok(l)
			if all := st.journal.written(); !slices.Contains(all[0].Labels, runtime.Label{Name: "issue", Value: "7"}) {
				c.Errorf("the labels are %+v", all[0].Labels)
			}
		}, "labels"),
		check("a reconcile leaves a living run alone", ruleOwner, func(c *C) {
			st := c.plain()
			r := st.up(nil, act(DoHang))
			n := c.next(st.journal)
			n.dirty = true
			if rep := c.reconciled(n, 0, nil); rep.Live != 1 {
				c.Errorf("it finds %d living runs", rep.Live)
			}
			select {
			case <-r.Done():
				c.Errorf("it ended the run")
			default:
			}
			st.end(r)
		}, "ready.line"),
		check("an owner that ran nothing has nothing", ruleOwner, func(c *C) {
			f, ok := c.subject.Backend.(runtime.Reconciler)
			if !ok {
				c.Gap("the backend's runs are found by the journal alone")
			}
			for _, owner := range []string{word("nobody-"), ""} {
				// That an owner without a name has nothing may be said by an error too.
				if found, _, err := f.Find(c.ctx, owner); err != nil && owner != "" || len(found) > 0 {
					c.Errorf("owner %q has %+v, %v", owner, found, err)
				}
			}
		}),
		check("an owner finds what is his, and only that", ruleOwner, func(c *C) {
			if _, ok := c.subject.Backend.(runtime.Reconciler); !ok {
				c.Gap("the backend's runs are found by the journal alone")
			}
			a, b := c.plain(), c.plain()
			ra, rb := a.up(nil, act(DoHang)), b.up(nil, act(DoHang))
			if found := a.found(); len(found) != 1 || found[0].Run.ID != ra.ID() || found[0].Run.Owner != a.journal.Owner() {
				c.Errorf("the owner of run %s finds %+v", ra.ID(), found)
			}
			a.end(ra)
			b.end(rb)
		}, "ready.line"),
		check("an owner's name that another's begins with is another's", ruleOwner, func(c *C) {
			if _, ok := c.subject.Backend.(runtime.Reconciler); !ok {
				c.Gap("the backend's runs are found by the journal alone")
			}
			long := c.plain()
			r := long.up(nil, act(DoHang))
			short := newMemory(long.journal.Owner()[:len(long.journal.Owner())-1], c.dir())
			st := c.next(short)
			if found := st.found(); len(found) > 0 {
				c.Errorf("it finds %+v", found)
			}
			c.reconciled(st, 0, nil)
			long.end(r)
		}, "ready.line"),
		check("a resource whose record cannot be read is left alone", ruleOwner, unreadableRecord, "ready.line"),
		check("a resource without a record is found by its owner's label and removed", ruleOwner, func(c *C) {
			if _, ok := c.subject.Backend.(runtime.Reconciler); !ok {
				c.Gap("the backend's runs are found by the journal alone")
			}
			m := c.prepared(say("x"))
			m.done()
			rep := c.reconciled(m.st, 1, nil)
			if len(rep.Runs) == 1 && rep.Runs[0].Run.ID != m.plan.Request.Run.ID {
				c.Errorf("it removed %+v", rep.Runs)
			}
		}),
		check("a dry reconcile touches nothing", ruleReconcile, func(c *C) {
			m := c.prepared(say("x"))
			m.st.journal.crash()
			rep, err := m.st.box.Reconcile(c.ctx, runtime.ReconcileOptions{DryRun: true})
			if err != nil || len(rep.Runs) != 1 || rep.Runs[0].Removed || m.st.journal.kept() != 1 {
				c.Errorf("it says %+v, %v; %d records", rep, err, m.st.journal.kept())
			}
			c.reconciled(m.st, 1, nil)
		}),
		check("a run can be killed and reaped by its record alone", ruleReopen, func(c *C) {
			st := c.plain()
			r := st.up(nil, act(DoHang))
			other, err := runtime.Reopen(c.ctx, c.subject.Backend, st.journal, r.ID())
			c.must(err, "reopening")
			if err := other.Signal(c.ctx, 15); !errors.Is(err, runtime.ErrUnsupported) {
				c.Errorf("signalling a reopened run: %v", err)
			}
			for range 10 {
				c.must(other.Kill(c.ctx), "killing")
			}
			res, _ := st.wait(r)
			if res.Success() || res.Outcome == runtime.TimedOut {
				c.Errorf("the driver that lives reports %s", res)
			}
		}, "ready.line"),
		check("a run that is not in the journal cannot be reopened", ruleReopen, func(c *C) {
			st := c.plain()
			if _, err := runtime.Reopen(c.ctx, c.subject.Backend, st.journal, "nosuchrun"); !errors.Is(err, runtime.ErrSetup) {
				c.Errorf("got %v", err)
			}
		}),
		check("without a journal there is nothing to reconcile from", ruleOwner, func(c *C) {
			st := c.stand(setting{opts: []runtime.Option{runtime.WithJournal(nil)}})
			if _, err := st.box.Reconcile(c.ctx, runtime.ReconcileOptions{}); !errors.Is(err, runtime.ErrDenied) {
				c.Errorf("got %v", err)
			}
		}),
		check("two reconciles at once settle each run once", ruleReconcile, func(c *C) {
			m := c.prepared(say("x"))
			m.st.journal.crash()
			found := make(chan int, 2)
			for range 2 {
				n := c.next(m.st.journal)
				go func() {
					rep, err := n.box.Reconcile(context.WithoutCancel(c.ctx), runtime.ReconcileOptions{})
					if err != nil {
						c.Errorf("reconciling: %v", err)
						found <- 0
						return
					}
					for _, r := range rep.Runs {
						if r.Failure != nil {
							c.Errorf("not removed: %v", r.Failure)
						}
					}
					found <- len(rep.Runs)
				}()
			}
			if n := <-found + <-found; n != 1 {
				c.Errorf("the run was settled %d times", n)
			}
		}),
	}, crashChecks()...)
}

// unreadableRecord tears the record of a dead run, and lets the next controller look.
func unreadableRecord(c *C) {
	m := c.prepared(say("x"))
	j := m.st.journal
	j.crash()
	j.mu.Lock()
	j.bad = append(j.bad, m.plan.Request.Run.ID)
	j.mu.Unlock()
	rep := c.reconciled(m.st, 0, nil)
	if len(rep.Bad) != 1 {
		c.Errorf("it reports %d records that cannot be read", len(rep.Bad))
	}
	if _, ok := c.subject.Backend.(runtime.Reconciler); ok && len(m.st.found()) != 1 {
		c.Errorf("the resource is gone")
	}
	j.mu.Lock()
	j.bad = nil
	j.mu.Unlock()
	c.reconciled(m.st, 1, nil)
}
