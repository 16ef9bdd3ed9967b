package gen

import (
	"go/scanner"
	"go/token"

	"github.com/dave/jennifer/jen"

	"github.com/sbxkit/sbxkit/spec"
)

// wrap puts body, which writes a line once, under the line's condition or into its loop.
func (l line) wrap(body []jen.Code) []jen.Code {
	condition := l.asked
	if l.when != nil {
		condition = l.when.nonZero()
		if l.asked != nil && l.subject.list == "" {
			condition = l.asked.Clone().Op("&&").Add(condition)
		}
	}
	switch {
	case l.subject.list != "" && l.when != nil:
		return l.repeat([]jen.Code{jen.If(condition).Block(body...)})
	case l.subject.list != "":
		return l.repeat(body)
	case condition != nil:
		return []jen.Code{jen.If(condition.Clone()).Block(body...)}
	default:
		return body
	}
}

// repeat puts body into the loop over the line's list. The index is i, the item the subject's; neither is declared where body and the
// condition do not use it.
func (l line) repeat(body []jen.Code) []jen.Code {
	list := expr(l.subject.list)
	if l.subject.keep != "" {
		body = []jen.Code{jen.If(expr(l.subject.keep)).Block(body...)}
	}
	var index jen.Code = jen.Id("i")
	if l.entry.Pick == spec.PickFirst {
		index = jen.Lit(0)
	}
	if mentions(body, l.subject.item) {
		item := jen.Id(l.subject.item).Op(":=")
		if !l.subject.bare {
			item = item.Op("&")
		}
		body = append([]jen.Code{item.Add(list.Clone()).Index(index)}, body...)
	}
	switch {
	case l.entry.Pick == spec.PickFirst:
		return []jen.Code{jen.If(jen.Len(list).Op("!=").Lit(0)).Block(body...)}
	case l.entry.Pick == spec.PickRest:
		return []jen.Code{jen.For(jen.Id("i").Op(":=").Lit(1), jen.Id("i").Op("<").Len(list), jen.Id("i").Op("++")).Block(body...)}
	case mentions(body, "i"):
		return []jen.Code{jen.For(jen.Id("i").Op(":=").Range().Add(list)).Block(body...)}
	default:
		return []jen.Code{jen.For(jen.Range().Add(list)).Block(body...)}
	}
}

// mentions reports whether the identifier stands in the code.
func mentions(body []jen.Code, identifier string) bool {
	source := []byte(jen.Block(body...).GoString())
	files := token.NewFileSet()
	var s scanner.Scanner
	s.Init(files.AddFile("", files.Base(), len(source)), source, nil, 0)
	for {
		switch _, tok, text := s.Scan(); {
		case tok == token.EOF:
			return false
		case tok == token.IDENT && text == identifier:
			return true
		}
	}
}

// eachKind puts the bodies of an each line into a loop with a switch over the kind.
func (l line) eachKind(body func(line) []jen.Code) []jen.Code {
	var cases []jen.Code
	for _, s := range l.spell {
		var inner []jen.Code
		for _, k := range s.lines {
			b := body(k)
			if k.when != nil {
				b = []jen.Code{jen.If(k.when.nonZero()).Block(b...)}
			}
			inner = append(inner, b...)
		}
		if len(inner) != 0 {
			cases = append(cases, jen.Case(jen.Qual(runtimePath, s.constant)).Block(inner...))
		}
	}
	if len(cases) == 0 {
		return nil
	}
	return l.repeat([]jen.Code{jen.Switch(jen.Id("m").Dot("Kind")).Block(cases...)})
}
