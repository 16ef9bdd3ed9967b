package backendexec_test

import (
	"testing"

	"github.com/sbxkit/sbxkit/analyzers/backendexec"
	"github.com/sbxkit/sbxkit/analyzers/internal/ruletest"
)

func Test(t *testing.T) {
	ruletest.Run(t, backendexec.Analyzer, "a", "b", "fields", "client", "seam", "unseen")
}
