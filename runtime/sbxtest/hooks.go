package sbxtest

import (
	"context"
	"io"
	"syscall"
	"time"

	"github.com/sbxkit/sbxkit/runtime"
)

// Hooks stand between a driver and a backend: each sees one call and decides whether and how the backend's own (next) is made. A nil hook
// passes the call on. The suite refuses and crashes through them, and its own tests make backends that are wrong on purpose.
type Hooks struct {
	Probe   func(ctx context.Context, r runtime.ProbeRequest, next func(context.Context, runtime.ProbeRequest) (*runtime.Identity, error)) (*runtime.Identity, error)
	Plan    func(in runtime.PlanInput, next func(runtime.PlanInput) (*runtime.Plan, error)) (*runtime.Plan, error)
	Prepare func(ctx context.Context, p *runtime.Plan, next prepareNext) (runtime.Resources, error)
	Reopen  func(ctx context.Context, t runtime.Token, next func(context.Context, runtime.Token) (runtime.Resources, error)) (runtime.Resources, error)
	Find    func(ctx context.Context, owner string, next func(context.Context, string) ([]runtime.Token, int, error)) ([]runtime.Token, int, error)

	Token     func(next func() runtime.Token) runtime.Token
	Stage     func(ctx context.Context, s *runtime.Stage, next func(context.Context, *runtime.Stage) (string, error)) (string, error)
	Start     func(ctx context.Context, r *runtime.StartRequest, next startNext) (runtime.Process, error)
	Export    func(ctx context.Context, dir string, a *runtime.Artifacts, next func(context.Context, string, *runtime.Artifacts) (*runtime.Manifest, error)) (*runtime.Manifest, error)
	Remove    func(ctx context.Context, next removeNext) (*runtime.Teardown, error)
	Kill      func(ctx context.Context, next func(context.Context) error) error
	Witnessed func(ctx context.Context, next func(context.Context) (*runtime.Exit, error)) (*runtime.Exit, error)

	Identity   func(next func() runtime.ProcessIdentity) runtime.ProcessIdentity
	Guarantees func(next func() []runtime.Guarantee) []runtime.Guarantee
	Stdin      func(next func() io.WriteCloser) io.WriteCloser
	Signal     func(ctx context.Context, sig syscall.Signal, next func(context.Context, syscall.Signal) error) error
	Wait       func(ctx context.Context, drain time.Duration, next func(context.Context, time.Duration) (*runtime.Exit, error)) (*runtime.Exit, error)
}

// The calls that are hooked most.
type (
	prepareNext = func(context.Context, *runtime.Plan) (runtime.Resources, error)
	startNext   = func(context.Context, *runtime.StartRequest) (runtime.Process, error)
	removeNext  = func(context.Context) (*runtime.Teardown, error)
)

// Wrap puts hooks around a backend. The result has every optional ability but Close: what b lacks of them answers as if there was nothing.
// The wrapped backend is not closed with it.
func Wrap(b runtime.Backend, h Hooks) runtime.Backend { return &hooked{Backend: b, h: h} }

type hooked struct {
	runtime.Backend
	h Hooks
}

var (
	_ runtime.Ensurer    = (*hooked)(nil)
	_ runtime.Reconciler = (*hooked)(nil)
)

func (b *hooked) Probe(ctx context.Context, r runtime.ProbeRequest) (*runtime.Identity, error) {
	if b.h.Probe == nil {
		return b.Backend.Probe(ctx, r)
	}
	return b.h.Probe(ctx, r, b.Backend.Probe)
}

func (b *hooked) Plan(in runtime.PlanInput) (*runtime.Plan, error) {
	if b.h.Plan == nil {
		return b.Backend.Plan(in)
	}
	return b.h.Plan(in, b.Backend.Plan)
}

func (b *hooked) Prepare(ctx context.Context, p *runtime.Plan) (runtime.Resources, error) {
	var r runtime.Resources
	var err error
	if b.h.Prepare == nil {
		r, err = b.Backend.Prepare(ctx, p)
	} else {
		r, err = b.h.Prepare(ctx, p, b.Backend.Prepare)
	}
	return b.resources(r), err
}

func (b *hooked) Reopen(ctx context.Context, t runtime.Token) (runtime.Resources, error) {
	var r runtime.Resources
	var err error
	if b.h.Reopen == nil {
		r, err = b.Backend.Reopen(ctx, t)
	} else {
		r, err = b.h.Reopen(ctx, t, b.Backend.Reopen)
	}
	return b.resources(r), err
}

func (b *hooked) Find(ctx context.Context, owner string) ([]runtime.Token, int, error) {
	next := func(ctx context.Context, owner string) ([]runtime.Token, int, error) {
		if f, ok := b.Backend.(runtime.Reconciler); ok {
			return f.Find(ctx, owner)
		}
		return nil, 0, nil
	}
	if b.h.Find == nil {
		return next(ctx, owner)
	}
	return b.h.Find(ctx, owner, next)
}

func (b *hooked) Ensure(ctx context.Context, i runtime.Image, progress func(string)) (*runtime.ImageFacts, error) {
	if e, ok := b.Backend.(runtime.Ensurer); ok {
		return e.Ensure(ctx, i, progress)
	}
	return nil, nil
}

func (b *hooked) resources(r runtime.Resources) runtime.Resources {
	if r == nil {
		return nil
	}
	return &hookedResources{r, b.h}
}

type hookedResources struct {
	runtime.Resources
	h Hooks
}

var _ runtime.Witness = (*hookedResources)(nil)

func (r *hookedResources) Token() runtime.Token {
	if r.h.Token == nil {
		return r.Resources.Token()
	}
	return r.h.Token(r.Resources.Token)
}

func (r *hookedResources) Stage(ctx context.Context, s *runtime.Stage) (string, error) {
	if r.h.Stage == nil {
		return r.Resources.Stage(ctx, s)
	}
	return r.h.Stage(ctx, s, r.Resources.Stage)
}

func (r *hookedResources) Start(ctx context.Context, q *runtime.StartRequest) (runtime.Process, error) {
	var p runtime.Process
	var err error
	if r.h.Start == nil {
		p, err = r.Resources.Start(ctx, q)
	} else {
		p, err = r.h.Start(ctx, q, r.Resources.Start)
	}
	if p == nil {
		return nil, err
	}
	return &hookedProcess{p, r.h}, err
}

func (r *hookedResources) Export(ctx context.Context, dir string, a *runtime.Artifacts) (*runtime.Manifest, error) {
	if r.h.Export == nil {
		return r.Resources.Export(ctx, dir, a)
	}
	return r.h.Export(ctx, dir, a, r.Resources.Export)
}

func (r *hookedResources) Remove(ctx context.Context) (*runtime.Teardown, error) {
	if r.h.Remove == nil {
		return r.Resources.Remove(ctx)
	}
	return r.h.Remove(ctx, r.Resources.Remove)
}

func (r *hookedResources) Kill(ctx context.Context) error {
	if r.h.Kill == nil {
		return r.Resources.Kill(ctx)
	}
	return r.h.Kill(ctx, r.Resources.Kill)
}

func (r *hookedResources) Witnessed(ctx context.Context) (*runtime.Exit, error) {
	next := func(ctx context.Context) (*runtime.Exit, error) {
		if w, ok := r.Resources.(runtime.Witness); ok {
			return w.Witnessed(ctx)
		}
		return nil, nil
	}
	if r.h.Witnessed == nil {
		return next(ctx)
	}
	return r.h.Witnessed(ctx, next)
}

type hookedProcess struct {
	runtime.Process
	h Hooks
}

func (p *hookedProcess) Identity() runtime.ProcessIdentity {
	if p.h.Identity == nil {
		return p.Process.Identity()
	}
	return p.h.Identity(p.Process.Identity)
}

func (p *hookedProcess) Guarantees() []runtime.Guarantee {
	if p.h.Guarantees == nil {
		return p.Process.Guarantees()
	}
	return p.h.Guarantees(p.Process.Guarantees)
}

func (p *hookedProcess) Stdin() io.WriteCloser {
	if p.h.Stdin == nil {
		return p.Process.Stdin()
	}
	return p.h.Stdin(p.Process.Stdin)
}

func (p *hookedProcess) Signal(ctx context.Context, sig syscall.Signal) error {
	if p.h.Signal == nil {
		return p.Process.Signal(ctx, sig)
	}
	return p.h.Signal(ctx, sig, p.Process.Signal)
}

func (p *hookedProcess) Wait(ctx context.Context, drain time.Duration) (*runtime.Exit, error) {
	if p.h.Wait == nil {
		return p.Process.Wait(ctx, drain)
	}
	return p.h.Wait(ctx, drain, p.Process.Wait)
}
