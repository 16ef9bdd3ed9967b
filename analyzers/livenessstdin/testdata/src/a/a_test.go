package a

import (
	"os"
	"testing"

	sbx "github.com/sbxkit/sbxkit/runtime"
)

func Test(t *testing.T) {
	_ = sbx.Launch{Liveness: sbx.LivenessFunc(func(c ctx, v view) error {
		return os.Stdin.Close() // want `os.Stdin`
	})}
}
