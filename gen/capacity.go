package gen

import (
	"maps"
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/sbxkit/sbxkit/spec"
)

// need is how much room lines need: a fixed part, and a part for each item of a list.
type need struct {
	words, bytes int
	// lengths are expressions of text that is composed into words.
	lengths []*jen.Statement
}

// most makes n the larger of both, with the lengths of either.
func (n *need) most(m need) {
	n.words, n.bytes = max(n.words, m.words), max(n.bytes, m.bytes)
	for _, length := range m.lengths {
		if !slices.ContainsFunc(n.lengths, func(l *jen.Statement) bool { return source(l) == source(length) }) {
			n.lengths = append(n.lengths, length)
		}
	}
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

// mostOfAnyKind gives what the kind of mount that needs most needs.
func (l line) mostOfAnyKind() need {
	var n need
	for _, s := range l.spell {
		var kind need
		for _, k := range s.lines {
			kind.add(k.need())
		}
		n.most(kind)
	}
	return n
}

// alternatives sums up what lines need of which only one of several can stand: choices of one sum, items that one or the other
// condition keeps. Names are in order of their first line.
type alternatives struct {
	always need
	names  []string
	groups map[string]map[string]*need // by what is chosen, then by the choice
}

// add counts a line; group is what is chosen, empty for a line that is no alternative to another.
func (a *alternatives) add(group, choice string, n need) {
	if group == "" {
		a.always.add(n)
		return
	}
	if a.groups == nil {
		a.groups = map[string]map[string]*need{}
	}
	if a.groups[group] == nil {
		a.groups[group] = map[string]*need{}
		a.names = append(a.names, group)
	}
	if a.groups[group][choice] == nil {
		a.groups[group][choice] = &need{}
	}
	a.groups[group][choice].add(n)
}

func (a *alternatives) total() need {
	total := a.always
	for _, group := range a.names {
		var largest need
		for _, choice := range slices.Sorted(maps.Keys(a.groups[group])) {
			largest.most(*a.groups[group][choice])
		}
		total.add(largest)
	}
	return total
}

// choice names the sum a line's one name is a choice of.
func (l line) choice() string {
	if term, ok := l.entry.Term(); ok && len(l.entry.For) == 1 && term.Shape == spec.ShapeSum {
		return term.Group()
	}
	return ""
}

// capacity writes the body of the generated function of that name.
func (p *pkg) capacity() []jen.Code {
	var fixed alternatives
	if p.programWord() {
		fixed.always.words++
	}
	perItem := map[string]*alternatives{}
	var order []line // one line for each list, in order
	var guarded []jen.Code
	for _, l := range p.lines {
		n := l.need()
		if l.entry.Each != "" {
			n = l.mostOfAnyKind()
		}
		if list := l.subject.list; list != "" {
			if perItem[list] == nil {
				perItem[list] = &alternatives{}
				order = append(order, l)
			}
			group := ""
			if l.subject.keep != "" {
				group = list
			}
			perItem[list].add(group, l.subject.keep, n)
			continue
		}
		lengths := n.lengths
		n.lengths = nil
		fixed.add(l.choice(), l.name, n)
		if len(lengths) != 0 {
			grow := []jen.Code{jen.Id("bytes").Op("+=").Add(sum(lengths))}
			if l.asked != nil {
				grow = []jen.Code{jen.If(l.asked.Clone()).Block(grow...)}
			}
			guarded = append(guarded, grow...)
		}
	}

	total := fixed.total()
	words, bytes := jen.Lit(total.words), jen.Lit(total.bytes)
	var loops []jen.Code
	for _, l := range order {
		n := perItem[l.subject.list].total()
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
