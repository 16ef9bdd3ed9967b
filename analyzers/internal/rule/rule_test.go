package rule

import (
	"go/ast"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"
)

// calls reports every call of a function called bad, twice and backwards: New puts that in order.
func calls(pass *analysis.Pass) (any, error) {
	var found []ast.Node
	for _, f := range pass.Files {
		ast.Inspect(f, func(n ast.Node) bool {
			if c, ok := n.(*ast.CallExpr); ok {
				if id, ok := c.Fun.(*ast.Ident); ok && id.Name == "bad" {
					found = append(found, id)
				}
			}
			return true
		})
	}
	slices.Reverse(found)
	for _, n := range append(found, found...) {
		pass.Reportf(n.Pos(), "bad call")
	}
	return nil, nil
}

func toy() *analysis.Analyzer {
	return New(&analysis.Analyzer{Name: "toy", Doc: "toy: report calls of bad", Run: calls})
}

func TestNew(t *testing.T) {
	a := toy()
	if a.URL != DocBase+"toy.md" {
		t.Errorf("URL is %q", a.URL)
	}
	if err := analysis.Validate([]*analysis.Analyzer{a}); err != nil {
		t.Error(err)
	}
	for _, r := range analysistest.Run(t, analysistest.TestData(), a, "a") {
		if !slices.IsSortedFunc(r.Diagnostics, func(x, y analysis.Diagnostic) int {
			px, py := r.Pass.Fset.Position(x.Pos), r.Pass.Fset.Position(y.Pos)
			if c := slices.Compare([]string{px.Filename}, []string{py.Filename}); c != 0 {
				return c
			}
			return px.Offset - py.Offset
		}) {
			t.Error("the findings are not in order")
		}
		for _, d := range r.Diagnostics {
			if d.Category != "toy" {
				t.Errorf("category is %q", d.Category)
			}
		}
		// Every directive that is well-formed silenced something here, but those that the file says are idle.
		if used := len(r.Result.(*Result).Used); used != 12 {
			t.Errorf("%d directives silenced something, want 12", used)
		}
	}
}

func TestPathRules(t *testing.T) {
	t.Cleanup(func() { Configure(Settings{}) })
	root := analysistest.TestData()
	run := func(e ...Exclude) int {
		Configure(Settings{Root: filepath.Join(root, "src"), Exclude: e})
		n := 0
		for _, r := range analysistest.Run(silent{}, root, toy(), "a") {
			n += len(r.Diagnostics)
		}
		return n
	}
	all := run()
	if all == 0 {
		t.Fatal("nothing is found without rules")
	}
	for _, tt := range []struct {
		name string
		rule Exclude
		none bool
	}{
		{"the directory", Exclude{Pattern: "a"}, true},
		{"the file", Exclude{Pattern: "a/*.go", Rules: []string{"toy"}}, true},
		{"anywhere", Exclude{Pattern: "**/a.go"}, true},
		{"another rule", Exclude{Pattern: "a", Rules: []string{"rawshell"}}, false},
		{"another file", Exclude{Pattern: "b/**"}, false},
	} {
		if got := run(tt.rule); got != 0 == tt.none {
			t.Errorf("%s: %d findings of %d", tt.name, got, all)
		}
	}
	Configure(Settings{Root: filepath.Join(root, "elsewhere"), Exclude: []Exclude{{Pattern: "**"}}})
	n := 0
	for _, r := range analysistest.Run(silent{}, root, toy(), "a") {
		n += len(r.Diagnostics)
	}
	if n != all {
		t.Errorf("a policy of another directory silences %d findings", all-n)
	}
}

// silent takes what analysistest misses: here the findings are counted.
type silent struct{}

func (silent) Errorf(string, ...any) {}

func TestMatchPath(t *testing.T) {
	for _, tt := range []struct {
		pattern, name string
		want          bool
	}{
		{"a", "a", true}, {"a", "a/b.go", true}, {"a/", "a/b.go", true}, {"a", "ab", false}, {"a", "b/a", false},
		{"**/a", "b/c/a", true}, {"**/a", "a", true}, {"a/**", "a", true}, {"a/**", "a/b/c", true}, {"a/**/c", "a/c", true},
		{"a/**/c", "a/b/b/c", true}, {"a/**/c", "a/b", false}, {"*.go", "x.go", true}, {"*.go", "a/x.go", false}, {"**/*_test.go", "a/x_test.go", true},
		{"**/*_test.go", "a/x.go", false}, {"a/?.go", "a/x.go", true}, {"**", "anything/at/all", true}, {"a[", "a[", false},
	} {
		if got := MatchPath(tt.pattern, tt.name); got != tt.want {
			t.Errorf("%q, %q: %v", tt.pattern, tt.name, got)
		}
	}
}

func TestSplitAllow(t *testing.T) {
	for args, want := range map[string][2]string{
		"rawshell why it is": {"rawshell", "why it is"}, "rawshell": {"rawshell", ""}, "rawshell  ": {"rawshell", ""}, "": {"", ""}, "rawshell\twhy": {"rawshell", "why"},
	} {
		name, reason := SplitAllow(args)
		if got := [2]string{name, reason}; got != want {
			t.Errorf("%q: %q", args, got)
		}
	}
}

func TestDoc(t *testing.T) {
	const source = "// Package x defines an analyzer.\n//\n// # Analyzer x\n//\n// x: report y\n//\n// Why.\n//\n//\tcode()\npackage x\n// not this\n"
	if got, want := Doc(source), "x: report y\n\nWhy.\n\n\tcode()"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := Doc("// Package x has none.\npackage x\n"); got != "" {
		t.Errorf("got %q", got)
	}
}
