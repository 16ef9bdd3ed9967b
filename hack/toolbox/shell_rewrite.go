//go:build linux

package main

import (
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// unescape takes the backslashes out of the words the interpreter (v3.14.1)
// leaves them in: a=x\ y sets a to `x\ y`. That is the values of assignments, the
// targets of redirections and the subjects of case. Each escaped character becomes a
// quoted one, which is the same thing.
func unescape(stmt *syntax.Stmt) {
	syntax.Walk(stmt, func(node syntax.Node) bool {
		switch node := node.(type) {
		case *syntax.Assign:
			unescapeWord(node.Value)
		case *syntax.Redirect:
			unescapeWord(node.Word)
		case *syntax.CaseClause:
			unescapeWord(node.Word)
		}
		return true
	})
}

func unescapeWord(word *syntax.Word) {
	if word == nil {
		return
	}
	var parts []syntax.WordPart
	for _, part := range word.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			parts = append(parts, part)
			continue
		}
		rest := lit.Value
		for {
			before, after, found := strings.Cut(rest, `\`)
			if before != "" {
				parts = append(parts, &syntax.Lit{ValuePos: lit.ValuePos, ValueEnd: lit.ValueEnd, Value: before})
			}
			if !found || after == "" {
				break
			}
			_, size := utf8.DecodeRuneInString(after)
			parts = append(parts, quotedPart(lit, after[:size]))
			rest = after[size:]
		}
	}
	word.Parts = parts
}

// quotedPart is text in quotes that can stand around it.
func quotedPart(at *syntax.Lit, text string) syntax.WordPart {
	if text == "'" {
		return &syntax.DblQuoted{Left: at.ValuePos, Right: at.ValueEnd, Parts: []syntax.WordPart{
			&syntax.Lit{ValuePos: at.ValuePos, ValueEnd: at.ValueEnd, Value: text},
		}}
	}
	return &syntax.SglQuoted{Left: at.ValuePos, Right: at.ValueEnd, Value: text}
}
