package backendexec

import (
	"fmt"
	"go/ast"
	"go/types"

	"github.com/sbxkit/sbxkit/analyzers/internal/rule"
	"golang.org/x/tools/go/analysis"
)

// clients reports the use of functions and methods of an engine's client library: calls, method values and function values. A type
// name alone is no use.
func clients(pass *analysis.Pass) {
	concerned := false
	for _, p := range pass.Pkg.Imports() {
		concerned = concerned || rule.EngineClient(pass, p.Path())
	}
	if !concerned || rule.EngineClient(pass, pass.Pkg.Path()) {
		return
	}
	for _, file := range pass.Files {
		ast.Inspect(file, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			fn, ok := pass.TypesInfo.Uses[id].(*types.Func)
			if !ok || fn.Pkg() == nil || !rule.EngineClient(pass, fn.Pkg().Path()) || !talks(fn) {
				return true
			}
			pass.Report(analysis.Diagnostic{
				Pos: id.Pos(),
				End: id.End(),
				Message: fmt.Sprintf("uses the container engine's client outside the seam (%s.%s); launch through the seam instead",
					fn.Pkg().Name(), fn.Name()),
			})
			return true
		})
	}
}

// talks reports whether fn makes a client or speaks to the engine, as opposed to an option or a look at an error.
func talks(fn *types.Func) bool {
	sig := fn.Signature()
	if sig.Recv() != nil {
		// Every method that can fail may speak to the engine.
		return returnsError(sig) || firstIsContext(sig)
	}
	return returnsError(sig) || firstIsContext(sig)
}

func returnsError(sig *types.Signature) bool {
	n := sig.Results().Len()
	return n > 1 && types.TypeString(sig.Results().At(n-1).Type(), nil) == "error"
}

func firstIsContext(sig *types.Signature) bool {
	return sig.Params().Len() > 0 && types.TypeString(sig.Params().At(0).Type(), nil) == "context.Context"
}
