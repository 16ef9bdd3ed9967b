// Package seam wires backends.
//
//sbx:seam a test
package seam

import (
	"context"

	"example.com/bwrap"
	"example.com/local"
	sbx "github.com/sbxkit/sbxkit/runtime"
)

// The one explicit construction: the seam decides.
func preferred() (*sbx.Sandbox, error) {
	b, err := bwrap.New(bwrap.Options{})
	if err != nil {
		return nil, err
	}
	l, err := local.New(local.Options{})
	if err != nil {
		return nil, err
	}
	return sbx.New(b, sbx.WithMode(sbx.Preferred), sbx.WithUnsandboxed(l))
}

func openly() (*sbx.Sandbox, error) {
	l, err := local.New(local.Options{})
	if err != nil {
		return nil, err
	}
	return sbx.New(nil, sbx.WithMode(sbx.Disabled), sbx.WithUnsandboxed(l))
}

func afterAFailure(ctx context.Context, b sbx.Backend) (*sbx.Sandbox, error) {
	if _, err := b.Probe(ctx); err != nil {
		l, err := local.New(local.Options{})
		if err != nil {
			return nil, err
		}
		return sbx.New(b, sbx.WithMode(sbx.Preferred), sbx.WithUnsandboxed(l))
	}
	return sbx.New(b)
}

func fallsBack(ctx context.Context, b sbx.Backend) (*sbx.Sandbox, error) {
	if _, err := b.Probe(ctx); err != nil {
		l, err := local.New(local.Options{}) // want `where Backend.Probe has failed, goes on with a backend that isolates nothing \(local.New\)`
		if err != nil {
			return nil, err
		}
		return sbx.New(nil, sbx.WithMode(sbx.Disabled), sbx.WithUnsandboxed(l))
	}
	return sbx.New(b)
}
