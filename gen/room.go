package gen

import (
	"github.com/dave/jennifer/jen"
)

// need is how much room lines need: a fixed part, and a part for each item of a list.
type need struct {
	words, bytes int
	// lengths are expressions of text that is composed into words.
	lengths []*jen.Statement
}

func (n *need) add(m need) {
	n.words += m.words
	n.bytes += m.bytes
	n.lengths = append(n.lengths, m.lengths...)
}

// need gives what one writing of the line's words needs.
func (l line) need() need {
	n := need{words: len(l.words)}
	for _, w := range l.words {
		if _, ok := w.whole(); ok {
			continue
		}
		for _, p := range w.pieces {
			n.bytes += len(p.text) + len(p.name)
			if w.csv {
				n.bytes++
			}
			if p.value == nil {
				continue
			}
			constant, length := p.value.room()
			n.bytes += constant
			if length != nil {
				n.lengths = append(n.lengths, length)
			}
		}
	}
	return n
}

// most gives what the kind that needs most needs, and every length that any kind composes.
func (l line) most() need {
	var n need
	seen := map[string]bool{}
	for _, s := range l.spell {
		var kind need
		for _, k := range s.lines {
			kind.add(k.need())
		}
		n.words, n.bytes = max(n.words, kind.words), max(n.bytes, kind.bytes)
		for _, length := range kind.lengths {
			if source := length.GoString(); !seen[source] {
				seen[source] = true
				n.lengths = append(n.lengths, length)
			}
		}
	}
	return n
}

// room writes the body of the generated function of that name.
func (p *pkg) room() []jen.Code {
	var fixed need
	if p.programWord() {
		fixed.words++
	}
	perItem := map[string]*need{}
	var order []line // one line for each list, in order
	var guarded []jen.Code
	for _, l := range p.lines {
		n := l.need()
		if l.entry.Each != "" {
			n = l.most()
		}
		if list := l.subject.list; list != "" {
			if perItem[list] == nil {
				perItem[list] = &need{}
				order = append(order, l)
			}
			perItem[list].add(n)
			continue
		}
		lengths := n.lengths
		n.lengths = nil
		fixed.add(n)
		if len(lengths) != 0 {
			grow := []jen.Code{jen.Id("bytes").Op("+=").Add(sum(lengths))}
			if l.asked != nil {
				grow = []jen.Code{jen.If(l.asked.Clone()).Block(grow...)}
			}
			guarded = append(guarded, grow...)
		}
	}

	words, bytes := jen.Lit(fixed.words), jen.Lit(fixed.bytes)
	var loops []jen.Code
	for _, l := range order {
		n := perItem[l.subject.list]
		words = times(words, n.words, l)
		bytes = times(bytes, n.bytes, l)
		if len(n.lengths) != 0 {
			all := l
			all.entry.Pick, all.subject.keep = "", ""
			loops = append(loops, all.repeat([]jen.Code{jen.Id("bytes").Op("+=").Add(sum(n.lengths))})...)
		}
	}
	out := []jen.Code{jen.Id("words").Op("=").Add(words), jen.Id("bytes").Op("=").Add(bytes)}
	out = append(out, guarded...)
	out = append(out, loops...)
	return append(out, jen.Return(jen.Id("words"), jen.Id("bytes")))
}

func times(total *jen.Statement, n int, l line) *jen.Statement {
	switch n {
	case 0:
		return total
	case 1:
		return total.Op("+").Len(expr(l.subject.list))
	default:
		return total.Op("+").Lit(n).Op("*").Len(expr(l.subject.list))
	}
}

func sum(terms []*jen.Statement) *jen.Statement {
	total := terms[0].Clone()
	for _, t := range terms[1:] {
		total = total.Op("+").Add(t)
	}
	return total
}
