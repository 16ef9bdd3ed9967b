package gen

import (
	"go/scanner"
	"go/token"

	"github.com/dave/jennifer/jen"

	"github.com/sbxkit/sbxkit/spec"
)

// grouped writes lines, each under its condition or in its loop, in order; lines that follow each other under the same condition share
// it. body writes what one line does once, and may give nothing.
func grouped(all []line, body func(line) []jen.Code) []jen.Code {
	var out []jen.Code
	for i := 0; i < len(all); {
		first := all[i]
		if first.entry.Each != "" {
			out = append(out, first.eachKind(body)...)
			i++
			continue
		}
		condition := first.condition()
		var inner []jen.Code
		for ; i < len(all) && all[i].sharesWith(first, condition); i++ {
			inner = append(inner, body(all[i])...)
			if first.subject.list != "" {
				i++
				break
			}
		}
		if len(inner) != 0 {
			out = append(out, first.wrap(condition, inner)...)
		}
	}
	return out
}

// condition is when the line's words stand; nil for always, and for a line that repeats and stands for every item.
func (l line) condition() *jen.Statement {
	switch {
	case l.subject.list != "" && l.when == nil:
		return nil
	case l.subject.list != "" || l.asked == nil && l.when != nil:
		return l.when.nonZero()
	case l.when != nil:
		return l.asked.Clone().Op("&&").Add(l.when.nonZero())
	default:
		return l.asked
	}
}

// sharesWith reports whether the line can stand in the same block as first.
func (l line) sharesWith(first line, condition *jen.Statement) bool {
	if l.entry.Each != "" || l.subject.list != first.subject.list {
		return false
	}
	return source(l.condition()) == source(condition)
}

func source(s *jen.Statement) string {
	if s == nil {
		return ""
	}
	return s.GoString()
}

// wrap puts body under the condition, or into the loop of a line that repeats.
func (l line) wrap(condition *jen.Statement, body []jen.Code) []jen.Code {
	if condition != nil {
		body = []jen.Code{jen.If(condition.Clone()).Block(body...)}
	}
	if l.subject.list != "" {
		return l.repeat(body)
	}
	return body
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
		if inner := grouped(s.lines, body); len(inner) != 0 {
			cases = append(cases, jen.Case(jen.Qual(runtimePath, s.constant)).Block(inner...))
		}
	}
	if len(cases) == 0 {
		return nil
	}
	return l.repeat([]jen.Code{jen.Switch(jen.Id("m").Dot("Kind")).Block(cases...)})
}
