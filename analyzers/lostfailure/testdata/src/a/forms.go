package a

import (
	"context"

	sbx "github.com/sbxkit/sbxkit/runtime"
)

type boxed[T killer] struct{ k T }

func (b boxed[T]) end(ctx context.Context) {
	b.k.Kill(ctx) // want `error of killer.Kill is dropped|error of Run.Kill is dropped`
}

type runAlias = sbx.Run

var reapVar = (*sbx.Run).Reap

func moreForms(ctx context.Context, a *runAlias, b boxed[*sbx.Run]) {
	a.Reap(ctx)                    // want `error of Run.Reap is dropped`
	reapVar(a, ctx)                // want `Reap is dropped`
	(*sbx.Run).Reap(a, ctx)        // want `error of Run.Reap is dropped`
	defer func() { a.Kill(ctx) }() // want `error of Run.Kill is dropped`
	go func() {
		_ = a.Kill(ctx) // want `error of Run.Kill is dropped`
	}()
}
