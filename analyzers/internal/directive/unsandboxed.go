package directive

import (
	"go/ast"
	"go/constant"

	"golang.org/x/tools/go/analysis"
)

// isolatesNothing reports whether the package, a backend, describes itself as one that isolates nothing: a composite literal of a type
// Description says Unsandboxed. Of a backend without such a literal the package's name tells: local is what the seam calls it.
func isolatesNothing(pass *analysis.Pass) bool {
	described, unsandboxed := false, false
	for _, file := range pass.Files {
		ast.Inspect(file, func(n ast.Node) bool {
			lit, ok := n.(*ast.CompositeLit)
			if !ok || !isDescription(lit.Type) {
				return true
			}
			described = true
			for _, e := range lit.Elts {
				kv, ok := e.(*ast.KeyValueExpr)
				if !ok {
					continue
				}
				if key, ok := kv.Key.(*ast.Ident); ok && key.Name == "Unsandboxed" {
					v := pass.TypesInfo.Types[kv.Value].Value
					unsandboxed = unsandboxed || v != nil && v.Kind() == constant.Bool && constant.BoolVal(v)
				}
			}
			return true
		})
	}
	if !described {
		return pass.Pkg.Name() == "local"
	}
	return unsandboxed
}

func isDescription(t ast.Expr) bool {
	switch t := t.(type) {
	case *ast.Ident:
		return t.Name == "Description"
	case *ast.SelectorExpr:
		return t.Sel.Name == "Description"
	}
	return false
}
