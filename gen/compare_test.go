package gen

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCompareTellsHowFilesDiffer(t *testing.T) {
	current := twoFiles("b", "package x\n")
	for name, tc := range map[string]struct {
		change func(t *testing.T, dir string)
		path   string
		state  State
		diff   string
	}{
		"missing": {
			func(t *testing.T, dir string) {
				if err := os.Remove(filepath.Join(dir, "argv.go")); err != nil {
					t.Fatal(err)
				}
			}, "generated/x/argv.go", StateMissing, "--- /dev/null\n+++ b/generated/x/argv.go\n",
		},
		"stale": {
			func(t *testing.T, dir string) {
				put(t, filepath.Join(dir, "argv.go"), string(twoFiles("a", "package x\n").Files[1].Content))
			}, "generated/x/argv.go", StateStale, "-// Spec a\n+// Spec b\n",
		},
		"hand-edited": {
			func(t *testing.T, dir string) {
				put(t, filepath.Join(dir, "argv.go"), string(current.Files[1].Content)+"// mine\n")
			}, "generated/x/argv.go", StateEdited, "-// mine\n",
		},
		"left behind": {
			func(t *testing.T, dir string) {
				put(t, filepath.Join(dir, "create.go"), string(current.Files[1].Content))
			}, "generated/x/create.go", StateOrphan, "+++ /dev/null\n",
		},
		"foreign": {
			func(t *testing.T, dir string) { put(t, filepath.Join(dir, "mine.go"), "package x\n") },
			"generated/x/mine.go", StateOrphan, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			module := t.TempDir()
			mustWrite(t, module, current)
			if d, err := Compare(module, current); err != nil || len(d) != 0 {
				t.Fatalf("a current package differs: %v, %v", d, err)
			}
			tc.change(t, filepath.Join(module, "generated", "x"))
			d, err := Compare(module, current)
			if err != nil || len(d) != 1 {
				t.Fatalf("got %v, %v", d, err)
			}
			if d[0].Path != tc.path || d[0].State != tc.state || !strings.Contains(d[0].Diff, tc.diff) {
				t.Errorf("got %s %s\n%s", d[0].Path, d[0].State, d[0].Diff)
			}
		})
	}
}

func TestOrphansAreFilesOfNoPackage(t *testing.T) {
	module := t.TempDir()
	current := twoFiles("b", "package x\n")
	mustWrite(t, module, current)
	gone := twoFiles("b", "package y\n")
	gone.Dir = "elsewhere/y"
	mustWrite(t, module, gone)
	put(t, filepath.Join(module, "testdata", "old.go"), string(current.Files[1].Content))
	put(t, filepath.Join(module, "nested", "go.mod"), "module nested\n")
	put(t, filepath.Join(module, "nested", "argv.go"), string(current.Files[1].Content))
	put(t, filepath.Join(module, "mine.go"), "package mine\n")
	d, err := Orphans(module, []Package{current})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range d {
		got = append(got, o.Path+" "+o.Spec)
	}
	if want := "elsewhere/y/README.md specs/x.yaml, elsewhere/y/argv.go specs/x.yaml"; strings.Join(got, ", ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

func TestDirectivesAreTheLinesThatGoGenerateRuns(t *testing.T) {
	module := t.TempDir()
	put(t, filepath.Join(module, "a", "a.go"), "package a\n\n//go:generate go tool sbxgen generate -o ../generated \"with space.yaml\"\n"+
		"//go:generate stringer -type X\n// go:generate sbxgen no\n\t//go:generate sbxgen no\n")
	put(t, filepath.Join(module, "b.go"), "package b\n\n//go:generate go run github.com/sbxkit/sbxkit/cmd/sbxgen@latest x.yaml\n")
	put(t, filepath.Join(module, "vendor", "c.go"), "package c\n\n//go:generate sbxgen x.yaml\n")
	d, err := Directives(module)
	if err != nil {
		t.Fatal(err)
	}
	if len(d) != 2 {
		t.Fatalf("got %+v", d)
	}
	if d[0].File != "a/a.go" || d[0].Line != 3 || strings.Join(d[0].Args, "|") != "generate|-o|../generated|with space.yaml" {
		t.Errorf("got %+v", d[0])
	}
	if d[1].File != "b.go" || strings.Join(d[1].Args, "|") != "x.yaml" {
		t.Errorf("got %+v", d[1])
	}
}

func TestDirectiveWithAnOpenQuoteIsAnError(t *testing.T) {
	module := t.TempDir()
	put(t, filepath.Join(module, "a.go"), "package a\n\n//go:generate sbxgen \"x.yaml\n")
	if _, err := Directives(module); err == nil || !strings.Contains(err.Error(), "a.go:3: ") {
		t.Errorf("got %v", err)
	}
}

func TestModuleIsFoundUpwards(t *testing.T) {
	root := t.TempDir()
	put(t, filepath.Join(root, "go.mod"), "module x\n")
	put(t, filepath.Join(root, "a", "b", "c.txt"), "")
	got, err := Module(filepath.Join(root, "a", "b"))
	if err != nil || got != root {
		t.Errorf("got %s, %v", got, err)
	}
	if _, err := Module(filepath.Dir(root)); err == nil {
		t.Error("found a module where there is none")
	}
}
