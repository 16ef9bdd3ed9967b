package sbxtest

import (
	"fmt"
	"os"
	goruntime "runtime"
	"strings"
	"sync"
	"time"
)

func concurrencyChecks() []Check {
	const n = 6
	return []Check{
		check("runs at once do not mix their output", ruleConcurrent, func(c *C) {
			st := c.plain()
			var running sync.WaitGroup
			for i := range n {
				l := c.launch(say(fmt.Sprintf("run %d", i)), spew(1000), say(fmt.Sprintf("end %d", i)))
				out := &output{}
				l.Stdout = out
				running.Go(func() {
					res, err := st.box.Run(c.ctx, l)
					if got := strings.Trim(strings.ReplaceAll(out.String(), "\x00", ""), "\n"); err != nil || !res.Success() || got != fmt.Sprintf("run %d\nend %d", i, i) {
						c.Errorf("run %d came to %s, %v, output %q", i, res, err, got)
					}
				})
			}
			running.Wait()
		}),
		check("runs at once have their own ends", ruleConcurrent, func(c *C) {
			st := c.plain()
			var running sync.WaitGroup
			for i := range n {
				l := c.launch(exit(10 + i))
				running.Go(func() {
					if res, err := st.box.Run(c.ctx, l); err != nil || res.Code != 10+i {
						c.Errorf("run %d came to %s, %v", i, res, err)
					}
				})
			}
			running.Wait()
		}),
		check("stopping one run leaves the others alone", ruleConcurrent, func(c *C) {
			st := c.plain()
			a, b := st.up(nil, act(DoHang)), st.up(nil, act(DoHang))
			st.end(a)
			select {
			case <-b.Done():
				c.Errorf("the other run ended too")
			default:
			}
			st.end(b)
		}, "ready.line"),
		check("two drivers over one backend do not see each other's runs", ruleOwner, func(c *C) {
			a, b := c.plain(), c.plain()
			r := a.up(nil, act(DoHang))
			if n := len(b.found()); n > 0 {
				c.Errorf("the other owner finds %d resources", n)
			}
			c.reconciled(b, 0, nil)
			select {
			case <-r.Done():
				c.Errorf("the other driver's reconcile ended the run")
			default:
			}
			a.end(r)
		}, "ready.line"),
		alone(check("no goroutine is left", ruleConcurrent, func(c *C) {
			c.plain().ok(c.launch(say("warm")))
			before := goruntime.NumGoroutine()
			for range 3 {
				st := c.plain()
				st.ok(c.launch(say("x")))
				st.end(st.up(nil, leaveBehind(time.Hour), act(DoHang)))
				c.must(st.box.Close(), "closing")
			}
			c.await("the goroutines to end", func() bool { return goruntime.NumGoroutine() <= before })
		}, "ready.line")),
		alone(check("no descriptor is left open", ruleConcurrent, func(c *C) {
			open := func() int {
				list, err := os.ReadDir("/proc/self/fd")
				if err != nil {
					c.Gap("this host does not list open descriptors: %v", err)
				}
				return len(list)
			}
			c.plain().ok(c.launch(say("warm")))
			before := open()
			for range 3 {
				st := c.plain()
				st.ok(c.launch(say("x")))
				st.end(st.up(nil, act(DoHang)))
				c.must(st.box.Close(), "closing")
			}
			c.await("the descriptors to close", func() bool { return open() <= before })
		}, "ready.line")),
	}
}
