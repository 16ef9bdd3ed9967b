package livenessstdin_test

import (
	"testing"

	"github.com/sbxkit/sbxkit/analyzers/internal/ruletest"
	"github.com/sbxkit/sbxkit/analyzers/livenessstdin"
)

func Test(t *testing.T) {
	ruletest.Run(t, livenessstdin.Analyzer, "a", "ping", "unseen")
}
