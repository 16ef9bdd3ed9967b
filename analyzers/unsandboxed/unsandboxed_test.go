package unsandboxed_test

import (
	"testing"

	"github.com/sbxkit/sbxkit/analyzers/internal/ruletest"
	"github.com/sbxkit/sbxkit/analyzers/unsandboxed"
)

func Test(t *testing.T) {
	ruletest.Run(t, unsandboxed.Analyzer, "detect", "wrap", "a", "b", "seam", "picks", "unseen", "many")
}
