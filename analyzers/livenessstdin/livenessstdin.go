package livenessstdin

import (
	_ "embed"
	"go/token"
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

// Analyzer is the livenessstdin rule.
var Analyzer = rule.New(&analysis.Analyzer{
	Name:     "livenessstdin",
	Doc:      rule.Doc(doc),
	Run:      run,
	Requires: []*analysis.Analyzer{directive.Analyzer, flow.Analyzer},
})

type checker struct {
	pass   *analysis.Pass
	result *flow.Result

	// kept are the fields and package variables in which this package keeps stdin.
	kept map[string]bool
}

func run(pass *analysis.Pass) (any, error) {
	result := pass.ResultOf[flow.Analyzer].(*flow.Result)
	if !result.Concerned {
		return nil, nil
	}
	defer result.Lock()()
	c := &checker{pass: pass, result: result, kept: make(map[string]bool)}
	for _, u := range result.Uses {
		if u.Kind == flow.StdinStore && u.Vals[0].IsStdin() {
			c.kept[u.What] = true
		}
	}
	seen := make(map[*ssa.Function]bool)
	for _, fn := range c.ownHooks() {
		if !seen[fn] {
			seen[fn] = true
			c.hook(fn)
		}
	}
	for _, u := range result.Uses {
		if u.Kind == flow.StdinHook {
			c.made(u, seen)
		}
	}
	for _, fn := range result.Funcs {
		c.converted(fn)
	}
	return nil, nil
}

// ownHooks returns the functions of the package that are hooks by what they are: marked //sbx:liveness, or a method by which a type of the
// package implements a marked interface.
func (c *checker) ownHooks() []*ssa.Function {
	var out []*ssa.Function
	marked := c.markedInterfaces()
	for _, fn := range c.result.Funcs {
		obj, ok := fn.Object().(*types.Func)
		if !ok || fn.Parent() != nil {
			continue
		}
		if c.result.Directives.Object(obj).Liveness {
			out = append(out, fn)
			continue
		}
		recv := obj.Signature().Recv()
		if recv == nil {
			continue
		}
		for _, m := range marked {
			if m.has(obj.Name()) && (types.Implements(recv.Type(), m.iface) || types.Implements(types.NewPointer(recv.Type()), m.iface)) {
				out = append(out, fn)
			}
		}
	}
	return out
}

// A markedInterface is an interface whose methods, or some of them, are hooks.
type markedInterface struct {
	iface *types.Interface
	only  map[string]bool // nil: all
}

func (m markedInterface) has(name string) bool {
	if m.only != nil {
		return m.only[name]
	}
	for f := range m.iface.Methods() {
		if f.Name() == name {
			return true
		}
	}
	return false
}

// markedInterfaces returns the interfaces of the package and of those it imports that are marked, in a fixed order.
func (c *checker) markedInterfaces() []markedInterface {
	var out []markedInterface
	for _, pkg := range append([]*types.Package{c.pass.Pkg}, c.pass.Pkg.Imports()...) {
		for _, name := range pkg.Scope().Names() {
			tn, ok := pkg.Scope().Lookup(name).(*types.TypeName)
			if !ok || tn.IsAlias() {
				continue
			}
			iface, ok := tn.Type().Underlying().(*types.Interface)
			if !ok || iface.NumMethods() == 0 {
				continue
			}
			if named, ok := tn.Type().(*types.Named); ok && named.TypeParams() != nil {
				continue
			}
			if c.result.Directives.Object(tn).Liveness {
				out = append(out, markedInterface{iface: iface})
				continue
			}
			only := make(map[string]bool)
			for f := range iface.Methods() {
				if c.result.Directives.Object(f).Liveness {
					only[f.Name()] = true
				}
			}
			if len(only) > 0 {
				out = append(out, markedInterface{iface, only})
			}
		}
	}
	return out
}

// hook reports what a hook of this package does to stdin.
func (c *checker) hook(fn *ssa.Function) {
	for _, e := range c.result.Effects(fn) {
		if c.touches(&e) {
			c.report(e.Pos(), flow.ShortName(fn, c.pass.Pkg), &e)
		}
	}
}

// made reports what the functions that one use makes hooks do to stdin: those of this package where they do it, others where they become
// hooks.
func (c *checker) made(u *flow.Use, seen map[*ssa.Function]bool) {
	if u.From != nil && u.From.Vals[0].IsStdin() {
		return
	}
	reported := false
	for _, callee := range c.result.FuncsIn(u.Vals[0]) {
		callee = c.method(callee)
		if fn := callee.Fn; fn != nil && c.declaredHere(fn) {
			if !seen[fn] {
				seen[fn] = true
				before := c.count(fn)
				c.hook(fn)
				reported = reported || before > 0
			} else if c.count(fn) > 0 {
				reported = true
			}
			continue
		}
		for _, e := range c.result.EffectsOf(callee) {
			if c.touches(&e) {
				c.report(u.Pos, callee.Short(c.pass.Pkg), &e)
				reported = true
			}
		}
	}
	if !reported && u.Vals[0].IsStdin() {
		name := "the hook"
		if len(u.Via) > 0 {
			name = u.Via[0].Name
		}
		c.pass.Report(analysis.Diagnostic{
			Pos: u.Pos, Message: "liveness hook reaches stdin through " + name + " → stdin, which it takes along; " + cure,
			Related: c.result.Related(u.Via),
		})
	}
}

// method returns the method behind a method value, so that what it does is reported where it does it.
func (c *checker) method(callee flow.Callee) flow.Callee {
	if callee.Fn == nil || callee.Fn.Synthetic == "" || callee.Obj == nil {
		return callee
	}
	if fn := c.result.SSA.Prog.FuncValue(callee.Obj); fn != nil && len(fn.Blocks) > 0 {
		callee.Fn = fn
	}
	return callee
}

func (c *checker) count(fn *ssa.Function) int {
	n := 0
	for _, e := range c.result.Effects(fn) {
		if c.touches(&e) {
			n++
		}
	}
	return n
}

// declaredHere reports whether fn stands in the source of the package: its position can be reported.
func (c *checker) declaredHere(fn *ssa.Function) bool {
	return fn.Synthetic == "" && fn.Pkg == c.result.SSA || fn.Parent() != nil
}

// converted reports values of other packages' types that become hooks here and use a field that is stdin only by what this package puts
// into it.
func (c *checker) converted(fn *ssa.Function) {
	for _, b := range fn.Blocks {
		for _, instr := range b.Instrs {
			mk, ok := instr.(*ssa.MakeInterface)
			if !ok || !c.result.Directives.Type(mk.Type()).Liveness {
				continue
			}
			iface, ok := mk.Type().Underlying().(*types.Interface)
			if !ok {
				continue
			}
			for m := range iface.Methods() {
				obj, _, _ := types.LookupFieldOrMethod(mk.X.Type(), true, m.Pkg(), m.Name())
				method, ok := obj.(*types.Func)
				if !ok || method.Pkg() == c.pass.Pkg {
					continue
				}
				for _, e := range c.result.EffectsOf(flow.Callee{Name: method.FullName(), Obj: method.Origin()}) {
					if e.Kind == flow.StdinField && c.kept[e.What] {
						pos := mk.Pos()
						if !pos.IsValid() {
							pos = mk.X.Pos()
						}
						c.report(pos, flow.ShortObject(method, c.pass.Pkg), &e)
					}
				}
			}
		}
	}
}

// touches reports whether the effect is a use of stdin.
func (c *checker) touches(e *flow.Effect) bool {
	return e.Kind == flow.StdinUse || e.Kind == flow.StdinField && c.kept[e.What]
}

const cure = "a hook that writes, reads or closes the agent's stdin interferes with the agent it watches: look at its output, its files or its heartbeat"

func (c *checker) report(pos token.Pos, hook string, e *flow.Effect) {
	c.pass.Report(analysis.Diagnostic{
		Pos:     pos,
		Message: "liveness hook reaches stdin through " + hook + " → " + c.chain(e) + "; " + cure,
		Related: c.result.Related(e.Via),
	})
}

// chain renders the way from the hook to the use.
func (c *checker) chain(e *flow.Effect) string {
	var b strings.Builder
	for _, s := range e.Via {
		b.WriteString(s.Name + " → ")
	}
	what := e.What
	if e.Kind == flow.StdinField {
		what = strings.TrimPrefix(flow.ShortWhat(what), c.pass.Pkg.Name()+".")
	}
	b.WriteString(what)
	return b.String()
}
