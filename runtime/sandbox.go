package runtime

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

// Mode says what happens where a sandbox cannot be had.
type Mode string

// The modes.
const (
	// Required refuses. It is the default.
	Required Mode = "required"
	// Preferred uses the unsandboxed backend the caller supplied, only where the probe says Unsupported, and the Facts say so. No
	// error after the probe can reach it.
	Preferred Mode = "preferred"
	// Disabled uses the unsandboxed backend the caller supplied, openly.
	Disabled Mode = "disabled"
)

// Sandbox is the one lifecycle driver: every launch of every backend walks through it. It is safe for concurrent use; one Sandbox
// serves any number of runs.
type Sandbox struct {
	backend     Backend
	unsandboxed Backend
	mode        Mode
	journal     Journal
	controller  Controller
	observer    Observer
	stager      Stager
	environ     func() []string
	host        HostView
	remove      time.Duration

	mu      sync.Mutex
	closed  bool
	running sync.WaitGroup
}

// Option configures a Sandbox.
type Option func(*Sandbox)

// WithMode sets the mode; without it a sandbox is Required.
func WithMode(m Mode) Option { return func(s *Sandbox) { s.mode = m } }

// WithUnsandboxed supplies the backend that isolates nothing, for the modes Preferred and Disabled. Its own description must say that
// it is unsandboxed.
func WithUnsandboxed(b Backend) Option { return func(s *Sandbox) { s.unsandboxed = b } }

// WithJournal keeps every run's record where it survives the controller; without it nothing can be reconciled after a crash.
func WithJournal(j Journal) Option { return func(s *Sandbox) { s.journal = j } }

// WithController gives the executor's side of steps 6 and 7; without it nothing is exported or imported.
func WithController(c Controller) Option { return func(s *Sandbox) { s.controller = c } }

// WithObserver gets every event of every run; see Observer.
func WithObserver(o Observer) Option { return func(s *Sandbox) { s.observer = o } }

// WithStager gives what copies workspaces and snapshots (runtime/stage); without it a copied workspace is refused.
func WithStager(t Stager) Option { return func(s *Sandbox) { s.stager = t } }

// WithEnviron replaces os.Environ as the environment that knobs and forwarded variables are read from, at every launch.
func WithEnviron(f func() []string) Option { return func(s *Sandbox) { s.environ = f } }

// WithHost replaces the host that planning looks at.
func WithHost(h HostView) Option { return func(s *Sandbox) { s.host = h } }

// WithRemoveTimeout bounds the removal of a run's resources; without it that is 30 seconds.
func WithRemoveTimeout(d time.Duration) Option { return func(s *Sandbox) { s.remove = d } }

// New makes a driver over a backend. It does no I/O.
func New(b Backend, opts ...Option) (*Sandbox, error) {
	s := &Sandbox{backend: b, mode: Required, environ: os.Environ, host: osHost{}, remove: 30 * time.Second}
	for _, o := range opts {
		o(s)
	}
	fail := func(cure, format string, args ...any) (*Sandbox, error) {
		return nil, Fail(Denied, format, args...).At(StepProbe).WithCure("%s", cure)
	}
	switch s.mode {
	case Required, Preferred, Disabled:
	default:
		return fail("use required, preferred or disabled", "%q is not a mode", string(s.mode))
	}
	if s.unsandboxed != nil && !s.unsandboxed.Describe().Unsandboxed {
		return fail("pass a backend whose spec says unsandboxed", "the backend %s given to WithUnsandboxed says that it sandboxes", s.unsandboxed.Describe().Name)
	}
	if s.mode == Disabled {
		if s.unsandboxed == nil {
			return fail("pass WithUnsandboxed(local), so that it stands in the code that no sandbox is used", "mode disabled needs the unsandboxed backend")
		}
		return s, nil
	}
	if b == nil {
		return fail("pass a generated backend", "no backend")
	}
	if b.Describe().Unsandboxed {
		return fail("pass it by WithUnsandboxed with mode disabled", "the backend %s isolates nothing, and the mode is %s", b.Describe().Name, s.mode)
	}
	return s, nil
}

// Close waits for every run of this driver to end and be removed, and closes what its backends hold open. Idempotent.
func (s *Sandbox) Close() error {
	s.mu.Lock()
	closed := s.closed
	s.closed = true
	s.mu.Unlock()
	if closed {
		return nil
	}
	s.running.Wait()
	var err error
	for _, b := range []Backend{s.backend, s.unsandboxed} {
		if c, ok := b.(Closer); ok && b != nil {
			if e := c.Close(); e != nil && err == nil {
				err = fmt.Errorf("closing backend %s: %w", b.Describe().Name, e)
			}
		}
	}
	return err
}

// enter counts a run in, or refuses where the driver is closed.
func (s *Sandbox) enter() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return Fail(Denied, "the sandbox is closed").At(StepProbe)
	}
	s.running.Add(1)
	return nil
}

// detached gives a context for cleanup: it does not end with the caller's, keeps its values, and ends after d.
func detached(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), d)
}

var base32Lower = base32.StdEncoding.WithPadding(base32.NoPadding)

// newRunID is 128 random bits in 26 lower-case characters: a file name, a container name and a label value alike.
func newRunID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails: crypto/rand
	return strings.ToLower(base32Lower.EncodeToString(b[:]))
}

func (s *Sandbox) runName() RunName {
	r := RunName{ID: newRunID()}
	if s.journal != nil {
		r.Owner = s.journal.Owner()
		r.Dir = s.journal.RunDir(r.ID)
	}
	return r
}
