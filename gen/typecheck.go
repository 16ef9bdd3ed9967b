package gen

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/sbxkit/sbxkit/spec"
)

// importPaths are all packages that generated code may import.
var importPaths = []string{
	"context", "strconv", "testing", "time", runtimePath, processPath, enginePath, scriptPath, sbxtestPath,
}

// rooms gives the primitives room a kind stands on.
var rooms = map[spec.Kind]string{
	spec.KindProcess: processPath,
	spec.KindEngine:  enginePath,
	spec.KindScript:  scriptPath,
}

// importsOf are the packages that the code of these specs imports: a module without an engine backend need not have an engine's client.
func importsOf(specs []*spec.Backend) []string {
	need := []string{"context", "strconv", "testing", "time", runtimePath, sbxtestPath}
	seen := map[string]bool{}
	for _, s := range specs {
		if room := rooms[s.Kind]; room != "" && !seen[room] {
			seen[room] = true
			need = append(need, room)
		}
	}
	return need
}

// imports are the types of packages as the target module resolves them.
type imports struct {
	types map[string]*types.Package
	sizes types.Sizes
}

// Import makes imports a types.Importer.
func (im *imports) Import(importPath string) (*types.Package, error) {
	if p := im.types[importPath]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("generated code imports %s, which it should not", importPath)
}

// loadImports loads packages in the target module. It reads only what generated code stands on, never generated code: that may be absent
// or broken.
func loadImports(ctx context.Context, module string, paths []string) (*imports, error) {
	loaded, err := packages.Load(&packages.Config{
		Context: ctx,
		Dir:     module,
		Mode:    packages.NeedName | packages.NeedImports | packages.NeedTypes | packages.NeedTypesSizes | packages.NeedExportFile,
	}, paths...)
	if err != nil {
		return nil, fmt.Errorf("loading what generated code imports, in %s: %w", module, err)
	}
	im := &imports{types: make(map[string]*types.Package, len(loaded))}
	var failed []error
	for _, p := range loaded {
		for _, e := range p.Errors {
			failed = append(failed, e)
		}
		im.types[p.PkgPath], im.sizes = p.Types, p.TypesSizes
	}
	if len(failed) != 0 {
		return nil, fmt.Errorf("loading what generated code imports, in %s (is %s in its go.mod?): %w", module, modulePath, errors.Join(failed...))
	}
	return im, nil
}

// check parses and type-checks the Go files of a package, tests included, against the target module's packages.
func (im *imports) check(p Package) error {
	files := token.NewFileSet()
	var parsed []*ast.File
	for _, f := range p.Files {
		if !strings.HasSuffix(f.Name, ".go") {
			continue
		}
		file, err := parser.ParseFile(files, path.Join(p.Dir, f.Name), f.Content, parser.SkipObjectResolution)
		if err != nil {
			return fmt.Errorf("parsing: %w", err)
		}
		parsed = append(parsed, file)
	}
	var failed []error
	conf := types.Config{Importer: im, Sizes: im.sizes, Error: func(err error) { failed = append(failed, err) }}
	if _, err := conf.Check(p.Dir, files, parsed, nil); err != nil && len(failed) == 0 {
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}
