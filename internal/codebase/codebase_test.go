package codebase_test

import (
	"archive/zip"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sbxkit/sbxkit/internal/codebase"
)

// proxy makes a module proxy of a directory, with one module, and a module cache of the test's own.
func proxy(t *testing.T, path string, files map[string]string) {
	t.Helper()
	root := t.TempDir()
	dir := filepath.Join(root, path, "@v")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	archive, err := os.Create(filepath.Join(dir, "v1.0.0.zip"))
	if err != nil {
		t.Fatal(err)
	}
	w := zip.NewWriter(archive)
	for name, text := range files {
		f, err := w.Create(path + "@v1.0.0/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Fprint(f, text); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	mod := files["go.mod"]
	if mod == "" {
		mod = "module " + path + "\n"
	}
	for name, text := range map[string]string{"v1.0.0.mod": mod, "v1.0.0.info": `{"Version": "v1.0.0"}`, "list": "v1.0.0\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GOPROXY", "file://"+root)
	t.Setenv("GOSUMDB", "off")
	t.Setenv("GOMODCACHE", t.TempDir())
	t.Setenv("GOFLAGS", "-modcacherw")
}

func TestLay(t *testing.T) {
	const source = "package m\n"
	for name, test := range map[string]struct {
		files             map[string]string
		packages, without []string
	}{
		"a module": {
			map[string]string{"go.mod": "module example.com/m\n\ngo 1.26\n", "m.go": source, "deep/d.go": "package d\n"},
			[]string{"example.com/m", "example.com/m/deep"}, nil,
		},
		"a module of a repository of several": {
			map[string]string{"go.mod": "module example.com/m\n\ngo 1.26\n\nreplace example.com/m/log => ./log\n", "m.go": source},
			[]string{"example.com/m"}, nil,
		},
		"a repository with a vendor.mod": {
			map[string]string{"vendor.mod": "module example.com/m\n\ngo 1.26\n", "vendor.sum": "", "m.go": source, "vendor/modules.txt": "# example.com/x v1.0.0\n"},
			[]string{"example.com/m"}, nil,
		},
		"a package that imports what is not to be had": {
			map[string]string{"go.mod": "module example.com/m\n\ngo 1.26\n", "m.go": source, "a/a.go": "package a\n\nimport _ \"example.com/missing\"\n"},
			[]string{"example.com/m"}, []string{"example.com/m/a"},
		},
		"a test that imports what is not to be had": {
			map[string]string{"go.mod": "module example.com/m\n\ngo 1.26\n", "m.go": source, "a/a.go": "package a\n", "a/a_test.go": "package a_test\n\nimport _ \"example.com/missing\"\n"},
			[]string{"example.com/m"}, []string{"example.com/m/a"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			proxy(t, "example.com/m", test.files)
			dir := filepath.Join(t.TempDir(), "base")
			b, err := codebase.Lay(t.Context(), "example.com/m@v1.0.0", dir)
			if err != nil {
				t.Fatal(err)
			}
			if b.Module != "example.com/m" || b.Version != "v1.0.0" || b.Dir != dir {
				t.Errorf("laid out %+v", b)
			}
			if !slices.Equal(b.Packages, test.packages) || !slices.Equal(b.Without, test.without) {
				t.Errorf("packages %q without %q, want %q without %q", b.Packages, b.Without, test.packages, test.without)
			}
			out, err := b.Command(t.Context(), "go", "list", "-m", "-f", "{{.Path}} {{.Main}}").CombinedOutput()
			if err != nil || strings.TrimSpace(string(out)) != "example.com/m true" {
				t.Errorf("go list -m: %v\n%s", err, out)
			}
			// It may be written to, as a clone may.
			if err := os.WriteFile(filepath.Join(dir, "m.go"), []byte("package m // changed\n"), 0o644); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestLayRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		module string
		files  map[string]string
		says   string
	}{
		"a module that nobody knows":         {"example.com/other@v1.0.0", nil, "example.com/other"},
		"a module without requirements":      {"example.com/m@v1.0.0", map[string]string{"m.go": "package m\n"}, "neither go.mod nor vendor.mod"},
		"a directory in which there is some": {"example.com/m@v1.0.0", map[string]string{"go.mod": "module example.com/m\n", "taken": ""}, "taken"},
	} {
		t.Run(name, func(t *testing.T) {
			proxy(t, "example.com/m", test.files)
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "taken"), nil, 0o644); err != nil {
				t.Fatal(err)
			}
			b, err := codebase.Lay(t.Context(), test.module, dir)
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("laid out %+v, error %v, want one that says %q", b, err, test.says)
			}
		})
	}
}
