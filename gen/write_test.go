package gen

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// twoFiles is a package as Generate gives one.
func twoFiles(digest, body string) Package {
	head := "// " + generatedBy + "specs/x.yaml" + doNotEdit + "\n// Spec " + digest + "\n\n"
	return Package{Name: "x", Dir: "generated/x", Spec: "specs/x.yaml", Files: []File{
		{Name: "README.md", Content: []byte("<!-- " + generatedBy + "specs/x.yaml" + doNotEdit + " -->\n<!-- Spec " + digest + " -->\n")},
		{Name: "argv.go", Content: []byte(head + body)},
	}}
}

func mustWrite(t *testing.T, module string, p Package) {
	t.Helper()
	if _, err := Write(module, p); err != nil {
		t.Fatal(err)
	}
}

func put(t *testing.T, file, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return strings.Join(all, " ")
}

func TestWriteReplacesThePackageWhole(t *testing.T) {
	module := t.TempDir()
	old := twoFiles("a", "package x\n")
	old.Files = append(old.Files, File{Name: "create.go", Content: old.Files[1].Content})
	mustWrite(t, module, old)
	changed, err := Write(module, twoFiles("b", "package x // new\n"))
	if err != nil || !changed {
		t.Fatalf("changed %v, err %v", changed, err)
	}
	dir := filepath.Join(module, "generated", "x")
	if got := names(t, dir); got != "README.md argv.go" {
		t.Errorf("the package holds %s", got)
	}
	if got := names(t, filepath.Dir(dir)); got != "x" {
		t.Errorf("beside the package there is %s", got)
	}
}

func TestWriteLeavesACurrentPackageAlone(t *testing.T) {
	module, p := t.TempDir(), twoFiles("a", "package x\n")
	mustWrite(t, module, p)
	file := filepath.Join(module, "generated", "x", "argv.go")
	before, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	changed, err := Write(module, p)
	if err != nil || changed {
		t.Fatalf("changed %v, err %v", changed, err)
	}
	after, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if !os.SameFile(before, after) {
		t.Error("the file was replaced")
	}
}

func TestWriteRefusesToLoseWhatItDidNotWrite(t *testing.T) {
	for name, foreign := range map[string]string{
		"a Go file":   "generated/x/mine.go",
		"a directory": "generated/x/testdata/mine.txt",
	} {
		t.Run(name, func(t *testing.T) {
			module := t.TempDir()
			mustWrite(t, module, twoFiles("a", "package x\n"))
			put(t, filepath.Join(module, foreign), "package x\n")
			_, err := Write(module, twoFiles("b", "package x\n"))
			if err == nil || !strings.Contains(err.Error(), "was not written by sbxgen") {
				t.Fatalf("got %v", err)
			}
			content, err := os.ReadFile(filepath.Join(module, "generated", "x", "argv.go"))
			if err != nil || !strings.Contains(string(content), "Spec a") {
				t.Errorf("the package was touched: %s, %v", content, err)
			}
		})
	}
}

func TestWriteThatFailsLeavesThePackage(t *testing.T) {
	module := t.TempDir()
	mustWrite(t, module, twoFiles("a", "package x\n"))
	broken := twoFiles("b", "package x\n")
	broken.Files = append(broken.Files, File{Name: "no/such/directory.go"})
	if _, err := Write(module, broken); err == nil {
		t.Fatal("no error")
	}
	if got := names(t, filepath.Join(module, "generated")); got != "x" {
		t.Errorf("left behind: %s", got)
	}
	content, err := os.ReadFile(filepath.Join(module, "generated", "x", "argv.go"))
	if err != nil || !strings.Contains(string(content), "Spec a") {
		t.Errorf("the package was touched: %s, %v", content, err)
	}
}
