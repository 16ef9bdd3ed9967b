package flow

import (
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// sinkImports are the packages through which a package can be a source of sinks or effects by itself.
var sinkImports = []string{"os/exec", "syscall", "golang.org/x/sys/unix", "golang.org/x/sys/windows", "golang.org/x/sys/execabs"}

// concerned reports whether anything in the package can matter: it can start a program itself, imports something with a summary, or
// holds a constant that could be part of a command. Packages of the module under analysis always are, since they are few and what passes
// values through has none of these marks.
func (r *Result) concerned() bool {
	pass := r.pass
	if pass.Module == nil || pass.Module.Version == "" {
		return true
	}
	for _, p := range pass.Pkg.Imports() {
		if slices.Contains(sinkImports, p.Path()) {
			return true
		}
	}
	if len(r.objects) > 0 || len(r.hidden) > 0 || r.Directives.Package.Backend || r.Directives.Package.Seam != "" {
		return true
	}
	for _, f := range pass.Files {
		found := false
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ImportSpec:
				return false
			case *ast.BasicLit:
				if n.Kind == token.STRING && len(n.Value) < 200 {
					if s, err := strconv.Unquote(n.Value); err == nil && InterestingWord(s) && !strings.HasPrefix(s, "-") {
						found = true
					}
				}
			case *ast.SelectorExpr:
				if n.Sel.Name == "StartProcess" {
					found = true
				}
			}
			return !found
		})
		if found {
			return true
		}
	}
	return false
}
