package flow_test

import (
	"fmt"
	"testing"

	"github.com/sbxkit/sbxkit/analyzers/internal/flow"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"
)

// show reports each start and launch with its argument list, and each function's effects.
var show = &analysis.Analyzer{
	Name:     "show",
	Doc:      "show: report what package flow found",
	Requires: []*analysis.Analyzer{flow.Analyzer},
	Run: func(pass *analysis.Pass) (any, error) {
		result := pass.ResultOf[flow.Analyzer].(*flow.Result)
		defer result.Lock()()
		for _, use := range result.Uses {
			switch use.Kind {
			case flow.Start:
				pass.Reportf(use.Pos, "start %s: %s", use.Chain(), use.Vals[flow.StartArgv])
			case flow.Launch:
				pass.Reportf(use.Pos, "launch %s: %s", use.Chain(), use.Vals[0])
			}
		}
		for _, fn := range result.Funcs {
			for _, e := range result.Effects(fn) {
				if e.Kind == flow.Unsandboxed {
					pass.Reportf(e.Pos(), "unsandboxed %s", e.Chain())
				}
			}
		}
		return nil, nil
	},
}

func TestUsesAndFacts(t *testing.T) {
	results := analysistest.Run(t, analysistest.TestData(), show, "local", "dep", "top")
	// The facts are the same however often they are made.
	again := analysistest.Run(t, analysistest.TestData(), show, "top", "dep", "local")
	key := func(list []*analysistest.Result) string {
		out := make(map[string]string)
		for _, r := range list {
			text := ""
			for _, d := range r.Diagnostics {
				text += fmt.Sprintln(r.Pass.Fset.Position(d.Pos), d.Message)
			}
			out[r.Pass.Pkg.Path()] = text
		}
		return fmt.Sprint(out)
	}
	if a, b := key(results), key(again); a != b {
		t.Errorf("another order, another result:\n%s\n%s", a, b)
	}
}

func TestNothingToSee(t *testing.T) {
	for _, r := range analysistest.Run(t, analysistest.TestData(), show, "quiet") {
		res := r.Pass.ResultOf[flow.Analyzer].(*flow.Result)
		if len(res.Uses) != 0 {
			t.Errorf("uses: %v", res.Uses)
		}
	}
}

// A package that starts nothing and builds trees says next to nothing to its importers, and says it at once: every one of them reads it.
func TestATreeIsNotFollowedToItsLeaves(t *testing.T) {
	for _, r := range analysistest.Run(t, analysistest.TestData(), show, "tree") {
		size := 0
		for _, dep := range r.Action.Deps {
			for _, f := range dep.AllObjectFacts() {
				size += len(fmt.Sprint(f.Fact))
			}
		}
		if size > 20_000 {
			t.Errorf("the facts have %d bytes", size)
		}
	}
}
