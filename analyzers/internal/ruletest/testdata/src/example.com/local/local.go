// Package local is a generated backend.
//
//sbx:backend
package local

import (
	"context"

	"github.com/sbxkit/sbxkit/runtime"
)

type Options struct{}

type Backend struct{}

func New(o Options) (*Backend, error) { return &Backend{}, nil }

func (*Backend) Describe() *runtime.Description {
	return &runtime.Description{Name: "local", Unsandboxed: true}
}

func (*Backend) Probe(ctx context.Context) (*runtime.Facts, error) { return nil, nil }
func (*Backend) Plan(l runtime.Launch) (*runtime.Plan, error)      { return nil, nil }
