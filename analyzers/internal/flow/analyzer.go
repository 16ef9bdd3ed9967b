package flow

import (
	"go/token"
	"go/types"
	"reflect"

	"github.com/sbxkit/sbxkit/analyzers/internal/directive"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"
)

// Analyzer computes the summaries of a package. Its result is a *Result.
var Analyzer = &analysis.Analyzer{
	Name:       "sbxflow",
	Doc:        "summarise what programs a package starts and what values reach them",
	Run:        run,
	Requires:   []*analysis.Analyzer{directive.Analyzer},
	ResultType: reflect.TypeFor[*Result](),
	FactTypes:  []analysis.Fact{new(FuncFact), new(ValueFact), new(HiddenFact)},
}

// A Result answers questions about the values and calls of one package. It is not safe for concurrent use by itself: rules run
// concurrently, so a rule that asks for more than Uses and Effects must hold Lock.
type Result struct {
	// Concerned is false when nothing in the package, and nothing it imports, can matter to any rule. SSA is nil then.
	Concerned bool

	// SSA is the package in SSA form, without ssa.GlobalDebug.
	SSA *ssa.Package

	// Funcs are the functions with a body in the package's files: declared ones in source order, each followed by its literals.
	Funcs []*ssa.Function

	// Uses are the sinks of the package in source order.
	Uses []*Use

	// Directives are the package's.
	Directives *directive.Index

	pass *analysis.Pass

	lock chan struct{}

	memo    map[ssa.Value]Value
	active  map[ssa.Value]int
	touched int
	steps   int

	pending   []pendingValue
	pendingAt map[ssa.Value]int
	expanded  map[string]int // the functions that were followed from one call, with their arguments, and how deep

	globals    map[*ssa.Global][]ssa.Instruction
	fields     map[*types.Var][]*ssa.Store
	closures   map[*ssa.Function][]*ssa.MakeClosure // where literals are made
	commands   map[*types.Var][]*ssa.UnOp           // loads of fields that hold a command
	fieldMemo  map[*types.Var]Value
	objects    map[string]*types.Func
	sums       map[*ssa.Function]*Summary
	visits     map[*ssa.Function]int
	callers    map[*ssa.Function]map[*ssa.Function]bool
	called     map[*ssa.Function]bool // by a call that says what the receiver is
	importMemo map[*types.Func]*Summary
	named      map[string][]method
	hidden     []hiddenMethod
	byType     map[string]map[string]Callee
	starters   map[string]bool

	fullNames       map[*ssa.Function]string
	isolatesNothing map[*types.Package]bool

	candidateMemo map[candidateKey][]Callee
	uses          map[*ssa.Function][]*Use
	effects       map[*ssa.Function][]Effect
}

// Lock takes the result for one rule alone until the returned function is called.
func (r *Result) Lock() (unlock func()) {
	r.lock <- struct{}{}
	return func() { <-r.lock }
}

func run(pass *analysis.Pass) (any, error) {
	r := &Result{
		pass:       pass,
		Directives: pass.ResultOf[directive.Analyzer].(*directive.Index),
		lock:       make(chan struct{}, 1),
		memo:       make(map[ssa.Value]Value),
		active:     make(map[ssa.Value]int),
		touched:    1 << 30,
		pendingAt:  make(map[ssa.Value]int),
		fieldMemo:  make(map[*types.Var]Value),
		objects:    make(map[string]*types.Func),
		sums:       make(map[*ssa.Function]*Summary),
		visits:     make(map[*ssa.Function]int),
		callers:    make(map[*ssa.Function]map[*ssa.Function]bool),
		called:     make(map[*ssa.Function]bool),
		importMemo: make(map[*types.Func]*Summary),
		uses:       make(map[*ssa.Function][]*Use),
		effects:    make(map[*ssa.Function][]Effect),

		candidateMemo:   make(map[candidateKey][]Callee),
		fullNames:       make(map[*ssa.Function]string),
		isolatesNothing: make(map[*types.Package]bool),
	}
	if directive.Standard(pass) {
		return r, nil
	}
	r.loadFacts()
	concerned, err := r.concerned()
	if err != nil {
		return nil, err
	}
	if !concerned {
		return r, nil
	}
	r.Concerned = true
	r.buildSSA()
	r.summarise()
	r.exportFacts()
	return r, nil
}

// buildSSA builds the package's SSA form, which all rules share. Unlike x/tools' buildssa it does without the control-flow pass and
// its facts: a call that never returns makes no difference to what reaches a sink before it.
func (r *Result) buildSSA() {
	pass := r.pass
	prog := ssa.NewProgram(pass.Fset, ssa.BuilderMode(0))
	for _, p := range pass.Pkg.Imports() {
		prog.CreatePackage(p, nil, nil, true)
	}
	r.SSA = prog.CreatePackage(pass.Pkg, pass.Files, pass.TypesInfo, false)
	r.SSA.Build()

	var add func(fn *ssa.Function)
	add = func(fn *ssa.Function) {
		r.Funcs = append(r.Funcs, fn)
		for _, anon := range fn.AnonFuncs {
			add(anon)
		}
	}
	for _, obj := range declaredFuncs(pass) {
		if fn := prog.FuncValue(obj); fn != nil && len(fn.Blocks) > 0 {
			add(fn)
		}
	}
	if init := r.SSA.Func("init"); init != nil {
		add(init) // the initialisers of package variables, and the literals in them
	}
	r.collectStores()
}

// collectStores finds, in one walk, what is done to package variables and what is stored in fields.
func (r *Result) collectStores() {
	r.globals = make(map[*ssa.Global][]ssa.Instruction)
	r.fields = make(map[*types.Var][]*ssa.Store)
	r.closures = make(map[*ssa.Function][]*ssa.MakeClosure)
	r.commands = make(map[*types.Var][]*ssa.UnOp)
	var ops [8]*ssa.Value
	for _, fn := range r.Funcs {
		for _, b := range fn.Blocks {
			for _, instr := range b.Instrs {
				if store, fa, _ := fieldStore(instr); store != nil {
					f := structOf(fa.X.Type()).Field(fa.Field).Origin()
					r.fields[f] = append(r.fields[f], store)
				}
				if load, ok := instr.(*ssa.UnOp); ok && isCommand(load.Type()) {
					if fa, ok := load.X.(*ssa.FieldAddr); ok {
						f := structOf(fa.X.Type()).Field(fa.Field).Origin()
						r.commands[f] = append(r.commands[f], load)
					}
				}
				for _, op := range instr.Operands(ops[:0]) {
					switch v := (*op).(type) {
					case *ssa.Global:
						if v.Pkg == r.SSA {
							r.globals[v] = append(r.globals[v], instr)
						}
					case *ssa.Function:
						if mk, ok := instr.(*ssa.MakeClosure); ok && mk.Fn == v {
							r.closures[v] = append(r.closures[v], mk)
						}
					}
				}
			}
		}
	}
}

// referrers returns the instructions that use v; for a package variable those of the whole package.
func (r *Result) referrers(v ssa.Value) []ssa.Instruction {
	if g, ok := v.(*ssa.Global); ok {
		return r.globals[g]
	}
	if refs := v.Referrers(); refs != nil {
		return *refs
	}
	return nil
}

// global returns what a package variable is when the program starts; stores of this package come on top.
func (r *Result) global(g *ssa.Global) Value {
	if g.Pkg == r.SSA {
		switch t := g.Type().Underlying().(*types.Pointer).Elem().Underlying().(type) {
		case *types.Array:
			if t.Len() <= maxElems {
				return Value{{Kind: List, Elems: make([]Value, t.Len())}}
			}
		case *types.Struct:
			return Value{{Kind: Struct, Text: typeName(g.Type())}}
		}
		return nil
	}
	if g.Pkg.Pkg.Path() == "os" && g.Name() == "Stdin" {
		return Value{{Kind: Tag, Text: StdinTag}}
	}
	var fact ValueFact
	if obj := g.Object(); obj != nil && r.pass.ImportObjectFact(obj, &fact) {
		return fact.Value
	}
	return unknown()
}

// FieldStores returns what this package stores in the field anywhere, and what the package of the field is known to store in it.
func (r *Result) FieldStores(f *types.Var) Value {
	f = f.Origin()
	if v, ok := r.fieldMemo[f]; ok {
		return v
	}
	r.fieldMemo[f] = nil // while it is computed: a field that holds itself adds nothing
	var out []Value
	for _, st := range r.fields[f] {
		out = append(out, closed(r.eval(st.Val)))
	}
	var fact ValueFact
	if f.Pkg() != nil && f.Pkg() != r.pass.Pkg && r.pass.ImportObjectFact(f, &fact) {
		out = append(out, fact.Value)
	}
	v := r.fieldCommand(f, join(out...))
	v = mapAlts(v, func(a Alt) (Value, bool) {
		if a.Kind == loop {
			return unknown(), true
		}
		return nil, false
	})
	r.fieldMemo[f] = v
	return v
}

// posOf returns the best position for an instruction: its own, or that of what it is about.
func posOf(instr ssa.Instruction) token.Pos {
	if p := instr.Pos(); p.IsValid() {
		return p
	}
	if s, ok := instr.(*ssa.Store); ok {
		if p := s.Addr.Pos(); p.IsValid() {
			return p
		}
		if p := s.Val.Pos(); p.IsValid() {
			return p
		}
	}
	if c, ok := instr.(ssa.CallInstruction); ok {
		if p := c.Common().Pos(); p.IsValid() {
			return p
		}
	}
	for _, op := range instr.Operands(nil) {
		switch v := (*op).(type) {
		case nil, *ssa.Function, *ssa.Global, *ssa.Builtin:
		case *ssa.MakeClosure:
			// The body of a range over a function: the position of the loop.
			if p := v.Fn.Pos(); p.IsValid() {
				return p
			}
		default:
			if p := v.Pos(); p.IsValid() {
				return p
			}
		}
	}
	return instr.Parent().Pos()
}
