package hostenv_test

import (
	"testing"

	"github.com/sbxkit/sbxkit/analyzers/hostenv"
	"github.com/sbxkit/sbxkit/analyzers/internal/ruletest"
)

func Test(t *testing.T) {
	ruletest.Run(t, hostenv.Analyzer, "runner", "seam", "a", "inside", "unseen")
}
