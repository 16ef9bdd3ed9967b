package drive

import (
	"context"
	"testing"
)

func TestReap(t *testing.T) {
	r := &Run{}
	r.Reap(context.Background()) // want `error of Run.Reap is dropped`
}
