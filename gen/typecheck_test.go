package gen

import (
	"bytes"
	"context"
	"strings"
	"testing"
)

func TestCodeOfANewerGenerationDoesNotCompileAndSaysWhy(t *testing.T) {
	p := generated(t, builtin(t, "fake"))
	for i := range p.Files {
		p.Files[i].Content = bytes.ReplaceAll(p.Files[i].Content, []byte("SupportsGeneratedCode1"), []byte("SupportsGeneratedCode99"))
	}
	err := load(t).check(p)
	if err == nil || !strings.Contains(err.Error(), "undefined: runtime.SupportsGeneratedCode99") {
		t.Errorf("got %v", err)
	}
}

func TestCheckFindsWhatDoesNotCompile(t *testing.T) {
	for name, tc := range map[string]struct{ file, content, want string }{
		"syntax":            {"x.go", "package fake\n\nfunc {", "x.go:3:"},
		"types":             {"x.go", "package fake\n\nvar x int = \"text\"\n", "cannot use"},
		"a foreign import":  {"x.go", "package fake\n\nimport \"os/exec\"\n\nvar _ = exec.Command\n", "os/exec, which it should not"},
		"a name twice":      {"x.go", "package fake\n\nfunc argv() {}\n", "argv redeclared"},
		"tests are checked": {"x_test.go", "package fake\n\nvar x int = \"text\"\n", "cannot use"},
	} {
		t.Run(name, func(t *testing.T) {
			p := generated(t, builtin(t, "fake"))
			p.Files = append(p.Files, File{Name: tc.file, Content: []byte(tc.content)})
			err := load(t).check(p)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
}

func TestModuleThatLacksTheRuntimeIsToldSo(t *testing.T) {
	module := t.TempDir()
	put(t, module+"/go.mod", "module example.com/empty\n\ngo 1.26\n")
	_, err := loadImports(context.Background(), module, []string{runtimePath})
	if err == nil || !strings.Contains(err.Error(), "is github.com/sbxkit/sbxkit in its go.mod?") {
		t.Errorf("got %v", err)
	}
}
