package backendimport

import (
	_ "embed"
	"go/ast"
	"go/types"
	"strconv"
	"strings"

	"github.com/sbxkit/sbxkit/analyzers/internal/directive"
	"github.com/sbxkit/sbxkit/analyzers/internal/rule"
	"golang.org/x/tools/go/analysis"
)

//go:embed doc.go
var doc string

// Analyzer is the backendimport rule.
var Analyzer = rule.New(&analysis.Analyzer{
	Name:     "backendimport",
	Doc:      rule.Doc(doc),
	Run:      run,
	Requires: []*analysis.Analyzer{directive.Analyzer},
})

// run reports each import of a backend or primitives package in a file that is not generated, unless the package is a seam, a
// backend or a primitives room itself, or the external test of one.
func run(pass *analysis.Pass) (any, error) {
	index := pass.ResultOf[directive.Analyzer].(*directive.Index)
	if !index.Outside() {
		return nil, nil
	}
	for _, file := range pass.Files {
		if ast.IsGenerated(file) {
			continue
		}
		for _, spec := range file.Imports {
			pkg := imported(pass, spec)
			if pkg == nil {
				continue
			}
			what := ""
			switch fact := index.PackageOf(pkg); {
			case fact.Backend:
				what = "sandbox backend"
			case fact.Primitives:
				what = "backend primitives"
			default:
				continue
			}
			pass.Report(analysis.Diagnostic{
				Pos: spec.Pos(),
				End: spec.End(),
				Message: "import of " + what + " " + strconv.Quote(strings.TrimPrefix(pkg.Path(), "vendor/")) +
					" outside the seam; take a sandbox as a value, or mark the package that wires backends with //sbx:seam <reason>",
			})
		}
	}
	return nil, nil
}

// imported returns the package that spec imports.
func imported(pass *analysis.Pass, spec *ast.ImportSpec) *types.Package {
	if name := pass.TypesInfo.PkgNameOf(spec); name != nil {
		return name.Imported()
	}
	return nil
}
