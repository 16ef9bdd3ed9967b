package backendimport_test

import (
	"testing"

	"github.com/sbxkit/sbxkit/analyzers/backendimport"
	"github.com/sbxkit/sbxkit/analyzers/internal/ruletest"
)

func Test(t *testing.T) {
	ruletest.Run(t, backendimport.Analyzer, "a", "seam", "noreason", "own", "unseen")
}
