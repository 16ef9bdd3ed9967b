package unsandboxed

import (
	_ "embed"
	"fmt"
	"go/token"
	"go/types"
	"slices"

	"github.com/sbxkit/sbxkit/analyzers/internal/directive"
	"github.com/sbxkit/sbxkit/analyzers/internal/flow"
	"github.com/sbxkit/sbxkit/analyzers/internal/rule"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"
)

//go:embed doc.go
var doc string

// Analyzer is the unsandboxed rule.
var Analyzer = rule.New(&analysis.Analyzer{
	Name:      "unsandboxed",
	Doc:       rule.Doc(doc),
	Run:       run,
	Requires:  []*analysis.Analyzer{directive.Analyzer, flow.Analyzer},
	FactTypes: []analysis.Fact{new(FuncFact), new(VarFact)},
})

type checker struct {
	pass     *analysis.Pass
	result   *flow.Result
	uses     map[ssa.Instruction][]*flow.Use
	closures map[*ssa.Function][]*ssa.MakeClosure
	stores   map[types.Object][]*ssa.Store // by field and package variable
	seams    map[*types.Package]bool
	tries    map[ssa.CallInstruction]string

	facts   map[*ssa.Function]*FuncFact
	views   map[*ssa.Function]*view // of the failures of attempts
	reading map[types.Object]bool   // variables whose meaning is being found out
	lists   map[*ssa.Function][]word

	reported map[token.Pos]bool
}

// run finds out of every function what its results say about a sandbox that could not be had, until that changes no more, and then
// reports what the branches of failure reach.
func run(pass *analysis.Pass) (any, error) {
	result := pass.ResultOf[flow.Analyzer].(*flow.Result)
	if !result.Concerned {
		return nil, nil
	}
	defer result.Lock()()
	c := &checker{
		pass: pass, result: result,
		uses:     make(map[ssa.Instruction][]*flow.Use),
		closures: make(map[*ssa.Function][]*ssa.MakeClosure),
		stores:   make(map[types.Object][]*ssa.Store),
		seams:    make(map[*types.Package]bool),
		tries:    make(map[ssa.CallInstruction]string),
		facts:    make(map[*ssa.Function]*FuncFact),
		reading:  make(map[types.Object]bool),
		lists:    make(map[*ssa.Function][]word),
		reported: make(map[token.Pos]bool),
	}
	for _, use := range result.Uses {
		c.uses[use.Instr] = append(c.uses[use.Instr], use)
	}
	if !c.collect() {
		return nil, nil
	}
	for range maxRounds {
		c.views = make(map[*ssa.Function]*view)
		changed := false
		for _, fn := range result.Funcs {
			fact := c.summary(fn)
			if fact.key() != c.facts[fn].key() {
				changed = true
			}
			c.facts[fn] = fact
		}
		if !changed {
			break
		}
	}
	c.export()
	for _, fn := range result.Funcs {
		c.loops(fn)
		c.searches(fn)
		c.judge(fn)
	}
	return nil, nil
}

// maxRounds bounds how far what a function's result says travels to its callers within the package, in functions.
const maxRounds = 10

// collect finds what literals are made where and what is stored in which variable, and reports whether anything in the package may
// have to do with a sandbox that could not be had.
func (c *checker) collect() bool {
	concerned := c.pass.Module == nil || c.pass.Module.Version == ""
	for _, fn := range c.result.Funcs {
		for _, b := range fn.Blocks {
			for _, instr := range b.Instrs {
				switch instr := instr.(type) {
				case *ssa.MakeClosure:
					lit := instr.Fn.(*ssa.Function)
					c.closures[lit] = append(c.closures[lit], instr)
				case *ssa.Store:
					if obj := variable(instr.Addr); obj != nil {
						c.stores[obj] = append(c.stores[obj], instr)
					}
				case ssa.CallInstruction:
					concerned = concerned || c.attempt(instr) != ""
				}
			}
		}
	}
	return concerned || len(c.pass.AllObjectFacts()) > 0
}

// variable returns the field or package variable that the address is of, or nil.
func variable(addr ssa.Value) types.Object {
	switch a := addr.(type) {
	case *ssa.FieldAddr:
		if st := structOf(a.X.Type()); st != nil {
			return st.Field(a.Field).Origin()
		}
	case *ssa.Global:
		return a.Object()
	}
	return nil
}

func structOf(t types.Type) *types.Struct {
	t = types.Unalias(t).Underlying()
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem()).Underlying()
	}
	st, _ := t.(*types.Struct)
	return st
}

// judge reports what the branches of fn that are taken where no sandbox could be had start without one.
func (c *checker) judge(fn *ssa.Function) {
	v := c.attempts(fn)
	for _, f := range c.falls(v) {
		c.report(f)
	}
}

func (c *checker) report(f finding) {
	if c.reported[f.pos] {
		return
	}
	c.reported[f.pos] = true
	pos := f.pos
	d := analysis.Diagnostic{Pos: pos, Message: fmt.Sprintf(messages[f.how], f.from, f.what)}
	d.Related = c.result.Related(f.via)
	if f.at.IsValid() && c.pass.Fset.Position(f.at).Line != c.pass.Fset.Position(pos).Line {
		d.Related = append(d.Related, analysis.RelatedInformation{Pos: f.at, Message: f.from + " fails here"})
	}
	c.pass.Report(d)
}

// A finding is one way to go on without a sandbox.
type finding struct {
	instr ssa.Instruction
	pos   token.Pos
	how   int
	from  string    // what had failed
	at    token.Pos // where that is found
	what  string    // what is started, with the way there
	via   []flow.Step
	words []word // of a command: what it is made from
	given bool   // of a command: it is started as it came
	calls int    // of a function: the parameter that it calls then, -1 for none
}

const (
	toBackend = iota
	toCommand
	toArgv
	firstOf
	toParam // in a fact alone
)

var messages = [...]string{
	toBackend: "where %s has failed, goes on with a backend that isolates nothing (%s); refuse, or leave the choice to the seam by WithMode(Preferred)",
	toCommand: "where %s has failed, starts the command without a sandbox (%s); refuse, or leave the choice to the seam by WithMode(Preferred)",
	toArgv:    "where %s has failed, gives the command unwrapped (%s), to be started without a sandbox; return the error",
	firstOf:   "takes the first backend for which %s succeeds, and one of them isolates nothing (%s); name the backend, or use WithMode(Preferred)",
}

// seam reports whether pkg is where the lifecycle is declared.
func (c *checker) seam(pkg *types.Package) bool {
	is, ok := c.seams[pkg]
	if !ok {
		is = c.result.Directives.Launches(pkg)
		c.seams[pkg] = is
	}
	return is
}

func position(instr ssa.Instruction) token.Pos {
	if call, ok := instr.(ssa.CallInstruction); ok && call.Common().Pos().IsValid() {
		return call.Common().Pos()
	}
	return instr.Pos()
}

func sorted[K ~string, V any](m map[K]V) []K {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
