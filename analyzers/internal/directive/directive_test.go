package directive

import (
	"go/ast"
	"go/types"
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]Comment{
		"//sbx:backend":                        {Verb: "backend"},
		"//sbx:seam  wires backends ":          {Verb: "seam", Args: "wires backends"},
		"//sbx:allow rawshell the user's hook": {Verb: "allow", Args: "rawshell the user's hook"},
		"//sbx:allow rawshell x // want `y`":   {Verb: "allow", Args: "rawshell x"},
		"//sbx:":                               {},
	} {
		got, ok := Parse(&ast.Comment{Text: text})
		got.Pos, got.End = 0, 0
		if !ok || got != want {
			t.Errorf("%q: got %+v, %v; want %+v", text, got, ok, want)
		}
	}
	for _, text := range []string{"// sbx:backend", "//SBX:backend", "/*sbx:backend*/", "//go:build x", "//sbxbackend", " //sbx:backend"} {
		if got, ok := Parse(&ast.Comment{Text: text}); ok {
			t.Errorf("%q is a directive: %+v", text, got)
		}
	}
}

// TestFacts checks by the facts' texts what packages and objects are, in the package and from another.
func TestFacts(t *testing.T) {
	results := analysistest.Run(t, analysistest.TestData(), Analyzer, "backend", "local", "named", "plainlocal", "seam", "primitives", "inside", "noreason", "objects", "user", "standard")
	index := make(map[string]*Index)
	for _, r := range results {
		index[r.Pass.Pkg.Path()] = r.Result.(*Index)
	}
	for path, outside := range map[string]bool{
		"backend": false, "local": false, "seam": false, "primitives": false, "inside": true, "noreason": true, "objects": true, "user": true,
	} {
		if got := index[path].Outside(); got != outside {
			t.Errorf("%s: outside is %v", path, got)
		}
	}

	// What user sees of the packages it imports.
	x := index["user"]
	imports := make(map[string]*types.Package)
	for _, p := range x.pass.Pkg.Imports() {
		imports[p.Path()] = p
	}
	if f := x.PackageOf(imports["local"]); !f.Backend || !f.Unsandboxed {
		t.Errorf("local is %+v", f)
	}
	if f := x.PackageOf(nil); f != (PackageFact{}) {
		t.Errorf("no package is %+v", f)
	}
	objects := imports["objects"]
	if !x.Launches(objects) || x.Launches(imports["local"]) || x.Launches(nil) {
		t.Error("the package that declares the lifecycle is not told from others")
	}
	for name, want := range map[string]ObjectFact{
		"Launch": {Launch: true}, "Run": {Launch: true}, "Hook": {Liveness: true}, "Both": {Launch: true, Inside: true}, "Grouped": {Liveness: true},
		"Plain": {}, "Generic": {Launch: true}, "Ready": {Liveness: true},
	} {
		if got := x.Object(objects.Scope().Lookup(name)); got != want {
			t.Errorf("%s is %+v, want %+v", name, got, want)
		}
	}
	// A pointer, an alias and an instance are what their type is.
	for _, name := range []string{"pointer", "alias", "instance"} {
		if f := x.Type(x.pass.Pkg.Scope().Lookup(name).Type()); !f.Launch {
			t.Errorf("the type of %s is %+v", name, f)
		}
	}
	if f := x.Type(types.Typ[types.Int]); f != (ObjectFact{}) {
		t.Errorf("int is %+v", f)
	}
	if f := x.Object(nil); f != (ObjectFact{}) {
		t.Errorf("no object is %+v", f)
	}
	if f := x.Object(types.Universe.Lookup("error")); f != (ObjectFact{}) {
		t.Errorf("error is %+v", f)
	}
	// Methods and fields carry facts, too.
	st := objects.Scope().Lookup("Fields").Type().Underlying().(*types.Struct)
	if f := x.Object(st.Field(0)); !f.Liveness {
		t.Errorf("the marked field is %+v", f)
	}
	if f := x.Object(st.Field(1)); f != (ObjectFact{}) {
		t.Errorf("the other field is %+v", f)
	}
}

func TestStandardPath(t *testing.T) {
	for path, want := range map[string]bool{
		"os": true, "os/exec": true, "vendor/golang.org/x/net": true, "internal/abi": true, "golang.org/x/sys/unix": false, "example.com/os": false, "backend": false, "osx": false,
	} {
		if got := StandardPath(path); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
}
