package sbxtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sbxkit/sbxkit/runtime"
)

// stand is one controller: a driver over the backend under test, with a journal and an observer of the suite's own.
type stand struct {
	c       *C
	backend runtime.Backend
	journal *memory
	events  *events
	box     *runtime.Sandbox
	dirty   bool        // leaving something is what the check is about
	touched atomic.Bool // something was prepared: before that there is nothing to leave
	runs    []*runtime.Run
}

// setting is how a stand differs from a plain one.
type setting struct {
	hooks   Hooks
	journal *memory
	backend runtime.Backend
	environ []string
	opts    []runtime.Option
	dirty   bool
}

func (c *C) stand(s setting) *stand {
	st := &stand{c: c, journal: s.journal, events: &events{}, dirty: s.dirty}
	if st.journal == nil {
		st.journal = newMemory(word("suite-"), c.dir())
	}
	b := s.backend
	if b == nil {
		b = c.subject.Backend
	}
	prepare := s.hooks.Prepare
	s.hooks.Prepare = func(ctx context.Context, p *runtime.Plan, next prepareNext) (runtime.Resources, error) {
		st.touched.Store(true)
		if prepare == nil {
			return next(ctx, p)
		}
		return prepare(ctx, p, next)
	}
	st.backend = Wrap(b, s.hooks)
	opts := []runtime.Option{
		runtime.WithJournal(st.journal), runtime.WithObserver(st.events),
		runtime.WithEnviron(func() []string {
			// Of the host's environment a backend needs where its program is; the rest is the check's own.
			return append([]string{"PATH=" + os.Getenv("PATH")}, s.environ...)
		}),
	}
	if c.subject.Stager != nil {
		opts = append(opts, runtime.WithStager(c.subject.Stager))
	}
	opts = append(opts, s.opts...)
	var err error
	if b.Describe().Unsandboxed {
		st.box, err = runtime.New(nil, append(opts, runtime.WithMode(runtime.Disabled), runtime.WithUnsandboxed(st.backend))...)
	} else {
		st.box, err = runtime.New(st.backend, opts...)
	}
	c.must(err, "making a driver")
	c.mu.Lock()
	c.stands = append(c.stands, st)
	c.mu.Unlock()
	return st
}

// plain is a stand as an executor has it.
func (c *C) plain() *stand { return c.stand(setting{}) }

// settle waits for the driver's runs, and looks that nothing of them is left.
func (st *stand) settle() {
	for _, r := range st.runs {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		if err := r.Kill(ctx); err != nil && !st.dirty {
			st.c.Errorf("ending a run that the check left: %v", err)
		}
		cancel()
	}
	if err := st.box.Close(); err != nil {
		st.c.Errorf("closing the driver: %v", err)
	}
	if st.dirty || st.c.ctx.Err() != nil {
		return
	}
	if n := st.journal.kept(); n > 0 {
		st.c.Errorf("%d records are left in the journal", n)
	}
	if !st.touched.Load() && len(st.journal.written()) == 0 {
		return // that planning makes nothing has checks of its own, and a search takes an engine's program a while
	}
	for _, t := range st.found() {
		st.c.Errorf("left on the engine: %s of run %s", t.Name, t.Run.ID)
	}
}

// letGo makes the driver's calls fail.
func (st *stand) letGo() { st.journal.crash() }

// found lists what this stand's owner has on the engine.
func (st *stand) found() []runtime.Token {
	f, ok := st.backend.(runtime.Reconciler)
	if !ok {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	list, _, err := f.Find(ctx, st.journal.Owner())
	if err != nil {
		st.c.Errorf("looking for what is left: %v", err)
	}
	return list
}

// output is a sink that can be read while the run goes on.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// run launches l and waits for its result; the error is its failure.
func (st *stand) run(l runtime.Launch) (*runtime.Result, error) {
	res, err := st.box.Run(st.c.ctx, l)
	if res == nil {
		st.c.Fatalf("Run gave no result, but %v", err)
	}
	return res, err
}

// ok runs l, which has to exit 0, and gives what it wrote to stdout.
func (st *stand) ok(l runtime.Launch) string {
	out := &output{}
	if l.Stdout == nil {
		l.Stdout = out
	}
	errs := &output{}
	if l.Stderr == nil && l.Terminal == nil {
		l.Stderr = errs
	}
	res, err := st.run(l)
	if err != nil || !res.Success() {
		st.c.Fatalf("the run came to %s, %v; stderr %q", res, err, errs)
	}
	return out.String()
}

// start launches l and gives the living run.
func (st *stand) start(l runtime.Launch) *runtime.Run {
	r, err := st.box.Launch(st.c.ctx, l)
	if err != nil {
		st.c.Fatalf("launching: %v", err)
	}
	st.runs = append(st.runs, r)
	return r
}

// up launches a program that says "up" when it runs, and waits for that.
func (st *stand) up(change func(*runtime.Launch), p ...Act) *runtime.Run {
	l := st.c.launch(append([]Act{say("up")}, p...)...)
	l.Ready = &runtime.Ready{Line: "up"}
	if change != nil {
		change(&l)
	}
	return st.start(l)
}

// wait gives the run's result, which has to come.
func (st *stand) wait(r *runtime.Run) (*runtime.Result, error) {
	res, err := r.Wait(st.c.ctx)
	if res == nil {
		st.c.Fatalf("waiting for the run: %v", err)
	}
	return res, err
}

// end kills a run that a check no longer needs.
func (st *stand) end(r *runtime.Run) {
	if err := r.Kill(st.c.ctx); err != nil {
		st.c.Errorf("killing the run: %v", err)
	}
}

// failure finds the Failure in an error, which has to be one that says its step and backend.
func (c *C) failure(err error) *runtime.Failure {
	var f *runtime.Failure
	if !errors.As(err, &f) {
		c.Fatalf("the error is no Failure: %v", err)
	}
	if f.Kind == "" || f.Step == "" || f.Backend == "" || f.Message == "" {
		c.Errorf("the failure does not say its kind, step, backend and reason: %+v", *f)
	}
	return f
}

// refused checks that err refuses with kind at step, before anything was charged.
func (c *C) refused(err error, kind runtime.Kind, step runtime.Step) *runtime.Failure {
	if err == nil {
		c.Fatalf("it was not refused")
	}
	f := c.failure(err)
	if f.Kind != kind || f.Step != step {
		c.Errorf("refused as %s at %s, want %s at %s: %v", f.Kind, f.Step, kind, step, err)
	}
	if f.Charged {
		c.Errorf("a launch refused at %s says that it was charged", step)
	}
	return f
}

// outcome checks how a run ended.
func (c *C) outcome(res *runtime.Result, want runtime.Outcome) {
	if res.Outcome != want {
		c.Errorf("the outcome is %s, want %s (failure: %v; evidence: %+v)", res, want, res.Failure, res.Evidence)
	}
}

// events keeps what the driver tells.
type events struct {
	mu   sync.Mutex
	list []runtime.Event
	hook func(runtime.Event) // called after the event was kept
}

func (e *events) Event(v runtime.Event) {
	e.mu.Lock()
	e.list = append(e.list, v)
	hook := e.hook
	e.mu.Unlock()
	if hook != nil {
		hook(v)
	}
}

func (e *events) all() []runtime.Event {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]runtime.Event(nil), e.list...)
}

// steps gives the steps that ended, in order, each with its state.
func (e *events) steps() string {
	var b strings.Builder
	for _, v := range e.all() {
		if v.State != "" && v.Result == nil {
			fmt.Fprintf(&b, "%s:%s ", v.Step, v.State)
		}
	}
	return strings.TrimSpace(b.String())
}
