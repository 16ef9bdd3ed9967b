// Package runtime is a stub of the seam for the tests of the rules.
package runtime

import (
	"context"
	"errors"
	"io"
)

// Launch is what an executor wants to run.
//
//sbx:launch
type Launch struct {
	Argv        []string
	Script      *Script
	Environment Environment
	Credentials map[string]Credential
	Liveness    LivenessHook
}

type Script struct {
	Interpreter []string
	Text        []byte
	Args        []string
}

type Environment struct {
	Set     map[string]string
	Forward []string
	Deny    []string
}

type Credential struct{ Value string }

type LivenessView struct{}

//sbx:liveness
type LivenessHook interface {
	Alive(ctx context.Context, v LivenessView) error
}

//sbx:liveness
type LivenessFunc func(ctx context.Context, v LivenessView) error

func (f LivenessFunc) Alive(ctx context.Context, v LivenessView) error { return f(ctx, v) }

type Plan struct{ Argv []string }

type Facts struct{}

type Outcome int

const (
	Exited Outcome = iota
	Signaled
	TimedOut
	Canceled
	OutOfMemory
	OutputLimit
	NeverRan
	Uncertain
)

type Result struct {
	Outcome Outcome
	Code    int
	Signal  string
}

func (*Result) Err() error { return nil }

type Mode string

const (
	Required  Mode = "required"
	Preferred Mode = "preferred"
	Disabled  Mode = "disabled"
)

type Description struct {
	Name        string
	Unsandboxed bool
}

type Backend interface {
	Describe() *Description
	Probe(ctx context.Context) (*Facts, error)
	Plan(l Launch) (*Plan, error)
}

type Option func(*Sandbox)

func WithMode(m Mode) Option           { return func(*Sandbox) {} }
func WithUnsandboxed(b Backend) Option { return func(*Sandbox) {} }

func New(b Backend, opts ...Option) (*Sandbox, error) { return &Sandbox{}, nil }

var ErrUnsupported = errors.New("unsupported")

type Run struct{}

func (*Run) Stdin() io.WriteCloser                        { return nil }
func (*Run) Stdout() io.Reader                            { return nil }
func (*Run) Stderr() io.Reader                            { return nil }
func (*Run) CloseWrite() error                            { return nil }
func (*Run) Wait(ctx context.Context) (*Result, error)    { return nil, nil }
func (*Run) Signal(ctx context.Context, sig string) error { return nil }
func (*Run) Stop(ctx context.Context) error               { return nil }
func (*Run) Kill(ctx context.Context) error               { return nil }
func (*Run) Reap(ctx context.Context) error               { return nil }

type Sandbox struct{}

func (*Sandbox) Probe(ctx context.Context) (*Facts, error)         { return nil, nil }
func (*Sandbox) Plan(ctx context.Context, l Launch) (*Plan, error) { return nil, nil }

//sbx:launch
func (*Sandbox) Launch(ctx context.Context, l Launch) (*Run, error) { return nil, nil }

//sbx:launch
func (*Sandbox) Run(ctx context.Context, l Launch) (*Result, error) { return nil, nil }

func (*Sandbox) Ensure(ctx context.Context) error    { return nil }
func (*Sandbox) Reconcile(ctx context.Context) error { return nil }
func (*Sandbox) Close() error                        { return nil }
