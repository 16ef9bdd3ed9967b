package gen

import (
	"path/filepath"

	"github.com/dave/jennifer/jen"

	"github.com/sbxkit/sbxkit/spec"
)

// capabilityFile writes capability.go: what the backend is and how it meets each name of the vocabulary.
func (p *pkg) capabilityFile(f *jen.File) {
	f.Comment("// describe gives the spec's data. The value is the caller's.")
	f.Func().Id("describe").Params().Op("*").Add(rt("Description")).Block(jen.Return(p.description()))
	f.Line()
	f.Comment("// features says of every name of the vocabulary how this backend meets it, sorted by name.")
	f.Func().Id("features").Params().Index().Add(rt("Feature")).Block(
		jen.Return(list(rt("Feature"), mapped(p.spec.Features, feature))),
	)
}

func (p *pkg) description() jen.Code {
	var (
		s = p.spec
		c composite
	)
	c.text("Name", s.Name)
	c.text("Kind", string(s.Kind))
	c.text("Summary", s.Summary)
	c.text("Spec", filepath.ToSlash(s.File))
	c.text("Digest", s.Digest)
	c.flag("Unsandboxed", s.Unsandboxed)
	c.add("Features", jen.Id("features").Call())
	c.add("Policy", jen.Id("policy").Call())
	c.add("Stop", list(rt("StopRung"), mapped(s.Lifecycle.Stop, stopRung)))
	c.flag("Exports", s.Lifecycle.Export != "" && s.Lifecycle.Export != "none")
	c.add("Because", list(rt("Reason"), mapped(s.Because, reason)))
	return c.lines(jen.Op("&").Add(rt("Description")))
}

func stopRung(in spec.StopRung) jen.Code {
	var c composite
	c.number("Signal", int64(in.Number))
	c.duration("Grace", in.Grace)
	return c.inline(jen.Null())
}

func reason(in spec.Reason) jen.Code {
	var c composite
	c.text("Where", in.Pos.Spec())
	c.text("What", in.What)
	c.text("Text", in.Text)
	return c.inline(jen.Null())
}

var ways = map[spec.How]string{
	spec.HowSpelled: "HowSpelled", spec.HowBy: "HowBy", spec.HowImplied: "HowImplied", spec.HowUnsupported: "HowUnsupported",
}

func feature(in spec.Feature) jen.Code {
	var c composite
	c.text("Name", in.Name)
	c.add("How", rt(ways[in.How]))
	if len(in.Flags) != 0 {
		c.add("Flags", jen.Index().Add(rt("Flag")).Values(mapped(in.Flags, flagOption)...))
	}
	c.text("By", in.By)
	c.text("Reason", in.Reason)
	c.text("Spec", in.Pos.Spec())
	return c.inline(jen.Null())
}

func flagOption(in spec.Flag) jen.Code {
	var c composite
	c.text("Name", in.Name)
	c.text("Since", in.Since)
	return c.inline(jen.Null())
}
