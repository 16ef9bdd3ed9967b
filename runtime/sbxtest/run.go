package sbxtest

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sbxkit/sbxkit/runtime"
)

// Run holds the backends a factory makes to the seam's contract: one subtest a check, in groups. A check that needs what the backend
// declares it lacks is skipped with that reason, and counted as a gap in the report.
func Run(t *testing.T, f Factory, o Options) *Report {
	t.Helper()
	rep := &Report{}
	var mu sync.Mutex
	one := func(t *testing.T, c Check) {
		t.Helper()
		var row Row
		attempt := func(t *testing.T) {
			var s *Subject
			var id *runtime.Identity
			row, s, id = runCheck(context.Background(), c, f, o)
			mu.Lock()
			defer mu.Unlock()
			if s != nil {
				rep.Backend = s.Backend.Describe().Name
			}
			if id != nil {
				rep.Identity = id
			}
			rep.Rows = append(rep.Rows, row)
		}
		if o.Bubble {
			synctest.Test(t, attempt)
		} else {
			attempt(t)
		}
		switch row.Status {
		case Gap:
			t.Skip("gap: " + row.Gap)
		case Failed:
			for _, p := range row.Problems {
				t.Error(row.failure(p))
			}
		}
	}
	parallel := max(o.Parallel, 1)
	if o.Bubble {
		parallel = 1
	}
	for _, group := range groups(selected(o)) {
		t.Run(group[0].Group, func(t *testing.T) {
			each(group, parallel, func(c Check) {
				t.Run(c.Name, func(t *testing.T) { one(t, c) })
			})
		})
	}
	rep.sort()
	return rep
}

// CheckBackend holds the backends a factory makes to the seam's contract outside of a test, and gives the report. ctx ends it early.
func CheckBackend(ctx context.Context, f Factory, o Options) *Report {
	rep := &Report{}
	if !rep.probe(ctx, f) {
		return rep
	}
	var mu sync.Mutex
	for _, group := range groups(selected(o)) {
		each(group, max(o.Parallel, 1), func(c Check) {
			if ctx.Err() != nil {
				return
			}
			row, _, _ := runCheck(ctx, c, f, o)
			mu.Lock()
			defer mu.Unlock()
			rep.Rows = append(rep.Rows, row)
		})
	}
	rep.sort()
	return rep
}

// each calls f for the checks of a group, so many at once; the serial ones run alone, and last.
func each(group []Check, parallel int, f func(Check)) {
	var running sync.WaitGroup
	limit := make(chan struct{}, parallel)
	for _, c := range group {
		if c.serial {
			running.Wait()
			f(c)
			continue
		}
		limit <- struct{}{}
		running.Go(func() {
			defer func() { <-limit }()
			f(c)
		})
	}
	running.Wait()
}

// probe says whether the backend works here at all.
func (r *Report) probe(ctx context.Context, f Factory) bool {
	s, err := f(ctx)
	if err != nil {
		r.Failure = runtime.AsFailure(err, runtime.Setup)
		return false
	}
	r.Backend = s.Backend.Describe().Name
	id, err := s.Backend.Probe(ctx, runtime.ProbeRequest{Image: s.Image})
	if s.Close != nil {
		if e := s.Close(); err == nil {
			err = e
		}
	}
	r.Identity, r.Failure = id, runtime.AsFailure(err, runtime.Setup)
	return err == nil
}

// sort puts the rows in the order of the checks.
func (r *Report) sort() {
	order := map[string]int{}
	for i, c := range Checks() {
		order[c.Name] = i
	}
	slices.SortFunc(r.Rows, func(a, b Row) int { return order[a.Name] - order[b.Name] })
}

func selected(o Options) []Check {
	all := Checks()
	if len(o.Only) == 0 {
		return all
	}
	return slices.DeleteFunc(all, func(c Check) bool { return !slices.Contains(o.Only, c.Name) })
}

// groups parts checks by their group; the serial ones of a group come last.
func groups(all []Check) (list [][]Check) {
	for i, c := range all {
		if i == 0 || all[i-1].Group != c.Group {
			list = append(list, nil)
		}
		list[len(list)-1] = append(list[len(list)-1], c)
	}
	for _, g := range list {
		slices.SortStableFunc(g, func(a, b Check) int {
			switch {
			case a.serial == b.serial:
				return 0
			case a.serial:
				return 1
			}
			return -1
		})
	}
	return list
}

// runCheck runs one check on a fresh subject, under a watchdog.
func runCheck(ctx context.Context, chk Check, f Factory, o Options) (Row, *Subject, *runtime.Identity) {
	row := Row{Group: chk.Group, Name: chk.Name, Rule: chk.Rule, Where: chk.Where}
	began := time.Now()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s, err := f(ctx)
	if err != nil {
		row.Status, row.Problems = Failed, []string{"the factory failed: " + err.Error()}
		return row, nil, nil
	}
	c := &C{check: chk, subject: s, ctx: ctx}
	if row.Gap = chk.Gap(s.Backend.Describe()); row.Gap != "" {
		row.Status = Gap
		c.close()
		return row, s, nil
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.run()
	}()
	watchdog := time.NewTimer(o.timeout())
	defer watchdog.Stop()
	select {
	case <-done:
	case <-watchdog.C:
		c.Errorf("it hangs: no end within %v", o.timeout())
		cancel()
		c.abort()
		late := time.NewTimer(o.timeout())
		defer late.Stop()
		select {
		case <-done:
		case <-late.C:
			c.Errorf("it does not end either when everything is closed")
		}
	}
	c.close()
	row.Duration = time.Since(began)
	c.mu.Lock()
	defer c.mu.Unlock()
	row.Problems, row.Gap = slices.Clone(c.problems), c.gap
	switch {
	case len(row.Problems) > 0:
		row.Status, row.Gap = Failed, ""
	case c.gap != "":
		row.Status = Gap
	default:
		row.Status = Passed
	}
	return row, s, c.identity
}

// stop unwinds the goroutine of a check.
type stop struct{}

// run calls the check, and looks at what it leaves.
func (c *C) run() {
	defer c.settle()
	c.guard(func() {
		id, err := c.subject.Backend.Probe(c.ctx, runtime.ProbeRequest{Image: c.subject.Image})
		if err == nil {
			c.identity = id
			if why := c.check.absent(id); why != "" {
				c.Gap("%s", why)
			}
		}
		c.check.do(c)
	})
}

// guard calls f and takes a panic for a problem.
func (c *C) guard(f func()) {
	defer func() {
		switch v := recover().(type) {
		case nil, stop:
		default:
			c.Errorf("panic: %v", v)
		}
	}()
	f()
}
