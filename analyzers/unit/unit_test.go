package unit

import (
	"bytes"
	"errors"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
)

func file(t *testing.T, name, text string) string {
	t.Helper()
	name = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestReadConfig(t *testing.T) {
	cfg, err := ReadConfig(file(t, "vet.cfg", `{"ID": "m", "ImportPath": "m/p", "ModulePath": "m", "GoVersion": "go1.20", "GoFiles": ["a.go"]}`))
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Module == nil || cfg.Module.Path != "m" || !cfg.Main() || cfg.Standard() {
		t.Errorf("got %+v", cfg)
	}
	newer, err := ReadConfig(file(t, "vet.cfg", `{"ImportPath": "m/p", "Module": {"Path": "m", "Version": "v1.0.0"}}`))
	if err != nil {
		t.Fatal(err)
	}
	if newer.ModulePath != "m" || newer.ModuleVersion != "v1.0.0" || newer.Main() {
		t.Errorf("the module of a newer go command is %+v", newer)
	}
	if _, err := ReadConfig(filepath.Join(t.TempDir(), "absent.cfg")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent: %v", err)
	}
	if _, err := ReadConfig(file(t, "vet.cfg", "{")); err == nil || !strings.Contains(err.Error(), "vet.cfg") {
		t.Errorf("broken: %v", err)
	}
	if _, err := ReadConfig(file(t, "vet.cfg", `{"ImportPath": "m/p", "GoVersion": "go1.999"}`)); err == nil || !strings.Contains(err.Error(), "m/p: needs go1.999") {
		t.Errorf("too new: %v", err)
	}
}

func TestCheckToolchain(t *testing.T) {
	for version, ok := range map[string]bool{"": true, "go1.1": true, runtime.Version(): true, "go1.999": false, "go1.999.3": false, "nonsense": true} {
		if err := CheckToolchain(version); (err == nil) != ok {
			t.Errorf("%q: %v", version, err)
		}
	}
}

func TestWhichUnitsAreWhat(t *testing.T) {
	for _, tt := range []struct {
		cfg            Config
		main, standard bool
	}{
		{Config{ImportPath: "fmt"}, true, true},
		{Config{ImportPath: "fmt", VetxOnly: true}, false, true},
		{Config{ImportPath: "cmd/go", ModulePath: "cmd"}, true, true},
		{Config{ImportPath: "command-line-arguments"}, true, false},
		{Config{ImportPath: "m/p", ModulePath: "m"}, true, false},
		{Config{ImportPath: "os", ModulePath: "m", ModuleVersion: "v1.0.0"}, false, false},
	} {
		if tt.cfg.Main() != tt.main || tt.cfg.Standard() != tt.standard {
			t.Errorf("%+v: main %v, standard %v", tt.cfg, tt.cfg.Main(), tt.cfg.Standard())
		}
	}
}

type noteFact struct{ Text string }

func (*noteFact) AFact()           {}
func (f *noteFact) String() string { return f.Text }

// A codedFact encodes itself.
type codedFact struct{ text string }

func (*codedFact) AFact()                        {}
func (f *codedFact) GobEncode() ([]byte, error)  { return []byte(f.text), nil }
func (f *codedFact) GobDecode(data []byte) error { f.text = string(data); return nil }

// packageWith makes a package with an exported function, an unexported one and a type with a field and a method.
func packageWith(path string) *types.Package {
	pkg := types.NewPackage(path, filepath.Base(path))
	sig := types.NewSignatureType(nil, nil, nil, nil, nil, false)
	for _, name := range []string{"F", "hidden"} {
		pkg.Scope().Insert(types.NewFunc(token.NoPos, pkg, name, sig))
	}
	field := types.NewField(token.NoPos, pkg, "Field", types.Typ[types.String], false)
	named := types.NewNamed(types.NewTypeName(token.NoPos, pkg, "T", nil), types.NewStruct([]*types.Var{field}, nil), nil)
	named.AddMethod(types.NewFunc(token.NoPos, pkg, "M", types.NewSignatureType(types.NewVar(token.NoPos, pkg, "t", named), nil, nil, nil, nil, false)))
	pkg.Scope().Insert(named.Obj())
	return pkg
}

func objectsOf(pkg *types.Package) map[string]types.Object {
	t := pkg.Scope().Lookup("T").Type().(*types.Named)
	return map[string]types.Object{
		"F": pkg.Scope().Lookup("F"), "T": t.Obj(), "Field": t.Underlying().(*types.Struct).Field(0), "M": t.Method(0),
	}
}

// TestFactsTravel writes the facts of a package and reads them for another, which sees its own types for the same objects, and so on.
func TestFactsTravel(t *testing.T) {
	registerFacts([]*analysis.Analyzer{{Name: "note", FactTypes: []analysis.Fact{new(noteFact), new(codedFact)}}})
	dep := packageWith("example.com/dep")
	s, err := newFactSet(dep, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, obj := range objectsOf(dep) {
		s.exportObject(obj, &noteFact{"of " + name})
		s.exportObject(obj, &codedFact{"coded of " + name})
	}
	s.exportPackage(&noteFact{"of the package"})
	first, err := s.encode()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := s.encode(); err != nil || !bytes.Equal(first, again) {
		t.Error("the same facts are written in two ways")
	}

	seen := packageWith("example.com/dep")
	entries, err := readEntries(map[string]string{"example.com/dep": file(t, "dep.vetx", string(first)), "example.com/none": file(t, "none.vetx", "")})
	if err != nil || len(entries) != 1 {
		t.Fatalf("entries %v, %v", entries, err)
	}
	top := packageWith("example.com/top")
	u, err := newFactSet(top, map[string]*types.Package{"example.com/dep": seen}, entries)
	if err != nil {
		t.Fatal(err)
	}
	for name, obj := range objectsOf(seen) {
		var f noteFact
		if !u.importObject(obj, &f) || f.Text != "of "+name {
			t.Errorf("%s: %q", name, f.Text)
		}
		var c codedFact
		if !u.importObject(obj, &c) || c.text != "coded of "+name {
			t.Errorf("%s: %q", name, c.text)
		}
	}
	var f noteFact
	if !u.importPackage(seen, &f) || f.Text != "of the package" {
		t.Errorf("the package: %q", f.Text)
	}
	if u.importObject(seen.Scope().Lookup("hidden"), &f) || u.importPackage(top, &f) {
		t.Error("there are facts that nobody made")
	}
	kinds := map[reflect.Type]bool{reflect.TypeFor[*noteFact](): true}
	if n := len(u.allObjects(kinds)); n != 4 {
		t.Errorf("%d facts about objects", n)
	}
	if n := len(u.allPackages(kinds)); n != 1 {
		t.Errorf("%d facts about packages", n)
	}
	if n := len(u.allObjects(nil)); n != 0 {
		t.Errorf("%d facts of no kind", n)
	}

	// A file that is cut anywhere, or has more in it, is no smaller file.
	for n := range len(first) + 1 {
		cut := append(first[:n:n], 0)
		if n < len(first) {
			cut = first[:n]
		}
		if n == 0 {
			continue // nothing is known of the package
		}
		entries, err := readEntries(map[string]string{"example.com/dep": file(t, "dep.vetx", string(cut))})
		if err == nil {
			t.Errorf("%d of %d bytes are read as %q", n, len(first), entries)
		}
	}

	// Importers of top get dep's facts from it, also without importing dep.
	u.exportPackage(&noteFact{"of top"})
	second, err := u.encode()
	if err != nil {
		t.Fatal(err)
	}
	entries, err = readEntries(map[string]string{"example.com/top": file(t, "top.vetx", string(second))})
	if err != nil || len(entries) != 2 || entries[0].Path != "example.com/dep" || entries[1].Path != "example.com/top" {
		t.Errorf("entries %v, %v", entries, err)
	}
}

func TestAFactAboutAnotherPackageIsABug(t *testing.T) {
	s, err := newFactSet(packageWith("a"), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if recover() == nil {
			t.Error("it was taken")
		}
	}()
	s.exportObject(packageWith("b").Scope().Lookup("F"), &noteFact{})
}

func TestFactsOfAnotherTool(t *testing.T) {
	for name, text := range map[string]string{"another tool": "vet facts", "cut": magic + "x"} {
		if _, err := readEntries(map[string]string{"p": file(t, "p.vetx", text)}); err == nil || !strings.Contains(err.Error(), `"p"`) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := readEntries(map[string]string{"p": filepath.Join(t.TempDir(), "absent")}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent: %v", err)
	}
}

func TestOutput(t *testing.T) {
	fset := token.NewFileSet()
	f := fset.AddFile("/m/a.go", -1, 100)
	f.SetLines([]int{0, 10, 20})
	d := analysis.Diagnostic{
		Pos: f.Pos(12), End: f.Pos(15), Category: "toy", Message: "wrong",
		Related:        []analysis.RelatedInformation{{Pos: f.Pos(1), Message: "through f"}},
		SuggestedFixes: []analysis.SuggestedFix{{Message: "mend", TextEdits: []analysis.TextEdit{{Pos: f.Pos(12), NewText: []byte("x")}}}},
	}
	r := &Result{Fset: fset, Diagnostics: []Diagnostics{{Analyzer: &analysis.Analyzer{Name: "toy"}, List: []analysis.Diagnostic{d}}}}
	var text, json bytes.Buffer
	if n, err := r.WriteText(&text); n != 1 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if want := "/m/a.go:2:3: wrong\n/m/a.go:1:2: \tthrough f\n"; text.String() != want {
		t.Errorf("text is %q", text.String())
	}
	if err := r.WriteJSON(&json, "m"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"m": {`, `"toy": [`, `"posn": "/m/a.go:2:3"`, `"end": "/m/a.go:2:6"`, `"start": 12`, `"end": 12`, `"new": "x"`} {
		if !strings.Contains(json.String(), want) {
			t.Errorf("JSON has no %s:\n%s", want, json.String())
		}
	}
	broken := errors.New("broken")
	if _, err := r.WriteText(failing{broken}); !errors.Is(err, broken) {
		t.Errorf("text: %v", err)
	}
	if err := r.WriteJSON(failing{broken}, "m"); !errors.Is(err, broken) {
		t.Errorf("JSON: %v", err)
	}
	json.Reset()
	if err := (&Result{Fset: fset}).WriteJSON(&json, "m"); err != nil || json.Len() != 0 {
		t.Errorf("nothing is written as %q, %v", json.String(), err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
