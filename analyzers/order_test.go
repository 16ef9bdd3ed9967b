package analyzers_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sbxkit/sbxkit/analyzers"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/txtar"
)

// TestOrderChangesNothing analyses one tree with its packages and the rules in other orders: the findings are the same, word for word, with the
// ways they went and the positions on them.
func TestOrderChangesNothing(t *testing.T) {
	dir := t.TempDir()
	archive, err := txtar.ParseFile("testdata/order.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		name := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	var want []string
	pkgs, err := packages.Load(&packages.Config{Mode: packages.LoadAllSyntax | packages.NeedModule, Dir: dir, Tests: true}, "./...")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		rules := analyzers.All()
		if i > 0 {
			random.Shuffle(len(pkgs), func(a, b int) { pkgs[a], pkgs[b] = pkgs[b], pkgs[a] })
			random.Shuffle(len(rules), func(a, b int) { rules[a], rules[b] = rules[b], rules[a] })
		}
		got := findings(t, dir, pkgs, func() (*checker.Graph, error) {
			return checker.Analyze(rules, pkgs, &checker.Options{Sequential: i%2 == 1})
		})
		if i == 0 {
			want = got
			for _, rule := range analyzers.All() {
				if !slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, "("+rule.Name+")") }) {
					t.Errorf("the tree has no finding of %s", rule.Name)
				}
			}
			continue
		}
		if !slices.Equal(got, want) {
			t.Errorf("round %d:\n%s\nthe first:\n%s", i, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

func findings(t *testing.T, dir string, pkgs []*packages.Package, analyse func() (*checker.Graph, error)) []string {
	t.Helper()
	for _, p := range pkgs {
		for _, e := range p.Errors {
			t.Fatal(e)
		}
	}
	graph, err := analyse()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, act := range graph.Roots {
		if act.Err != nil {
			t.Errorf("%v: %v", act, act.Err)
		}
		for _, d := range act.Diagnostics {
			text := act.Package.ID + " " + act.Package.Fset.Position(d.Pos).String() + " " + d.Message
			for _, r := range d.Related {
				text += "\n\t" + act.Package.Fset.Position(r.Pos).String() + " " + r.Message
			}
			got = append(got, strings.ReplaceAll(text, dir, ""))
		}
	}
	slices.Sort(got)
	return got
}
