package allow

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/sbxkit/sbxkit/analyzers/internal/directive"
	"github.com/sbxkit/sbxkit/analyzers/internal/rule"
	"golang.org/x/tools/go/analysis"
)

//go:embed doc.go
var doc string

// New returns the allow rule over the other rules.
func New(rules []*analysis.Analyzer) *analysis.Analyzer {
	return rule.New(&analysis.Analyzer{
		Name:     "allow",
		Doc:      rule.Doc(doc),
		Requires: append([]*analysis.Analyzer{directive.Analyzer}, rules...),
		Run:      func(pass *analysis.Pass) (any, error) { return run(pass, rules) },
	})
}

var verbs = []string{directive.Allow, directive.Backend, directive.Inside, directive.Launch, directive.Liveness, directive.Primitives, directive.Seam}

// run reports the directives of the package that have no effect.
func run(pass *analysis.Pass, rules []*analysis.Analyzer) (any, error) {
	index := pass.ResultOf[directive.Analyzer].(*directive.Index)
	names := make([]string, 0, len(rules)+1)
	for _, r := range rules {
		names = append(names, r.Name)
	}
	slices.Sort(names)
	for _, c := range index.Comments {
		report := func(format string, args ...any) {
			pass.Report(analysis.Diagnostic{Pos: c.Pos, End: c.End, Message: fmt.Sprintf(format, args...)})
		}
		switch c.Verb {
		case directive.Seam:
			if c.Args == "" {
				report("//sbx:seam needs a reason: //sbx:seam <why this package may wire backends>")
			}
		case directive.Allow:
			name, reason := rule.SplitAllow(c.Args)
			i := slices.Index(names, name)
			switch {
			case name == "":
				report("//sbx:allow needs a rule and a reason: //sbx:allow <rule> <reason>")
			case i < 0:
				report("//sbx:allow of unknown rule %q; the rules are %s", name, strings.Join(names, ", "))
			case reason == "":
				report("//sbx:allow %s needs a reason: //sbx:allow %[1]s <why this is right here>", name)
			case !used(pass, rules, name, c):
				report("//sbx:allow %s silences nothing; remove it", name)
			}
		default:
			if !slices.Contains(verbs, c.Verb) {
				report("unknown directive //sbx:%s; the directives are %s", c.Verb, strings.Join(verbs, ", "))
			}
		}
	}
	return nil, nil
}

func used(pass *analysis.Pass, rules []*analysis.Analyzer, name string, c directive.Comment) bool {
	for _, r := range rules {
		if r.Name == name {
			return pass.ResultOf[r].(*rule.Result).Used[c.Pos]
		}
	}
	return false
}
