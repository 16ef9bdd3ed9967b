package sbxtest

import (
	"context"
	"fmt"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/sbxkit/sbxkit/runtime"
)

// crasher ends a controller in this process as kill -9 would: from its moment on, no call of the controller reaches the backend or the
// journal any more, its locks are free, and what the backend has stays as it is.
type crasher struct {
	journal *memory
	at      string
	dead    atomic.Bool
	died    chan struct{} // closed with dead
	charges atomic.Int64
}

// moment is called at each place where a controller can die.
func (k *crasher) moment(name string) {
	if name == k.at && k.dead.CompareAndSwap(false, true) {
		k.journal.crash()
		close(k.died)
	}
}

// around makes a call unless the controller is dead, and dies before or after it.
func around[T any](k *crasher, name string, call func() (T, error)) (T, error) {
	var none T
	k.moment("before " + name)
	if k.dead.Load() {
		return none, runtime.Fail(runtime.Uncertain, "%s: %w", name, errCrashed)
	}
	v, err := call()
	k.moment("after " + name)
	if k.dead.Load() {
		return none, runtime.Fail(runtime.Uncertain, "%s: %w", name, errCrashed)
	}
	return v, err
}

// moments are the places where the grid ends a controller.
func moments() []string {
	var all []string
	for _, s := range []string{"prepare", "stage", "charge", "start", "wait", "remove"} {
		all = append(all, "before "+s, "after "+s)
	}
	return append(all, "while it runs")
}

// hooks are the calls of the controller that dies.
func (k *crasher) hooks() Hooks {
	return Hooks{
		Prepare: func(ctx context.Context, p *runtime.Plan, next prepareNext) (runtime.Resources, error) {
			return around(k, "prepare", func() (runtime.Resources, error) { return next(ctx, p) })
		},
		Reopen: func(ctx context.Context, t runtime.Token, next func(context.Context, runtime.Token) (runtime.Resources, error)) (runtime.Resources, error) {
			return around(k, "reopen", func() (runtime.Resources, error) { return next(ctx, t) })
		},
		Stage: func(ctx context.Context, s *runtime.Stage, next func(context.Context, *runtime.Stage) (string, error)) (string, error) {
			return around(k, "stage", func() (string, error) { return next(ctx, s) })
		},
		Start: func(ctx context.Context, r *runtime.StartRequest, next startNext) (runtime.Process, error) {
			return around(k, "start", func() (runtime.Process, error) { return next(ctx, r) })
		},
		Wait: func(ctx context.Context, d time.Duration, next waitNext) (*runtime.Exit, error) {
			return around(k, "wait", func() (*runtime.Exit, error) {
				type answer struct {
					exit *runtime.Exit
					err  error
				}
				// The backend's own wait ends when the next controller has ended the command.
				told := make(chan answer, 1)
				go func() {
					x, err := next(context.WithoutCancel(ctx), d)
					told <- answer{x, err}
				}()
				select {
				case a := <-told:
					return a.exit, a.err
				case <-k.died:
					return nil, errCrashed
				case <-ctx.Done():
					return nil, context.Cause(ctx)
				}
			})
		},
		Signal: func(ctx context.Context, s syscall.Signal, next func(context.Context, syscall.Signal) error) error {
			_, err := around(k, "signal", func() (any, error) { return nil, next(ctx, s) })
			return err
		},
		Kill: func(ctx context.Context, next func(context.Context) error) error {
			_, err := around(k, "kill", func() (any, error) { return nil, next(ctx) })
			return err
		},
		Remove: func(ctx context.Context, next removeNext) (*runtime.Teardown, error) {
			return around(k, "remove", func() (*runtime.Teardown, error) { return next(ctx) })
		},
	}
}

// next makes the next controller: another backend over the same host, with the same journal.
func (c *C) next(j *memory) *stand {
	s := setting{journal: j}
	if c.subject.Next != nil {
		b, err := c.subject.Next()
		c.must(err, "making the next controller's backend")
		s.backend = b
	}
	return c.stand(s)
}

// crash ends a controller at a moment, reconciles with the next one, and checks that nothing is left, that nobody else's run was
// touched, and that the outcome is true.
func (c *C) crash(at string) {
	other := c.plain()
	foreign := other.up(nil, act(DoHang))

	j := newMemory(word("suite-"), c.dir())
	k := &crasher{journal: j, at: at, died: make(chan struct{})}
	st := c.stand(setting{journal: j, hooks: k.hooks(), dirty: true})
	l := c.launch(say("up"), exit(3))
	if at == "while it runs" {
		l = c.launch(say("up"), act(DoHang))
	}
	l.Stdout = writerFunc(func(p []byte) (int, error) { k.moment("while it runs"); return len(p), nil })
	l.Charge = func(context.Context, *runtime.Plan) error {
		k.moment("before charge")
		k.charges.Add(1)
		k.moment("after charge")
		return nil
	}
	res, err := st.box.Run(c.ctx, l)
	if !k.dead.Load() {
		c.Fatalf("the launch did not come by %q: %s, %v", at, res, err)
	}
	if res.Success() || err == nil {
		c.Errorf("a controller that died reports %s", res)
	}

	n := c.next(j)
	dry, err := n.box.Reconcile(c.ctx, runtime.ReconcileOptions{DryRun: true})
	c.must(err, "looking what a reconcile would do")
	rep := c.reconciled(n, 1, func(r runtime.Reconciled) { c.truthful(at, r, k.charges.Load() > 0) })
	if len(dry.Runs) != len(rep.Runs) {
		c.Errorf("a dry run finds %d runs, the real one %d", len(dry.Runs), len(rep.Runs))
	}
	if again := c.reconciled(n, 0, nil); again.Live != 0 {
		c.Errorf("a second reconcile finds %d living runs", again.Live)
	}
	if left := n.found(); len(left) > 0 || j.kept() > 0 {
		c.Errorf("left: %+v and %d records", left, j.kept())
	}
	select {
	case <-foreign.Done():
		c.Errorf("another controller's run was ended")
	default:
	}
	other.end(foreign)
}

// truthful checks what a reconcile says of a run that was left at a moment.
func (c *C) truthful(at string, r runtime.Reconciled, charged bool) {
	switch at {
	case "before prepare", "after prepare", "before stage", "after stage", "before charge", "after charge":
		if r.Outcome != runtime.NeverRan {
			c.Errorf("a controller that died %s its start leaves the outcome %s", at, r.Outcome)
		}
	case "while it runs":
		if r.Outcome == runtime.Exited || r.Outcome == runtime.NeverRan {
			c.Errorf("a command that was running has the outcome %s", r.Outcome)
		}
	}
	if r.Outcome == runtime.Exited && r.Code != 3 {
		c.Errorf("exited %d, and the command exits 3", r.Code)
	}
	if r.Charged && !charged {
		c.Errorf("the record says charged, and nobody was")
	}
}

func crashChecks() []Check {
	var all []Check
	for _, at := range moments() {
		all = append(all, check(fmt.Sprintf("a controller that dies %s leaves nothing after a reconcile", at), ruleReconcile, func(c *C) { c.crash(at) }, "ready.line"))
	}
	return all
}
