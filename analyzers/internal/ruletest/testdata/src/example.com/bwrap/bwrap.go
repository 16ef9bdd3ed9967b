// Package bwrap is a generated backend.
//
//sbx:backend
package bwrap

import (
	"context"

	"github.com/sbxkit/sbxkit/runtime"
)

type Options struct{}

type Backend struct{}

func New(o Options) (*Backend, error) { return &Backend{}, nil }

func (*Backend) Describe() *runtime.Description {
	return &runtime.Description{Name: "bwrap"}
}

func (*Backend) Probe(ctx context.Context) (*runtime.Facts, error) { return nil, nil }
func (*Backend) Plan(l runtime.Launch) (*runtime.Plan, error)      { return nil, nil }
