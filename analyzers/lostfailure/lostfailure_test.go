package lostfailure_test

import (
	"testing"

	"github.com/sbxkit/sbxkit/analyzers/internal/ruletest"
	"github.com/sbxkit/sbxkit/analyzers/lostfailure"
)

func Test(t *testing.T) {
	ruletest.Run(t, lostfailure.Analyzer, "a", "wrap", "drive", "github.com/sbxkit/sbxkit/runtime/room", "unseen")
}
