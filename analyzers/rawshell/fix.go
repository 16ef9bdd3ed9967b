package rawshell

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/constant"
	"go/format"
	"strconv"
	"strings"

	"github.com/sbxkit/sbxkit/analyzers/internal/flow"
	"golang.org/x/tools/go/analysis"
)

// scriptFix turns the element Argv: []string{"sh", "-c", text} of a launch's composite literal into the Script that does the same. It
// offers nothing unless every word but the text is a literal.
func scriptFix(pass *analysis.Pass, use *flow.Use) []analysis.SuggestedFix {
	for _, file := range pass.Files {
		if use.Pos < file.FileStart || file.FileEnd <= use.Pos {
			continue
		}
		var lit *ast.CompositeLit
		var element *ast.KeyValueExpr
		ast.Inspect(file, func(n ast.Node) bool {
			outer, ok := n.(*ast.CompositeLit)
			if !ok {
				return true
			}
			for _, e := range outer.Elts {
				kv, ok := e.(*ast.KeyValueExpr)
				if ok && kv.Pos() <= use.Pos && use.Pos < kv.End() {
					if key, ok := kv.Key.(*ast.Ident); ok && key.Name == "Argv" {
						lit, element = outer, kv
					}
				}
			}
			return true
		})
		if element == nil {
			return nil
		}
		return fixElement(pass, lit, element)
	}
	return nil
}

func fixElement(pass *analysis.Pass, lit *ast.CompositeLit, element *ast.KeyValueExpr) []analysis.SuggestedFix {
	list, ok := element.Value.(*ast.CompositeLit)
	if !ok || len(list.Elts) < 3 {
		return nil
	}
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			if key, ok := kv.Key.(*ast.Ident); ok && key.Name == "Script" {
				return nil
			}
		}
	}
	// The text is the last word: what follows it would be the script's own $0 and parameters.
	var words []string
	for _, e := range list.Elts[:len(list.Elts)-1] {
		tv := pass.TypesInfo.Types[e]
		if tv.Value == nil || tv.Value.Kind() != constant.String {
			return nil
		}
		words = append(words, constant.StringVal(tv.Value))
	}
	last := words[len(words)-1]
	if last != "-c" && last != "-e" && last != "-lc" && last != "-ec" {
		return nil
	}
	words = words[:len(words)-1]
	if rest := strings.Trim(last, "-c"); rest != "" && last != "-e" {
		words = append(words, "-"+rest)
	}
	qualifier := ""
	if sel, ok := lit.Type.(*ast.SelectorExpr); ok {
		x, ok := sel.X.(*ast.Ident)
		if !ok {
			return nil
		}
		qualifier = x.Name + "."
	}
	var text bytes.Buffer
	if err := format.Node(&text, pass.Fset, list.Elts[len(list.Elts)-1]); err != nil {
		return nil
	}
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = strconv.Quote(w)
	}
	replacement := fmt.Sprintf("Script: &%[1]sScript{Interpreter: []string{%[2]s}, Text: []byte(%[3]s)}",
		qualifier, strings.Join(quoted, ", "), text.String())
	return []analysis.SuggestedFix{{
		Message:   "Hand the text over as a script",
		TextEdits: []analysis.TextEdit{{Pos: element.Pos(), End: element.End(), NewText: []byte(replacement)}},
	}}
}
