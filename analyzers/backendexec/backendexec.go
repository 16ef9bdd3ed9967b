package backendexec

import (
	_ "embed"
	"fmt"
	"go/token"
	"slices"

	"github.com/sbxkit/sbxkit/analyzers/internal/argv"
	"github.com/sbxkit/sbxkit/analyzers/internal/directive"
	"github.com/sbxkit/sbxkit/analyzers/internal/flow"
	"github.com/sbxkit/sbxkit/analyzers/internal/rule"
	"golang.org/x/tools/go/analysis"
)

//go:embed doc.go
var doc string

// Analyzer is the backendexec rule.
var Analyzer = rule.New(&analysis.Analyzer{
	Name:     "backendexec",
	Doc:      rule.Doc(doc),
	Run:      run,
	Requires: []*analysis.Analyzer{directive.Analyzer, flow.Analyzer},
})

// run reports starts whose program may be a backend's, by base name, and calls into engine client packages. It assumes that whatever
// makes an exec.Cmd means to start it, unless the Cmd is only looked at.
func run(pass *analysis.Pass) (any, error) {
	index := pass.ResultOf[directive.Analyzer].(*directive.Index)
	if !index.Outside() {
		return nil, nil
	}
	clients(pass)
	result := pass.ResultOf[flow.Analyzer].(*flow.Result)
	names := rule.Current().ProgramNames()
	type finding struct {
		pos  token.Pos
		name string
	}
	reported := make(map[finding]bool)
	for _, use := range flow.Direct(result.Uses) {
		if use.Kind != flow.Start {
			continue
		}
		name, at, ok := backend(&use.Sink, names)
		if !ok {
			continue
		}
		if use.From != nil {
			if _, _, reported := backend(use.From, names); reported {
				continue
			}
		}
		f := finding{use.Pos, name}
		if use.Round() && reported[f] {
			continue // the same, another time round
		}
		reported[f] = true
		d := analysis.Diagnostic{Pos: use.Pos, Message: fmt.Sprintf(
			"starts the sandbox backend's program %q outside the seam (%s); launch through the seam instead", name, use.Chain())}
		d.Related = result.Related(use.Via)
		if at.Pos().IsValid() && pass.Fset.Position(at.Pos()) != pass.Fset.Position(use.Pos) {
			d.Related = append(d.Related, analysis.RelatedInformation{Pos: at.Pos(), Message: fmt.Sprintf("%q comes from here", name)})
		}
		pass.Report(d)
	}
	return nil, nil
}

// backend returns the first of names that the sink may start.
func backend(s *flow.Sink, names []string) (string, flow.Alt, bool) {
	for _, a := range s.Vals[flow.StartPath] {
		if base, ok := a.BaseName(); ok && slices.Contains(names, base) {
			return base, a, true
		}
	}
	for _, c := range argv.Commands(s.Vals[flow.StartArgv]) {
		if len(c.Via) > 0 && slices.Contains(names, c.Name) {
			return c.Name, c.Prog, true
		}
	}
	return "", flow.Alt{}, false
}
