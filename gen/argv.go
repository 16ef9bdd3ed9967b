package gen

import (
	"github.com/dave/jennifer/jen"

	"github.com/sbxkit/sbxkit/spec"
)

// argvFile writes argv.go: the pure builder, and how much room it needs.
func (p *pkg) argvFile(f *jen.File) {
	f.Comment("// argv builds the words that run, in the order of the spec. It is pure: it reads r and nothing else.")
	f.Func().Id("argv").Params(jen.Id("r").Op("*").Qual(runtimePath, "Request")).Index().String().BlockFunc(func(g *jen.Group) {
		g.Var().Id("w").Qual(runtimePath, "Words")
		g.Id("w").Dot("Grow").Call(jen.Id("room").Call(jen.Id("r")))
		g.Line()
		b := argvBuilder{}
		if p.programWord() {
			b.constants = append(b.constants, literal(p.spec.Program.Name))
		}
		for _, l := range p.lines {
			b.line(l)
		}
		b.flush()
		for _, c := range b.out {
			g.Add(c)
		}
		g.Line()
		g.Return(jen.Id("w").Dot("List").Call())
	})
	f.Line()
	f.Comment("// room gives the most words, and bytes of composed words, that argv makes of r.")
	f.Func().Id("room").Params(jen.Id("r").Op("*").Qual(runtimePath, "Request")).
		Params(jen.List(jen.Id("words"), jen.Id("bytes")).Int()).Block(p.room()...)
}

// argvBuilder collects statements; words that always stand are gathered into one call.
type argvBuilder struct {
	out       []jen.Code
	constants []jen.Code
}

func (b *argvBuilder) flush() {
	if len(b.constants) != 0 {
		b.out = append(b.out, add("w", b.constants))
		b.constants = nil
	}
}

func (b *argvBuilder) line(l line) {
	if l.constant() {
		for _, w := range l.words {
			whole, _ := w.whole()
			b.constants = append(b.constants, whole)
		}
		return
	}
	b.flush()
	switch {
	case l.entry.Each != "":
		b.out = append(b.out, l.eachKind(func(k line) []jen.Code { return writeWords("w", k.words, nil) })...)
	case len(l.words) == 0:
	case l.spread():
		b.out = append(b.out, l.addAll()...)
	default:
		b.out = append(b.out, l.wrap(writeWords("w", l.words, nil))...)
	}
}

// constant is true for a line that stands in every argv and needs no composing.
func (l line) constant() bool {
	if l.asked != nil || l.when != nil || l.subject.list != "" || len(l.words) == 0 {
		return false
	}
	for _, w := range l.words {
		if _, ok := w.whole(); !ok {
			return false
		}
	}
	return true
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

// compose writes one word piece by piece: a chain of calls, cut where a piece has a condition.
func compose(collector string, w word, reveal func(operand) *jen.Statement) []jen.Code {
	var out []jen.Code
	chain := jen.Id(collector)
	empty := true
	cut := func() {
		if !empty {
			out = append(out, chain)
		}
		chain, empty = jen.Id(collector), true
	}
	for i, p := range w.pieces {
		if p.value != nil && p.value.private && reveal != nil && i == len(w.pieces)-1 {
			cut()
			return append(out, reveal(*p.value))
		}
		if p.when != nil {
			cut()
			out = append(out, jen.If(p.when.nonZero()).Block(p.appendTo(jen.Id(collector), w.csv)))
			continue
		}
		chain, empty = p.appendTo(chain, w.csv), false
	}
	return append(out, chain.Dot("End").Call())
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
