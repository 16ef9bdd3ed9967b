package directive

import (
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// Prefix starts every directive.
const Prefix = "//sbx:"

// The verbs a directive may have.
const (
	Backend    = "backend"
	Primitives = "primitives"
	Seam       = "seam"
	Inside     = "inside"
	Launch     = "launch"
	Liveness   = "liveness"
	Allow      = "allow"
)

// Analyzer reads the directives of a package and publishes them as facts. Its result is an *Index.
var Analyzer = &analysis.Analyzer{
	Name:       "sbxdirective",
	Doc:        "read the //sbx: directives of a package",
	Run:        run,
	ResultType: reflect.TypeFor[*Index](),
	FactTypes:  []analysis.Fact{new(PackageFact), new(ObjectFact)},
}

// A PackageFact says what a package is.
type PackageFact struct {
	Backend    bool
	Primitives bool
	Seam       string // the reason; empty when the package is no seam
	Inside     bool

	// Unsandboxed says that the backend isolates nothing: its description says so, or, where a backend has none, its name is local.
	Unsandboxed bool
}

// AFact marks the type as a fact.
func (*PackageFact) AFact() {}

func (f *PackageFact) String() string {
	var words []string
	if f.Backend {
		words = append(words, Backend)
	}
	if f.Primitives {
		words = append(words, Primitives)
	}
	if f.Seam != "" {
		words = append(words, Seam)
	}
	if f.Inside {
		words = append(words, Inside)
	}
	if f.Unsandboxed {
		words = append(words, "unsandboxed")
	}
	return strings.Join(words, " ")
}

// An ObjectFact says what a type or function is to the seam.
type ObjectFact struct {
	Launch   bool
	Liveness bool
	Inside   bool
}

// AFact marks the type as a fact.
func (*ObjectFact) AFact() {}

func (f *ObjectFact) String() string {
	var words []string
	if f.Launch {
		words = append(words, Launch)
	}
	if f.Liveness {
		words = append(words, Liveness)
	}
	if f.Inside {
		words = append(words, Inside)
	}
	return strings.Join(words, " ")
}

// A Comment is one directive as written.
type Comment struct {
	Verb string
	Args string // what follows the verb, spaces trimmed
	Pos  token.Pos
	End  token.Pos
}

// An Index answers what packages and objects are, for the package of one pass and everything it imports.
// It is read-only once the analyzer has run and safe for concurrent use.
type Index struct {
	// Package is the directive set of the package itself.
	Package PackageFact

	// Comments are all directives of the package's files, in file order.
	Comments []Comment

	objects map[types.Object]*ObjectFact
	pass    *analysis.Pass
}

// PackageOf returns the directives of pkg; the zero value when it carries none.
func (x *Index) PackageOf(pkg *types.Package) PackageFact {
	var fact PackageFact
	if pkg == nil {
		return fact
	}
	if pkg == x.pass.Pkg {
		return x.Package
	}
	x.pass.ImportPackageFact(pkg, &fact)
	return fact
}

// Object returns the directives of obj, which may belong to any package; the zero value when it carries none.
// For an instance of a generic type or function the generic object answers.
func (x *Index) Object(obj types.Object) ObjectFact {
	switch o := obj.(type) {
	case nil:
		return ObjectFact{}
	case *types.Func:
		obj = o.Origin()
	case *types.Var:
		obj = o.Origin()
	}
	if obj.Pkg() == nil {
		return ObjectFact{}
	}
	if obj.Pkg() == x.pass.Pkg {
		if fact := x.objects[obj]; fact != nil {
			return *fact
		}
		return ObjectFact{}
	}
	var fact ObjectFact
	x.pass.ImportObjectFact(obj, &fact)
	return fact
}

// Type returns the directives of the named type that t is, or points to.
func (x *Index) Type(t types.Type) ObjectFact {
	t = types.Unalias(t)
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	if named, ok := t.(*types.Named); ok {
		return x.Object(named.Origin().Obj())
	}
	return ObjectFact{}
}

// Launches reports whether pkg is where the lifecycle is declared: it has a type marked //sbx:launch.
func (x *Index) Launches(pkg *types.Package) bool {
	if pkg == nil || StandardPath(pkg.Path()) {
		return false
	}
	for _, name := range pkg.Scope().Names() {
		if tn, ok := pkg.Scope().Lookup(name).(*types.TypeName); ok && x.Object(tn).Launch {
			return true
		}
	}
	return false
}

// Outside reports whether the package of the pass is neither a backend, nor primitives, nor a seam package, nor the external test
// of one.
func (x *Index) Outside() bool {
	outside := func(f PackageFact) bool { return !f.Backend && !f.Primitives && f.Seam == "" }
	if !outside(x.Package) {
		return false
	}
	if tested, ok := strings.CutSuffix(x.pass.Pkg.Path(), "_test"); ok {
		for _, p := range x.pass.Pkg.Imports() {
			if p.Path() == tested {
				return outside(x.PackageOf(p))
			}
		}
	}
	return true
}

func run(pass *analysis.Pass) (any, error) {
	x := &Index{pass: pass, objects: make(map[types.Object]*ObjectFact)}
	if Standard(pass) {
		return x, nil
	}
	for _, file := range pass.Files {
		for _, group := range file.Comments {
			for _, c := range group.List {
				if d, ok := Parse(c); ok {
					x.Comments = append(x.Comments, d)
				}
			}
		}
		x.packageDoc(file)
		for _, decl := range file.Decls {
			x.declaration(decl)
		}
	}
	if x.Package.Backend {
		x.Package.Unsandboxed = isolatesNothing(pass)
	}
	if x.Package != (PackageFact{}) {
		fact := x.Package
		pass.ExportPackageFact(&fact)
	}
	return x, nil
}

// Parse returns the directive that c is, if it is one.
func Parse(c *ast.Comment) (Comment, bool) {
	rest, ok := strings.CutPrefix(c.Text, Prefix)
	if !ok {
		return Comment{}, false
	}
	// What an analysis test expects stands in the same comment.
	rest, _, _ = strings.Cut(rest, "// want")
	verb, args, _ := strings.Cut(strings.TrimSpace(rest), " ")
	return Comment{Verb: verb, Args: strings.TrimSpace(args), Pos: c.Pos(), End: c.End()}, true
}

// packageDoc reads the directives above the package clause. They need not belong to the doc comment: the conventional
// place is a paragraph of its own, which a blank line may set apart.
func (x *Index) packageDoc(file *ast.File) {
	for _, group := range file.Comments {
		if group.Pos() > file.Package {
			break
		}
		for _, c := range group.List {
			d, ok := Parse(c)
			if !ok {
				continue
			}
			switch d.Verb {
			case Backend:
				x.Package.Backend = true
			case Primitives:
				x.Package.Primitives = true
			case Seam:
				// Without a reason it does not count; rule.Allow reports it.
				x.Package.Seam = d.Args
			case Inside:
				x.Package.Inside = true
			}
		}
	}
}

func (x *Index) declaration(decl ast.Decl) {
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		x.mark(decl.Name, decl.Doc)
	case *ast.GenDecl:
		for _, spec := range decl.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				x.mark(spec.Name, decl.Doc, spec.Doc)
				if iface, ok := spec.Type.(*ast.InterfaceType); ok {
					for _, m := range iface.Methods.List {
						for _, name := range m.Names {
							x.mark(name, m.Doc)
						}
					}
				}
				if st, ok := spec.Type.(*ast.StructType); ok {
					for _, f := range st.Fields.List {
						for _, name := range f.Names {
							x.mark(name, f.Doc)
						}
					}
				}
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					x.mark(name, decl.Doc, spec.Doc)
				}
			}
		}
	}
}

func (x *Index) mark(name *ast.Ident, docs ...*ast.CommentGroup) {
	var fact ObjectFact
	for _, doc := range docs {
		if doc == nil {
			continue
		}
		for _, c := range doc.List {
			d, ok := Parse(c)
			if !ok {
				continue
			}
			switch d.Verb {
			case Launch:
				fact.Launch = true
			case Liveness:
				fact.Liveness = true
			case Inside:
				fact.Inside = true
			}
		}
	}
	if fact == (ObjectFact{}) {
		return
	}
	obj := x.pass.TypesInfo.Defs[name]
	if obj == nil {
		return
	}
	x.objects[obj] = &fact
	x.pass.ExportObjectFact(obj, &fact)
}
