package lostfailure

import (
	_ "embed"
	"go/types"
	"strings"

	"github.com/sbxkit/sbxkit/analyzers/internal/directive"
	"github.com/sbxkit/sbxkit/analyzers/internal/flow"
	"github.com/sbxkit/sbxkit/analyzers/internal/rule"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"
)

//go:embed doc.go
var doc string

// Analyzer is the lostfailure rule.
var Analyzer = rule.New(&analysis.Analyzer{
	Name:      "lostfailure",
	Doc:       rule.Doc(doc),
	Run:       run,
	Requires:  []*analysis.Analyzer{directive.Analyzer, flow.Analyzer},
	FactTypes: []analysis.Fact{new(CarrierFact)},
})

// A CarrierFact marks a function whose error is, or wraps, that of a lifecycle call.
type CarrierFact struct {
	From string // the lifecycle call, as a message names it
}

// AFact marks the type as a fact.
func (*CarrierFact) AFact() {}

func (f *CarrierFact) String() string { return "carries " + f.From }

type checker struct {
	pass     *analysis.Pass
	result   *flow.Result
	carriers map[*ssa.Function]string
	seams    map[*types.Package]bool
}

func run(pass *analysis.Pass) (any, error) {
	result := pass.ResultOf[flow.Analyzer].(*flow.Result)
	if !result.Concerned {
		return nil, nil
	}
	defer result.Lock()()
	c := &checker{pass: pass, result: result, carriers: make(map[*ssa.Function]string), seams: make(map[*types.Package]bool)}
	c.uncertain()
	c.exitCodes()
	c.findCarriers()
	for _, fn := range result.Funcs {
		for _, b := range fn.Blocks {
			for _, instr := range b.Instrs {
				if call, ok := instr.(ssa.CallInstruction); ok && !c.driving(call) {
					c.call(fn, call)
				}
			}
		}
	}
	return nil, nil
}

// seam reports whether pkg is where the lifecycle is declared: it has a type marked //sbx:launch that is a struct.
func (c *checker) seam(pkg *types.Package) bool {
	if pkg == nil {
		return false
	}
	if is, ok := c.seams[pkg]; ok {
		return is
	}
	is := false
	if !directive.StandardPath(pkg.Path()) {
		for _, name := range pkg.Scope().Names() {
			if tn, ok := pkg.Scope().Lookup(name).(*types.TypeName); ok && c.result.Directives.Object(tn).Launch {
				is = true
				break
			}
		}
	}
	c.seams[pkg] = is
	return is
}

// driving reports whether the call is one that the package which declares the lifecycle makes of a step of its own: there the steps are made of
// each other, and what the error of one means for the other is decided. Its tests are callers like any other.
func (c *checker) driving(call ssa.CallInstruction) bool {
	if !c.seam(c.pass.Pkg) || strings.HasSuffix(c.pass.Fset.Position(call.Parent().Pos()).Filename, "_test.go") {
		return false
	}
	common := call.Common()
	if common.IsInvoke() {
		return common.Method.Pkg() == c.pass.Pkg
	}
	fn := common.StaticCallee()
	return fn != nil && (fn.Pkg != nil && fn.Pkg.Pkg == c.pass.Pkg || fn.Pkg == nil)
}

// steps are the calls of the lifecycle by name, on types of the seam.
var steps = map[string]bool{
	"Probe": true, "Ensure": true, "Plan": true, "Prepare": true, "Stage": true, "Launch": true, "Run": true, "Start": true, "Wait": true,
	"Signal": true, "Stop": true, "Kill": true, "Reap": true, "Export": true, "Verify": true, "Import": true, "Remove": true,
	"Reconcile": true, "Reopen": true, "Close": true,
}

// lifecycle reports whether fn is a lifecycle call that can fail.
func (c *checker) lifecycle(fn *types.Func) bool {
	if fn == nil || errorResult(fn.Signature()) < 0 {
		return false
	}
	if c.result.Directives.Object(fn).Launch {
		return true
	}
	return steps[fn.Name()] && c.seam(fn.Pkg())
}

// errorResult returns the index of the error among the results, -1 without one.
func errorResult(sig *types.Signature) int {
	n := sig.Results().Len()
	if n == 0 || types.TypeString(sig.Results().At(n-1).Type(), nil) != "error" {
		return -1
	}
	return n - 1
}

// target returns what a message calls the lifecycle call, or a function that carries its error, that the call may be; "" for any other.
func (c *checker) target(common *ssa.CallCommon) string {
	if errorResult(common.Signature()) < 0 {
		return ""
	}
	if common.IsInvoke() && c.lifecycle(common.Method) {
		return short(common.Method)
	}
	if common.IsInvoke() && (common.Method.Pkg() == nil || directive.StandardPath(common.Method.Pkg().Path())) {
		return ""
	}
	for _, callee := range c.result.Callees(common) {
		if c.lifecycle(callee.Obj) {
			return short(callee.Obj)
		}
		if callee.Fn != nil {
			if from := c.carriers[callee.Fn]; from != "" {
				return callee.Short(c.pass.Pkg) + " → " + from
			}
		}
		var fact CarrierFact
		if callee.Obj != nil && callee.Obj.Pkg() != c.pass.Pkg && c.pass.ImportObjectFact(callee.Obj, &fact) {
			return callee.Short(c.pass.Pkg) + " → " + fact.From
		}
	}
	return ""
}

func short(fn *types.Func) string {
	recv := fn.Signature().Recv()
	if recv == nil {
		return fn.Pkg().Name() + "." + fn.Name()
	}
	t := recv.Type()
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	return types.TypeString(t, func(*types.Package) string { return "" }) + "." + fn.Name()
}

// findCarriers finds the functions whose error is that of a lifecycle call, until there are no more, and publishes them.
func (c *checker) findCarriers() {
	for changed := true; changed; {
		changed = false
		for _, fn := range c.result.Funcs {
			if c.carriers[fn] != "" || errorResult(fn.Signature) < 0 {
				continue
			}
			if from := c.carries(fn); from != "" {
				c.carriers[fn] = from
				changed = true
			}
		}
	}
	for fn, from := range c.carriers {
		obj, ok := fn.Object().(*types.Func)
		if ok && fn.Parent() == nil && obj.Pkg() == c.pass.Pkg && (obj.Exported() || obj.Signature().Recv() != nil) {
			c.pass.ExportObjectFact(obj, &CarrierFact{From: from})
		}
	}
}

func (c *checker) carries(fn *ssa.Function) string {
	for _, b := range fn.Blocks {
		for _, instr := range b.Instrs {
			call, ok := instr.(*ssa.Call)
			if !ok {
				continue
			}
			from := c.target(&call.Call)
			if from == "" {
				continue
			}
			if v := errorValue(call); v != nil && returned(v, make(map[ssa.Value]bool)) {
				return from
			}
		}
	}
	return ""
}

// errorValue returns the error that the call gives, nil where nobody takes it.
func errorValue(call *ssa.Call) ssa.Value {
	i := errorResult(call.Call.Signature())
	if call.Call.Signature().Results().Len() == 1 {
		return call
	}
	return extract(call, i)
}

func extract(call *ssa.Call, i int) ssa.Value {
	for _, ref := range *call.Referrers() {
		if e, ok := ref.(*ssa.Extract); ok && e.Index == i {
			return e
		}
	}
	return nil
}

// returned reports whether v, or an error that wraps it, is returned.
func returned(v ssa.Value, seen map[ssa.Value]bool) bool {
	if v == nil || seen[v] || v.Referrers() == nil {
		return false
	}
	seen[v] = true
	for _, ref := range *v.Referrers() {
		switch ref := ref.(type) {
		case *ssa.Return:
			return true
		case *ssa.Phi, *ssa.MakeInterface, *ssa.ChangeInterface, *ssa.ChangeType, *ssa.Slice, *ssa.UnOp, *ssa.Extract:
			if returned(ref.(ssa.Value), seen) {
				return true
			}
		case *ssa.Call:
			if returned(ref, seen) && errorLike(ref.Type()) {
				return true
			}
		case *ssa.Store:
			if ref.Val == v && returned(cellOf(ref.Addr), seen) {
				return true
			}
		}
	}
	return false
}

func errorLike(t types.Type) bool {
	return types.TypeString(t, nil) == "error" || types.Implements(t, types.Universe.Lookup("error").Type().Underlying().(*types.Interface))
}

// cellOf returns the variable, or the array, that an address is in.
func cellOf(addr ssa.Value) ssa.Value {
	switch a := addr.(type) {
	case *ssa.IndexAddr:
		return cellOf(a.X)
	case *ssa.Alloc:
		return a
	}
	return nil
}
