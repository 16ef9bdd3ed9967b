package gen

import (
	"path"
	"strings"

	"github.com/dave/jennifer/jen"
)

// planTestFile writes plan_test.go: the plans of a fixed set of launches are pinned beside the module's other golden files, outside the
// generated tree, so that a change of the spec shows up in review as a change of argv.
func (p *pkg) planTestFile(f *jen.File) {
	sbxtest := func(name string) *jen.Statement { return jen.Qual(sbxtestPath, name) }
	f.Func().Id("TestPlans").Params(jen.Id("t").Op("*").Qual("testing", "T")).Block(
		jen.List(jen.Id("b"), jen.Err()).Op(":=").Id("New").Call(jen.Id("Options").Values()),
		jen.If(jen.Err().Op("!=").Nil()).Block(jen.Id("t").Dot("Fatal").Call(jen.Err())),
		sbxtest("Plans").Call(jen.Id("t"), jen.Id("b"), literal(p.plansFromPackage())),
	)
	f.Line()
	f.Func().Id("TestExplainGivesTheWordsOfArgv").Params(jen.Id("t").Op("*").Qual("testing", "T")).Block(
		sbxtest("SameWords").Call(jen.Id("t"), jen.Id("describe").Call(), jen.Id("argv"), jen.Id("explain")),
	)
	f.Line()
	f.Func().Id("FuzzArgv").Params(jen.Id("f").Op("*").Qual("testing", "F")).Block(
		sbxtest("FuzzWords").Call(jen.Id("f"), jen.Id("argv"), jen.Id("explain")),
	)
	f.Line()
	f.Func().Id("BenchmarkArgv").Params(jen.Id("b").Op("*").Qual("testing", "B")).Block(
		sbxtest("BenchmarkWords").Call(jen.Id("b"), jen.Id("argv")),
	)
}

// plansFromPackage is the file of the package's golden plans, relative to the package.
func (p *pkg) plansFromPackage() string {
	depth := 0
	if dir := path.Join(p.out.Out, p.spec.Name); dir != "." {
		depth = strings.Count(dir, "/") + 1
	}
	return strings.Repeat("../", depth) + path.Join(p.out.Plans, p.spec.Name+".txtar")
}
