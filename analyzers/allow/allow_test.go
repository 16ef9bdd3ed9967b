package allow_test

import (
	"testing"

	"github.com/sbxkit/sbxkit/analyzers"
	"github.com/sbxkit/sbxkit/analyzers/internal/ruletest"
)

func Test(t *testing.T) {
	all := analyzers.All()
	ruletest.Run(t, all[len(all)-1], "a", "noreason")
}
