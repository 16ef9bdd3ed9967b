package gen

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sbxkit/sbxkit/spec"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// all are the imports of every kind, loaded once: loading runs the go command.
var all = sync.OnceValues(func() (*imports, error) {
	return loadImports(context.Background(), "..", importPaths)
})

func load(t testing.TB) *imports {
	t.Helper()
	im, err := all()
	if err != nil {
		t.Fatal(err)
	}
	return im
}

// builtin reads a built-in spec as the go:generate line does.
func builtin(t testing.TB, name string) *spec.Backend {
	t.Helper()
	b, diagnostics := spec.Load("spec/backends/"+name+".yaml", func(p string) ([]byte, error) {
		return os.ReadFile(filepath.Join("..", filepath.FromSlash(p)))
	})
	if err := diagnostics.Err(); err != nil {
		t.Fatal(err)
	}
	return b
}

func generated(t testing.TB, b *spec.Backend) Package {
	t.Helper()
	p, err := generate(b, Options{Out: "generated", Plans: DefaultPlans}, load(t))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (p Package) file(t testing.TB, name string) []byte {
	t.Helper()
	i := slices.IndexFunc(p.Files, func(f File) bool { return f.Name == name })
	if i < 0 {
		t.Fatalf("package %s has no %s", p.Name, name)
	}
	return p.Files[i].Content
}

// The sample uses every form a dialect has; what is made of them is reviewed in the golden files.
func TestSampleGivesTheCodeInItsGoldenFiles(t *testing.T) {
	p := generated(t, sample())
	for _, name := range []string{"argv.go", "explain.go", "backend.go", "policy.go", "doc.go", "README.md", "plan_test.go"} {
		golden := filepath.Join("testdata", "sample", name+".golden")
		got := p.file(t, name)
		if *update {
			if err := os.WriteFile(golden, got, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			diff, err := unified(name, want, got, true, true)
			if err != nil {
				t.Fatal(err)
			}
			t.Errorf("%s is not what %s has; review it and run the test with -update\n%s", name, golden, diff)
		}
	}
}

// Go walks maps in another order each time.
func TestTheSameSpecGivesTheSameBytes(t *testing.T) {
	for _, name := range spec.Builtins() {
		t.Run(name, func(t *testing.T) {
			first := generated(t, builtin(t, name))
			for range 5 {
				again := generated(t, builtin(t, name))
				for i, f := range first.Files {
					if again.Files[i].Name != f.Name || !bytes.Equal(again.Files[i].Content, f.Content) {
						t.Fatalf("%s differs between two generations", f.Name)
					}
				}
			}
		})
	}
}

func TestGeneratedFilesNameSpecAndDigestAndNothingElse(t *testing.T) {
	b := builtin(t, "fake")
	for _, f := range generated(t, b).Files {
		lines := strings.SplitN(string(f.Content), "\n", 3)
		if spec, ok := specOf(f.Content); !ok || spec != b.File {
			t.Errorf("%s does not name its spec: %q", f.Name, lines[0])
		}
		if !strings.Contains(lines[1], b.Digest) {
			t.Errorf("%s does not name its spec's digest: %q", f.Name, lines[1])
		}
	}
}

func TestTwoSpecsOfOneNameAreRefused(t *testing.T) {
	a, b := sample(), sample()
	b.Pos.File = "specs/other.yaml"
	err := distinct([]*spec.Backend{a, b})
	if err == nil || !strings.Contains(err.Error(), "specs/sample.yaml:1") || !strings.Contains(err.Error(), "specs/other.yaml:1") {
		t.Errorf("got %v, want both places", err)
	}
}

func TestSpecsThatCannotBeWrittenAreRefusedWithTheirPlace(t *testing.T) {
	values := func(term, name string) spec.Arg { return val(term, name) }
	for name, tc := range map[string]struct {
		entry spec.Entry
		want  string
	}{
		"a name that is done before": {
			spec.Entry{Pos: at(7), For: []string{"environment.set"}, Flag: "--set"},
			"specs/sample.yaml:7:1: no word can spell environment.set",
		},
		"a list that shares": {
			spec.Entry{Pos: at(7), For: []string{"labels", "hostname"}, Flag: "--label"},
			"specs/sample.yaml:7:1: labels repeats for each item",
		},
		"several names with a condition": {
			spec.Entry{Pos: at(7), For: []string{"terminal", "hostname"}, When: "term", Flag: "--term"},
			"specs/sample.yaml:7:1: a line for several names has no when",
		},
		"a private value that is not last": {
			spec.Entry{Pos: at(7), For: []string{"environment"}, Args: []spec.Arg{{Pos: at(8), Kind: spec.ArgJoin, Pieces: []spec.Piece{
				{Value: value("environment", "value")}, {Text: "="}, {Value: value("environment", "name")},
			}}}},
			"specs/sample.yaml:8:1: a private value can only be the last piece",
		},
		"a private value in a list of values": {
			spec.Entry{Pos: at(7), For: []string{"environment"}, Args: []spec.Arg{{Pos: at(8), Kind: spec.ArgCSV, Fields: []spec.CSVField{
				{Name: "v=", Value: value("environment", "value")},
			}}}},
			"specs/sample.yaml:8:1: a private value cannot stand among",
		},
		"a value of another name": {
			spec.Entry{Pos: at(7), For: []string{"hostname"}, Args: []spec.Arg{func() spec.Arg { a := values("workdir", "path"); a.Pos = at(8); return a }()}},
			`specs/sample.yaml:8:1: hostname has no value "path"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := sample()
			b.Words = []spec.Entry{tc.entry}
			_, err := generate(b, Options{Out: "generated"}, load(t))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
}
