package gen

import (
	"github.com/dave/jennifer/jen"
)

// explainFile writes explain.go: the same words with their origins.
func (p *pkg) explainFile(f *jen.File) {
	f.Comment("// explain gives the words of argv, in the same order, each with the spec's line, the vocabulary name and the field that asked for")
	f.Comment("// it. A private value is replaced by a reference to a variable of the reader's shell.")
	f.Func().Id("explain").Params(jen.Id("r").Op("*").Qual(runtimePath, "Request")).Index().Qual(runtimePath, "Word").
		BlockFunc(func(g *jen.Group) {
			g.Var().Id("o").Qual(runtimePath, "Origins")
			g.Id("o").Dot("Grow").Call(jen.Id("capacity").Call(jen.Id("r")))
			g.Line()
			if p.programWord() {
				g.Id("o").Dot("From").Call(literal(p.spec.Program.Pos.Spec()), jen.Lit(""), jen.Lit(""))
				g.Add(add("o", []jen.Code{literal(p.spec.Program.Name)}))
			}
			for _, c := range grouped(p.lines, line.explain) {
				g.Add(c)
			}
			g.Line()
			g.Return(jen.Id("o").Dot("Explained").Call())
		})
}

// explain writes the words of one line with their origin.
func (l line) explain() []jen.Code {
	if len(l.words) == 0 {
		return nil
	}
	return append([]jen.Code{l.from()}, writeWords("o", l.words, l.reveal)...)
}

// from writes the call that names the origin of the line's words.
func (l line) from() *jen.Statement {
	at, name := literal(l.entry.Pos.Spec()), literal(l.name)
	o := jen.Id("o")
	switch {
	case l.entry.Gate:
		return o.Dot("FromGate").Call(at, name)
	case l.entry.Run:
		return o.Dot("FromRun").Call(at, name, jen.Lit(""))
	case l.name == "":
		return o.Dot("From").Call(at, name, jen.Lit(""))
	case l.subject.bare && l.subject.field != "":
		return o.Dot("FromItem").Call(at, name, expr(l.subject.field), l.index())
	case l.subject.field != "":
		return o.Dot("From").Call(at, name, expr(l.subject.field))
	case l.subject.list != "":
		return o.Dot("FromItem").Call(at, name, literal(l.launchField()), l.index())
	default:
		return o.Dot("From").Call(at, name, literal(l.launchField()))
	}
}

func (l line) index() jen.Code {
	if l.entry.Pick == "first" {
		return jen.Lit(0)
	}
	return jen.Id("i")
}

func (l line) launchField() string {
	term, _ := l.entry.Term()
	if term.Field == "" {
		return ""
	}
	return "launch." + term.Field
}

// reveal ends a word with what stands for a private value where it is printed.
func (l line) reveal(operand) *jen.Statement {
	if l.name == "credentials.env" {
		return jen.Id("o").Dot("Secret").Call(jen.Id("grant").Dot("Env"))
	}
	return jen.Id("o").Dot("Value").Call(jen.Op("*").Id("v"))
}
