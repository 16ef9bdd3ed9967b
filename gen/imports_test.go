package gen

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"testing"

	"github.com/dave/jennifer/jen"
)

func TestImportNamesKeepClearOfDeclarations(t *testing.T) {
	for name, tc := range map[string]struct {
		paths, taken []string
		want         map[string]string
	}{
		"free":               {[]string{"context"}, nil, map[string]string{"context": "context"}},
		"declared":           {[]string{"os/exec"}, []string{"exec"}, map[string]string{"os/exec": "osexec"}},
		"declared twice":     {[]string{"os/exec"}, []string{"exec", "osexec"}, map[string]string{"os/exec": "osexec2"}},
		"two of one name":    {[]string{"a/x", "b/x"}, nil, map[string]string{"a/x": "x", "b/x": "bx"}},
		"a predeclared name": {[]string{"example.com/string"}, nil, map[string]string{"example.com/string": "examplecomstring"}},
		"a keyword":          {[]string{"example.com/go"}, nil, map[string]string{"example.com/go": "examplecomgo"}},
		"a major version":    {[]string{"example.com/tool/v2"}, nil, map[string]string{"example.com/tool/v2": "tool"}},
		"no identifier":      {[]string{"example.com/go-tool"}, nil, map[string]string{"example.com/go-tool": "gotool"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := importNames(tc.paths, tc.taken)
			for path, want := range tc.want {
				if got[path] != want {
					t.Errorf("%s is imported as %q, want %q", path, got[path], want)
				}
			}
		})
	}
}

// Jennifer alone renders this file so that it does not compile.
func TestTopLevelFunctionMeetsPackageOfItsName(t *testing.T) {
	f := jen.NewFilePathName("x", "x")
	planImports(f, importNames([]string{"os/exec"}, []string{"exec"}))
	f.Func().Id("exec").Params().Block(jen.Qual("os/exec", "Command").Call(jen.Lit("true")))
	var b bytes.Buffer
	if err := f.Render(&b); err != nil {
		t.Fatal(err)
	}
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "x.go", b.Bytes(), 0)
	if err != nil {
		t.Fatal(err)
	}
	command := types.NewPackage("os/exec", "exec")
	anything := types.NewSignatureType(nil, nil, nil, types.NewTuple(types.NewParam(0, command, "name", types.Typ[types.String])), nil, false)
	command.Scope().Insert(types.NewFunc(0, command, "Command", anything))
	command.MarkComplete()
	conf := types.Config{Importer: &imports{types: map[string]*types.Package{"os/exec": command}}}
	if _, err := conf.Check("x", files, []*ast.File{file}, nil); err != nil {
		t.Errorf("%v in\n%s", err, b.String())
	}
}

func TestImportsOfTheStandardLibraryStandApart(t *testing.T) {
	got, err := groupImports([]byte("package p\n\nimport (\n\t\"context\"\n\t\"github.com/a/b\"\n\tosexec \"os/exec\"\n)\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := "package p\n\nimport (\n\t\"context\"\n\tosexec \"os/exec\"\n\n\t\"github.com/a/b\"\n)\n"
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
