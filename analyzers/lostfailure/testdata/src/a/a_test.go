package a

import (
	"context"
	"testing"

	sbx "github.com/sbxkit/sbxkit/runtime"
)

func Test(t *testing.T) {
	r := &sbx.Run{}
	r.Reap(context.Background()) // want `error of Run.Reap is dropped`
	if err := r.Kill(context.Background()); err != nil {
		t.Error(err)
	}
}
