package unit

import (
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/sbxkit/sbxkit/analyzers/internal/flow"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/gcexportdata"
)

// A Result is what the analysis of a unit found.
type Result struct {
	Fset  *token.FileSet
	Files []*ast.File

	// Diagnostics are the findings by analyzer, in the order of the analyzers, each list in the order reported.
	Diagnostics []Diagnostics
}

// Diagnostics are the findings of one analyzer.
type Diagnostics struct {
	Analyzer *analysis.Analyzer
	List     []analysis.Diagnostic
}

// Run analyses the unit and writes its facts to cfg.VetxOutput.
func Run(cfg *Config, analyzers []*analysis.Analyzer) (*Result, error) {
	result := &Result{Fset: token.NewFileSet()}
	if cfg.Standard() {
		return result, cfg.WriteFacts(nil)
	}
	entries, err := readEntries(cfg.PackageVetx)
	if err != nil {
		return nil, err
	}
	sources := make([][]byte, len(cfg.GoFiles))
	for i, name := range cfg.GoFiles {
		if sources[i], err = os.ReadFile(name); err != nil {
			return nil, fmt.Errorf("reading source: %w", err)
		}
	}
	if len(entries) == 0 && !cfg.Main() && !flow.MayMatter(sources) {
		return result, cfg.WriteFacts(nil)
	}
	p, err := load(cfg, result.Fset, sources)
	if err != nil {
		return nil, err
	}
	result.Files = p.files
	registerFacts(analyzers)
	facts, err := newFactSet(p.pkg, p.imports, entries)
	if err != nil {
		return nil, err
	}
	// The go command keeps the answer under a key that leaves out whether only facts were wanted, and which tests there are. Only a variant of a
	// package made for another's test is never asked for by itself.
	report := !cfg.VetxOnly || cfg.Main() && !strings.Contains(cfg.ID, " [")
	if err := p.analyse(cfg, facts, analyzers, report, result); err != nil {
		return nil, err
	}
	data, err := facts.encode()
	if err != nil {
		return nil, err
	}
	return result, cfg.WriteFacts(data)
}

// A loaded is a unit with types.
type loaded struct {
	fset    *token.FileSet
	files   []*ast.File
	pkg     *types.Package
	info    *types.Info
	sizes   types.Sizes
	imports map[string]*types.Package
}

// load parses and type-checks the unit.
func load(cfg *Config, fset *token.FileSet, sources [][]byte) (*loaded, error) {
	p := &loaded{fset: fset, imports: make(map[string]*types.Package)}
	for i, name := range cfg.GoFiles {
		f, err := parser.ParseFile(fset, name, sources[i], parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		p.files = append(p.files, f)
	}
	compiler := cfg.Compiler
	if compiler == "" {
		compiler = "gc"
	}
	p.sizes = types.SizesFor(compiler, build.Default.GOARCH)
	tc := &types.Config{
		Importer:  importerFunc(func(path string) (*types.Package, error) { return p.importPackage(cfg, path) }),
		Sizes:     p.sizes,
		GoVersion: cfg.GoVersion,
	}
	p.info = &types.Info{
		Types:        make(map[ast.Expr]types.TypeAndValue),
		Defs:         make(map[*ast.Ident]types.Object),
		Uses:         make(map[*ast.Ident]types.Object),
		Implicits:    make(map[ast.Node]types.Object),
		Instances:    make(map[*ast.Ident]types.Instance),
		Scopes:       make(map[ast.Node]*types.Scope),
		Selections:   make(map[*ast.SelectorExpr]*types.Selection),
		FileVersions: make(map[*ast.File]string),
	}
	pkg, err := tc.Check(cfg.ImportPath, fset, p.files, p.info)
	if err != nil {
		return nil, fmt.Errorf("%w (sbxvet analyses only code that compiles)", err)
	}
	p.pkg = pkg
	return p, nil
}

type importerFunc func(path string) (*types.Package, error)

func (f importerFunc) Import(path string) (*types.Package, error) { return f(path) }

func (p *loaded) importPackage(cfg *Config, source string) (*types.Package, error) {
	path, ok := cfg.ImportMap[source]
	if !ok {
		return nil, fmt.Errorf("the go command did not say what %q imports", source)
	}
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	if pkg := p.imports[path]; pkg != nil && pkg.Complete() {
		return pkg, nil
	}
	name, ok := cfg.PackageFile[path]
	if !ok {
		return nil, fmt.Errorf("the go command gave no export data for %q: it is newer than this sbxvet; rebuild sbxvet with the toolchain in use", path)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // read only
	//lint:ignore SA1019 the go command of this release still writes archives; a newer one is refused before this
	r, err := gcexportdata.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("reading the export data of %q: %w", path, err)
	}
	pkg, err := gcexportdata.Read(r, p.fset, p.imports, path)
	if err != nil {
		return nil, fmt.Errorf("the export data of %q cannot be read, most likely because a newer toolchain wrote it: rebuild sbxvet with it: %w", path, err)
	}
	return pkg, nil
}

// analyse runs the analyzers that are needed, each after those it requires.
func (p *loaded) analyse(cfg *Config, facts *factSet, analyzers []*analysis.Analyzer, report bool, result *Result) error {
	if !report {
		// Only what has facts, and what that requires.
		analyzers = factMakers(analyzers)
	}
	results := make(map[*analysis.Analyzer]any)
	found := make(map[*analysis.Analyzer][]analysis.Diagnostic)
	var errs []error
	var exec func(a *analysis.Analyzer) bool
	failed := make(map[*analysis.Analyzer]bool)
	exec = func(a *analysis.Analyzer) bool {
		if _, done := results[a]; done {
			return true
		}
		if failed[a] {
			return false
		}
		inputs := make(map[*analysis.Analyzer]any)
		for _, r := range a.Requires {
			if !exec(r) {
				failed[a] = true
				return false
			}
			inputs[r] = results[r]
		}
		kinds := make(map[reflect.Type]bool)
		for _, f := range a.FactTypes {
			kinds[reflect.TypeOf(f)] = true
		}
		pass := &analysis.Pass{
			Analyzer: a, Fset: p.fset, Files: p.files, OtherFiles: cfg.NonGoFiles, IgnoredFiles: cfg.IgnoredFiles,
			Pkg: p.pkg, TypesInfo: p.info, TypesSizes: p.sizes, Module: cfg.Module, ResultOf: inputs,
			Report:   func(d analysis.Diagnostic) { found[a] = append(found[a], d) },
			ReadFile: os.ReadFile,

			ImportObjectFact: facts.importObject, ExportObjectFact: facts.exportObject,
			ImportPackageFact: facts.importPackage, ExportPackageFact: facts.exportPackage,
			AllObjectFacts:  func() []analysis.ObjectFact { return facts.allObjects(kinds) },
			AllPackageFacts: func() []analysis.PackageFact { return facts.allPackages(kinds) },
		}
		value, err := guarded(a, pass)
		if err != nil {
			failed[a] = true
			errs = append(errs, fmt.Errorf("%s: %w", a.Name, err))
			return false
		}
		results[a] = value
		return true
	}
	for _, a := range analyzers {
		exec(a)
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	if !report {
		return nil
	}
	for _, a := range analyzers {
		list := found[a]
		for i := range list {
			if list[i].URL == "" {
				list[i].URL = a.URL
			}
		}
		if len(list) > 0 {
			result.Diagnostics = append(result.Diagnostics, Diagnostics{a, list})
		}
	}
	return nil
}

// guarded runs the analyzer and makes an error of a panic: a rule that breaks on some code must say on which.
func guarded(a *analysis.Analyzer, pass *analysis.Pass) (value any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("internal error on package %s: %v; please report it with this trace:\n%s", pass.Pkg.Path(), p, debug.Stack())
		}
	}()
	return a.Run(pass)
}

// factMakers returns the analyzers with facts below the given ones.
func factMakers(analyzers []*analysis.Analyzer) []*analysis.Analyzer {
	var out []*analysis.Analyzer
	seen := make(map[*analysis.Analyzer]bool)
	var visit func(a *analysis.Analyzer)
	visit = func(a *analysis.Analyzer) {
		if seen[a] {
			return
		}
		seen[a] = true
		for _, r := range a.Requires {
			visit(r)
		}
		if len(a.FactTypes) > 0 && !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	for _, a := range analyzers {
		visit(a)
	}
	return out
}
