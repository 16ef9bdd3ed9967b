package rule

import (
	"cmp"
	"go/ast"
	"go/token"
	"reflect"
	"slices"

	"github.com/sbxkit/sbxkit/analyzers/internal/directive"
	"golang.org/x/tools/go/analysis"
)

// DocBase is where the page of a rule lives; the rule's name and ".md" follow.
const DocBase = "https://github.com/sbxkit/sbxkit/blob/main/docs/vet/"

// A Result is what each rule returns: the suppressions it made use of. The allow rule reads them.
type Result struct {
	// Used holds the positions of the //sbx:allow comments that silenced a finding.
	Used map[token.Pos]bool
}

// New completes a, whose Run reports findings, to a rule: findings that a //sbx:allow directive or a path rule of the policy covers
// are dropped, the others come out in position order without duplicates. It sets URL and ResultType and returns a.
func New(a *analysis.Analyzer) *analysis.Analyzer {
	run := a.Run
	a.URL = DocBase + a.Name + ".md"
	a.ResultType = reflect.TypeFor[*Result]()
	if !slices.Contains(a.Requires, directive.Analyzer) {
		a.Requires = append(a.Requires, directive.Analyzer)
	}
	a.Run = func(pass *analysis.Pass) (any, error) {
		result := &Result{Used: make(map[token.Pos]bool)}
		if directive.Standard(pass) {
			return result, nil
		}
		index := pass.ResultOf[directive.Analyzer].(*directive.Index)
		var found []analysis.Diagnostic
		inner := *pass
		inner.Report = func(d analysis.Diagnostic) { found = append(found, d) }
		if _, err := run(&inner); err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return result, nil
		}
		slices.SortStableFunc(found, func(x, y analysis.Diagnostic) int {
			px, py := pass.Fset.Position(x.Pos), pass.Fset.Position(y.Pos)
			return cmp.Or(cmp.Compare(px.Filename, py.Filename), cmp.Compare(px.Offset, py.Offset), cmp.Compare(x.Message, y.Message))
		})
		found = slices.CompactFunc(found, func(x, y analysis.Diagnostic) bool { return x.Pos == y.Pos && x.Message == y.Message })
		var scopes scopeList
		if a.Name != directive.Allow { // which watches over the suppressions: one of it would silence itself
			scopes = allowScopes(pass, index, a.Name)
		}
		for _, d := range found {
			if current.excluded(pass, a.Name, d.Pos) {
				continue
			}
			if pos := scopes.covering(d.Pos); pos.IsValid() {
				result.Used[pos] = true
				continue
			}
			d.Category = a.Name
			d.Message += " (" + a.Name + ")"
			pass.Report(d)
		}
		return result, nil
	}
	return a
}

// A scope is the source range in which one //sbx:allow comment silences one rule.
type scope struct {
	comment    token.Pos
	start, end token.Pos
}

type scopeList []scope

// covering returns the position of the first comment whose scope contains pos.
func (l scopeList) covering(pos token.Pos) token.Pos {
	for _, s := range l {
		if s.start <= pos && pos <= s.end {
			return s.comment
		}
	}
	return token.NoPos
}

// allowScopes returns the ranges in which the package silences the rule called name: the line a comment ends, or the
// statement, specification, field or declaration that starts on the line after it.
func allowScopes(pass *analysis.Pass, index *directive.Index, name string) scopeList {
	var list scopeList
	for _, c := range index.Comments {
		if c.Verb != directive.Allow {
			continue
		}
		rule, reason := SplitAllow(c.Args)
		if rule != name || reason == "" {
			continue
		}
		file := fileOf(pass, c.Pos)
		if file == nil {
			continue
		}
		list = append(list, scopeOf(pass.Fset, file, c))
	}
	return list
}

// SplitAllow splits what follows //sbx:allow into the rule's name and the reason.
func SplitAllow(args string) (rule, reason string) {
	for i, r := range args {
		if r == ' ' || r == '\t' {
			return args[:i], trimSpace(args[i:])
		}
	}
	return args, ""
}

func fileOf(pass *analysis.Pass, pos token.Pos) *ast.File {
	for _, f := range pass.Files {
		if f.FileStart <= pos && pos < f.FileEnd {
			return f
		}
	}
	return nil
}

// scopeOf returns the range that the directive c covers in file.
func scopeOf(fset *token.FileSet, file *ast.File, c directive.Comment) scope {
	tf := fset.File(c.Pos)
	// The raw line, not what a //line directive says.
	line := tf.Line(c.Pos)
	s := scope{comment: c.Pos, start: tf.LineStart(line), end: c.End}

	// A comment that is alone on its line speaks for the node that starts below it (below the comment group it is part of).
	next := line + 1
	for _, g := range file.Comments {
		if g.Pos() <= c.Pos && c.Pos < g.End() {
			next = tf.Line(g.End()) + 1
		}
	}
	var trailing bool
	var below ast.Node
	ast.Inspect(file, func(n ast.Node) bool {
		switch n.(type) {
		case nil:
			return false
		case *ast.File:
			return true
		case *ast.Comment, *ast.CommentGroup:
			return false
		}
		if n.End() < s.start {
			return false
		}
		if tf.Line(n.Pos()) == line && n.Pos() < c.Pos {
			trailing = true
		}
		if tf.Line(n.End()) == line && n.End() <= c.Pos {
			trailing = true
		}
		switch n.(type) {
		case ast.Stmt, ast.Decl, ast.Spec, *ast.Field, *ast.KeyValueExpr, ast.Expr:
			if below == nil && tf.Line(n.Pos()) == next {
				if _, isBlock := n.(*ast.BlockStmt); !isBlock {
					below = n
				}
			}
		}
		return true
	})
	if trailing {
		// The statement that ends or starts on this line, whole: a finding may sit on another line of it.
		if stmt := smallestSimple(tf, file, line, c.Pos); stmt != nil {
			s.start, s.end = min(s.start, stmt.Pos()), max(s.end, stmt.End())
		}
		return s
	}
	if below != nil {
		s.end = below.End()
		if next <= tf.LineCount() {
			s.end = max(s.end, endOfLine(tf, next))
		}
	}
	return s
}

// smallestSimple returns the innermost statement or specification without a body that touches line before pos.
func smallestSimple(tf *token.File, file *ast.File, line int, pos token.Pos) ast.Node {
	var found ast.Node
	ast.Inspect(file, func(n ast.Node) bool {
		if n == nil {
			return false
		}
		switch n.(type) {
		case *ast.AssignStmt, *ast.ExprStmt, *ast.ReturnStmt, *ast.GoStmt, *ast.DeferStmt, *ast.SendStmt, *ast.IncDecStmt,
			*ast.DeclStmt, *ast.ImportSpec, *ast.ValueSpec:
			if tf.Line(n.Pos()) <= line && line <= tf.Line(n.End()) && n.Pos() < pos {
				// Only when the comment belongs to the statement's first or last line: a comment inside a function
				// literal of the statement speaks for the inner one.
				if tf.Line(n.Pos()) == line || tf.Line(n.End()) == line {
					found = n
				}
			}
		}
		return true
	})
	return found
}

func endOfLine(tf *token.File, line int) token.Pos {
	if line < tf.LineCount() {
		return tf.LineStart(line+1) - 1
	}
	return token.Pos(tf.Base() + tf.Size())
}

func trimSpace(s string) string {
	for len(s) > 0 && (s[0] == ' ' || s[0] == '\t') {
		s = s[1:]
	}
	return s
}
