package rawshell_test

import (
	"testing"

	"github.com/sbxkit/sbxkit/analyzers/internal/ruletest"
	"github.com/sbxkit/sbxkit/analyzers/rawshell"
)

func Test(t *testing.T) {
	ruletest.Run(t, rawshell.Analyzer, "a", "b", "wrap", "unseen")
}
