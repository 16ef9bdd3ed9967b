package groupkill_test

import (
	"testing"

	"github.com/sbxkit/sbxkit/analyzers/groupkill"
	"github.com/sbxkit/sbxkit/analyzers/internal/ruletest"
)

func Test(t *testing.T) {
	ruletest.Run(t, groupkill.Analyzer, "kill", "a", "b", "unseen")
}
