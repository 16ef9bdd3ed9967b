package runtime

import (
	"context"
	"io"
	"sync"
	"syscall"
	"time"
)

// Run is the live handle of one launch. It carries its own means to end and remove what it names, and is safe for concurrent use.
type Run struct {
	s        *Sandbox
	backend  Backend
	identity *Identity
	name     RunName
	plan     *Plan
	digest   func() string // of the plan, made once; nil before there is one
	res      Resources
	entry    JournalEntry
	charged  bool
	streams  *streams
	beats    pulse
	notified chan struct{} // closed when the command said READY=1
	stopping chan stopRequest
	started  chan struct{} // closed when the command runs
	ended    chan struct{} // closed when result is final

	mu     sync.Mutex
	rec    Record
	token  Token
	proc   Process
	began  time.Time
	facts  Facts
	result *Result
}

// ID is the run's random id, which its container, labels and directory carry.
func (r *Run) ID() string { return r.name.ID }

// Plan is what runs.
func (r *Run) Plan() *Plan { return r.plan }

// Token names everything of the run, so that it can be killed and removed with nothing else.
func (r *Run) Token() Token {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.token
}

func (r *Run) setToken(t Token) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.token = t
}

// Facts is what is known so far.
func (r *Run) Facts() Facts {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := r.facts
	f.PlanDigest = r.planDigest()
	f.Steps = append([]StepFact(nil), f.Steps...)
	return f
}

// Stdin is the writing end of the command's stdin with StdinPipe and no reader of its own, or of its terminal; else nil. Close
// half-closes: the command reads end of file while its output goes on.
func (r *Run) Stdin() io.WriteCloser {
	if r.proc == nil {
		return nil
	}
	return r.proc.Stdin()
}

// CloseWrite half-closes stdin; nil where there is none.
func (r *Run) CloseWrite() error {
	if w := r.Stdin(); w != nil {
		return w.Close()
	}
	return nil
}

// Stdout reads what the command writes, with Launch.Stdout = Pipe; else nil. It ends with io.EOF when the run's output has ended.
func (r *Run) Stdout() io.Reader {
	if r.streams == nil || r.streams.outPipe == nil {
		return nil
	}
	return r.streams.outPipe
}

// Stderr is like Stdout, with Launch.Stderr = Pipe.
func (r *Run) Stderr() io.Reader {
	if r.streams == nil || r.streams.errPipe == nil {
		return nil
	}
	return r.streams.errPipe
}

// Done is closed when the Result is final and everything of the run is removed, or reported as left.
func (r *Run) Done() <-chan struct{} { return r.ended }

// Wait gives the Result. ctx bounds the waiting, not the run: when it ends, its error is returned, the run goes on, and Wait may be
// called again. The error is otherwise the Result's Failure, nil where the end was witnessed and every later step did its work.
func (r *Run) Wait(ctx context.Context) (*Result, error) {
	select {
	case <-r.ended:
	case <-ctx.Done():
		select {
		case <-r.ended:
		default:
			return nil, context.Cause(ctx)
		}
	}
	if r.result.Failure != nil {
		return r.result, r.result.Failure
	}
	return r.result, nil
}

// Signal sends sig to the command; os.ErrProcessDone where it has ended.
func (r *Run) Signal(ctx context.Context, sig syscall.Signal) error {
	if r.proc == nil {
		return Fail(Unsupported, "a reopened run can be killed and reaped, not signalled").At(StepStart)
	}
	return r.proc.Signal(ctx, sig)
}

// Resize sets the size of the run's terminal.
func (r *Run) Resize(columns, rows uint16) error {
	if r.proc == nil {
		return Fail(Unsupported, "a reopened run has no terminal").At(StepStart)
	}
	return r.proc.Resize(columns, rows)
}

// Stop ends the run by the stop ladder and waits for the Result. The outcome is Canceled unless the run had ended already. When ctx
// ends, the ladder goes on and ctx's error is returned. Idempotent.
func (r *Run) Stop(ctx context.Context) (*Result, error) {
	r.request(stopRequest{outcome: Canceled, why: "Stop was called"})
	return r.Wait(ctx)
}

// Kill ends the run by its strongest means at once and waits until it has ended and is removed. Idempotent; it also works on a
// reopened run. ctx bounds the waiting.
func (r *Run) Kill(ctx context.Context) error {
	if r.proc == nil {
		if err := r.res.Kill(ctx); err != nil {
			return r.s.failed(r.backend, r.identity, StepRemove, err)
		}
		return nil
	}
	r.request(stopRequest{outcome: Canceled, why: "Kill was called", now: true})
	_, err := r.Wait(ctx)
	if err != nil && ctx.Err() == nil {
		// What the run's end reports is Wait's to say; Kill fails only where something may be left.
		return leftOnly(r.result)
	}
	return err
}

// Reap removes everything of the run, killing what still runs. Idempotent, and safe at any time; nil means that absence was observed. It
// also works on a reopened run.
func (r *Run) Reap(ctx context.Context) error {
	if r.proc != nil {
		if err := r.Kill(ctx); err == nil {
			return nil
		}
	}
	t, err := r.res.Remove(ctx)
	if err != nil {
		return r.s.failed(r.backend, r.identity, StepRemove, err)
	}
	r.mu.Lock()
	r.facts.Teardown = t
	r.mu.Unlock()
	if r.entry != nil {
		return r.entry.Remove()
	}
	return nil
}

func leftOnly(res *Result) error {
	if res != nil && res.Failure != nil && len(res.Failure.Left) > 0 {
		return res.Failure
	}
	return nil
}

// Reopen gives a handle on a run of the journal by its id, with no live driver object: it can be killed and reaped, and nothing else. A
// run whose controller lives can be reopened too: its controller then sees the run end.
func Reopen(ctx context.Context, b Backend, j Journal, id string) (*Run, error) {
	var found *Record
	err := j.List(ctx, func(rec Record, _ bool) error {
		if rec.Run.ID == id {
			found = &rec
		}
		return nil
	}, func(string, error) {})
	if err != nil {
		return nil, AsFailure(err, Setup).At(StepReconcile)
	}
	if found == nil {
		return nil, Fail(Setup, "no run %s in this state directory", id).At(StepReconcile).WithCure("list the runs with sbxctl ps")
	}
	if name := b.Describe().Name; found.Backend != name {
		return nil, Fail(Denied, "run %s belongs to the backend %s, not %s", id, found.Backend, name).At(StepReconcile)
	}
	s := &Sandbox{backend: b, journal: j, mode: Required, remove: 30 * time.Second}
	res, err := b.Reopen(ctx, found.Token)
	if err != nil {
		return nil, s.failed(b, nil, StepReconcile, err)
	}
	r := &Run{s: s, backend: b, name: found.Run, token: found.Token, rec: *found, res: res, digest: func() string { return found.PlanDigest }, ended: make(chan struct{}), started: make(chan struct{}), stopping: make(chan stopRequest, 8)}
	r.facts = Facts{RunID: found.Run.ID, Owner: found.Run.Owner, Charged: found.Charged}
	return r, nil
}
