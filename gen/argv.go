package gen

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/sbxkit/sbxkit/spec"
)

// argvFile writes argv.go: the pure builder, and how much capacity it needs.
func (p *pkg) argvFile(f *jen.File) {
	f.Comment("// argv builds the words that run, in the order of the spec. It is pure: it reads r and nothing else.")
	f.Func().Id("argv").Params(jen.Id("r").Op("*").Qual(runtimePath, "Request")).Index().String().BlockFunc(func(g *jen.Group) {
		g.Var().Id("w").Qual(runtimePath, "Words")
		g.Id("w").Dot("Grow").Call(jen.Id("capacity").Call(jen.Id("r")))
		g.Line()
		words := []word{}
		if p.programWord() {
			words = append(words, word{pieces: []piece{{text: p.spec.Program.Name}}})
		}
		for _, c := range argvBody(merged(words, p.lines)) {
			g.Add(c)
		}
		g.Line()
		g.Return(jen.Id("w").Dot("List").Call())
	})
	f.Line()
	f.Comment("// capacity gives the most words, and bytes of composed words, that argv makes of r.")
	f.Func().Id("capacity").Params(jen.Id("r").Op("*").Qual(runtimePath, "Request")).
		Params(jen.List(jen.Id("words"), jen.Id("bytes")).Int()).Block(p.capacity()...)
}

func argvBody(all []line) []jen.Code {
	var out []jen.Code
	write := func(l line) []jen.Code { return writeWords("w", l.words, nil) }
	for from := 0; from < len(all); {
		to := from
		for to < len(all) && !all[to].spread() {
			to++
		}
		out = append(out, grouped(all[from:to], write)...)
		if to < len(all) {
			out = append(out, all[to].addAll()...)
			to++
		}
		from = to
	}
	return out
}

// merged gives the lines with the words of those that stand one after the other under one condition in one line, after the words of
// first: the builder then needs fewer calls, and reads as a person writes it.
func merged(first []word, all []line) []line {
	out := []line{{words: first}}
	for _, l := range all {
		last := &out[len(out)-1]
		if len(l.words) == 0 && l.entry.Each == "" {
			continue
		}
		if l.entry.Each == "" && last.entry.Each == "" && l.subject.list == "" && last.subject.list == "" &&
			source(l.condition()) == source(last.condition()) {
			last.words = append(slices.Clip(last.words), l.words...)
			continue
		}
		if l.entry.Each != "" {
			l.spell = slices.Clone(l.spell)
			for i := range l.spell {
				l.spell[i].lines = merged(nil, l.spell[i].lines)
			}
		}
		out = append(out, l)
	}
	return out
}

// spread is true for a line that gives the items of a list of strings as they are.
func (l line) spread() bool {
	if !l.subject.bare || l.subject.keep != "" || l.when != nil || l.entry.Pick == spec.PickFirst || len(l.words) != 1 {
		return false
	}
	w := l.words[0]
	return !w.csv && len(w.pieces) == 1 && w.pieces[0].value != nil && w.pieces[0].value.expr == l.subject.item &&
		w.pieces[0].value.typ == goString && w.pieces[0].when == nil
}

// addAll writes such a line.
func (l line) addAll() []jen.Code {
	list := expr(l.subject.list)
	if l.entry.Pick == spec.PickRest {
		return []jen.Code{jen.If(jen.Len(list).Op(">").Lit(1)).Block(
			jen.Id("w").Dot("Add").Call(list.Clone().Index(jen.Lit(1).Op(":")).Op("...")),
		)}
	}
	return []jen.Code{jen.Id("w").Dot("Add").Call(list.Op("..."))}
}

func add(collector string, words []jen.Code) *jen.Statement {
	return jen.Id(collector).Dot("Add").Call(words...)
}

// writeWords writes the words of one line into the collector: whole words in as few calls as can be, composed ones piece by piece.
// reveal, if not nil, ends a word with a private value in its own way.
func writeWords(collector string, words []word, reveal func(operand) *jen.Statement) []jen.Code {
	var out, wholes []jen.Code
	flush := func() {
		if len(wholes) != 0 {
			out = append(out, add(collector, wholes))
			wholes = nil
		}
	}
	for _, w := range words {
		if whole, ok := w.whole(); ok && (reveal == nil || !w.private()) {
			wholes = append(wholes, whole)
			continue
		}
		flush()
		out = append(out, compose(collector, w, reveal)...)
	}
	flush()
	return out
}

// composed writes one word piece by piece into w and leaves it there.
func composed(word word) []jen.Code {
	code := compose("w", word, nil)
	return code[:len(code)-1]
}

// compose writes one word piece by piece: a chain of calls, cut where a piece has a condition. The last statement ends the word.
func compose(collector string, w word, reveal func(operand) *jen.Statement) []jen.Code {
	var out []jen.Code
	var condition *jen.Statement // of what chain holds
	chain := jen.Id(collector)
	empty := true
	cut := func() {
		switch {
		case empty:
		case condition != nil:
			out = append(out, jen.If(condition).Block(chain))
		default:
			out = append(out, chain)
		}
		chain, empty, condition = jen.Id(collector), true, nil
	}
	for i, p := range w.pieces {
		if p.value != nil && p.value.private && reveal != nil && i == len(w.pieces)-1 {
			cut()
			return append(out, reveal(*p.value))
		}
		if source(p.condition()) != source(condition) {
			cut()
		}
		condition = p.condition()
		chain, empty = p.appendTo(chain, w.csv), false
	}
	if condition != nil {
		cut()
	}
	return append(out, chain.Dot("End").Call())
}

// condition is when the piece stands; nil for always.
func (p piece) condition() *jen.Statement {
	if p.when == nil {
		return nil
	}
	return p.when.nonZero()
}

// appendTo writes the piece at the end of chain.
func (p piece) appendTo(chain *jen.Statement, csv bool) *jen.Statement {
	switch {
	case !csv && p.value == nil:
		return chain.Dot("Text").Call(literal(p.text))
	case !csv:
		return p.value.compose(chain)
	case p.value == nil:
		return chain.Dot("CSV").Call(jen.Lit(""), literal(p.text))
	case p.value.typ == goString:
		return chain.Dot("CSV").Call(literal(p.name), expr(p.value.expr))
	default:
		// Numbers and addresses hold nothing that comma-separated values would quote.
		return p.value.compose(chain.Dot("CSV").Call(literal(p.name), jen.Lit("")))
	}
}
