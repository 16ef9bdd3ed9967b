// Package interp is a stub of the shell interpreter.
package interp

import "context"

type Runner struct{}

type RunnerOption func(*Runner) error

func New(opts ...RunnerOption) (*Runner, error) { return nil, nil }

func (*Runner) Run(ctx context.Context, node any) error { return nil }
