package flow

import (
	"cmp"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// fullName returns the name of fn as the tables and facts spell it: "os/exec.Command", "(*os/exec.Cmd).Run"; an instance of a
// generic function goes by the name of the generic one, a literal by its parent's with a number.
func fullName(fn *ssa.Function) string {
	if o := fn.Origin(); o != nil {
		fn = o
	}
	if obj, ok := fn.Object().(*types.Func); ok {
		return obj.Origin().FullName()
	}
	if fn.Pkg != nil {
		return fn.Pkg.Pkg.Path() + "." + fn.Name()
	}
	return fn.Name()
}

// fullName is fullName(fn), which is asked for at every call of fn and takes a while to put together.
func (r *Result) fullName(fn *ssa.Function) string {
	name, ok := r.fullNames[fn]
	if !ok {
		name = fullName(fn)
		r.fullNames[fn] = name
	}
	return name
}

// ShortName returns the name a message calls fn by: "run", "(*Runner).Start", "exec.Command", "function literal in run".
func ShortName(fn *ssa.Function, from *types.Package) string {
	if fn.Parent() != nil {
		p := fn
		for p.Parent() != nil {
			p = p.Parent()
		}
		return "function literal in " + ShortName(p, from)
	}
	if obj, ok := fn.Object().(*types.Func); ok {
		return ShortObject(obj, from)
	}
	return fn.Name()
}

// ShortObject is ShortName for a declared function.
func ShortObject(obj *types.Func, from *types.Package) string {
	obj = obj.Origin()
	recv := obj.Signature().Recv()
	q := func(p *types.Package) string {
		if p == from {
			return ""
		}
		return p.Name()
	}
	if recv == nil {
		if obj.Pkg() == nil || obj.Pkg() == from {
			return obj.Name()
		}
		return obj.Pkg().Name() + "." + obj.Name()
	}
	t := types.TypeString(recv.Type(), q)
	if i := strings.IndexByte(t, '['); i >= 0 && !strings.HasPrefix(t, "[") {
		t = t[:i]
	}
	if strings.HasPrefix(t, "*") {
		return "(" + t + ")." + obj.Name()
	}
	return t + "." + obj.Name()
}

// A Callee is one function a call may reach.
type Callee struct {
	Name  string        // full name
	Obj   *types.Func   // nil for a function literal
	Fn    *ssa.Function // nil when the body is another package's
	Free  []Value       // values of the free variables
	Sum   *Summary      // set for a function literal of another package
	Param *Alt          // the callee is a parameter or free variable of the caller
	Recv  string        // for an interface call: the package path and name of the method's type
}

// Short returns the name a message calls the callee by.
func (c Callee) Short(from *types.Package) string { return c.short(from) }

func (c Callee) short(from *types.Package) string {
	switch {
	case c.Fn != nil:
		return ShortName(c.Fn, from)
	case c.Obj != nil:
		return ShortObject(c.Obj, from)
	}
	name := c.Name
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		name = name[i+1:]
	}
	return name
}

// Callees returns the functions the call may reach, as far as they are known, in a fixed order: the one it names, those its function
// value may be, or the implementations in this package and those of imported packages that have a summary.
func (r *Result) Callees(call *ssa.CallCommon) []Callee {
	if call.IsInvoke() {
		return r.implementations(call)
	}
	if fn := call.StaticCallee(); fn != nil {
		c := r.calleeOf(fn)
		if mk, ok := call.Value.(*ssa.MakeClosure); ok {
			for _, b := range mk.Bindings {
				c.Free = append(c.Free, r.Value(b))
			}
		}
		return []Callee{c}
	}
	if _, ok := call.Value.(*ssa.Builtin); ok {
		return nil
	}
	return r.funcsIn(r.Value(call.Value))
}

func (r *Result) calleeOf(fn *ssa.Function) Callee {
	if o := fn.Origin(); o != nil {
		fn = o
	}
	c := Callee{Name: r.fullName(fn), Fn: fn}
	if obj, ok := fn.Object().(*types.Func); ok {
		c.Obj = obj.Origin()
	}
	if len(fn.Blocks) == 0 {
		c.Fn = nil
	}
	return c
}

// funcsIn returns the functions among the alternatives of v.
func (r *Result) funcsIn(v Value) []Callee {
	var out []Callee
	for _, a := range v {
		switch a.Kind {
		case Func:
			if a.fn != nil {
				c := r.calleeOf(a.fn)
				c.Free = a.Elems
				out = append(out, c)
				continue
			}
			out = append(out, Callee{Name: a.Text, Free: a.Elems, Sum: a.Sum, Obj: r.objects[a.Text]})
		case Param:
			p := a
			out = append(out, Callee{Name: "parameter", Param: &p})
		}
	}
	return out
}

// FuncsIn returns the functions of a value.
func (r *Result) FuncsIn(v Value) []Callee { return r.funcsIn(v) }

// implementations returns the methods an interface call may reach. When the value's type is known it is that type's.
func (r *Result) implementations(call *ssa.CallCommon) []Callee {
	iface, ok := call.Value.Type().Underlying().(*types.Interface)
	if !ok {
		return nil // a type parameter
	}
	all := r.candidates(iface, call.Method.Name())
	if len(all) < 2 {
		// Not worth the trouble of finding out what the value is.
		return all
	}
	var out []Callee
	for _, a := range r.Value(call.Value) {
		if a.Kind == Nil {
			continue
		}
		c, ok := Callee{}, false
		if a.Kind == Struct && a.Text != "" {
			c, ok = r.methodOf(a.Text, call.Method.Name())
		}
		if !ok {
			return all
		}
		out = append(out, c)
	}
	if len(out) == 0 {
		return all
	}
	return out
}

// candidates returns the methods of that name of all types that implement the interface: of this package, and those of imported ones that have
// a summary.
func (r *Result) candidates(iface *types.Interface, name string) []Callee {
	k := candidateKey{iface, name}
	if out, ok := r.candidateMemo[k]; ok {
		return out
	}
	var out []Callee
	seen := make(map[string]bool)
	for _, m := range r.methodsNamed(name) {
		if seen[m.callee.Name] || !types.Implements(m.recv, iface) && !types.Implements(types.NewPointer(m.recv), iface) {
			continue
		}
		seen[m.callee.Name] = true
		out = append(out, m.callee)
	}
	for _, h := range r.hiddenNamed(name) {
		if !seen[h.callee.Name] && h.fits(iface) {
			seen[h.callee.Name] = true
			out = append(out, h.callee)
		}
	}
	r.candidateMemo[k] = out
	return out
}

type candidateKey struct {
	iface *types.Interface
	name  string
}

// Methods returns the methods of the named type that t is or points to, as far as they are known: with a body here, or a summary elsewhere.
func (r *Result) Methods(t types.Type) []Callee {
	r.ownMethods()
	byName := r.byType[typeName(t)]
	out := make([]Callee, 0, len(byName))
	for _, c := range byName {
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b Callee) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// SinksOf returns what a callee of any package does with its parameters.
func (r *Result) SinksOf(c Callee) []Sink {
	if sum := r.summaryOf(c, nil); sum != nil {
		return sum.Sinks
	}
	return nil
}

// CalleeOf returns the callee that fn is.
func (r *Result) CalleeOf(fn *ssa.Function) Callee { return r.calleeOf(fn) }

// Args returns the arguments of the call as the callee's parameters see them: the receiver first.
func (r *Result) Args(call *ssa.CallCommon) []Value {
	var out []Value
	if call.IsInvoke() {
		out = append(out, r.Value(call.Value))
	}
	for _, a := range call.Args {
		out = append(out, r.Value(a))
	}
	return out
}

// callResult returns result i of the call.
func (r *Result) callResult(call *ssa.Call, i int) Value {
	if b, ok := call.Call.Value.(*ssa.Builtin); ok {
		return r.builtin(b, call)
	}
	if !call.Call.IsInvoke() {
		if fn := call.Call.StaticCallee(); fn != nil {
			if v, ok := r.model(r.fullName(fn), call, i); ok {
				return v
			}
			if v, ok := r.unsandboxedResult(call, i); ok {
				return v
			}
		}
	}
	callees := r.Callees(&call.Call)
	if v, ok := r.stdinResult(call, i, callees); ok {
		return v
	}
	if len(callees) == 0 {
		return unknown()
	}
	var out []Value
	args := r.lazyArgs(&call.Call)
	for _, c := range callees {
		ret, known := r.returned(c, i)
		if !known {
			out = append(out, unknown())
			continue
		}
		out = append(out, substituteLazy(ret, args, c.Free))
	}
	return join(out...)
}

// returned returns what result i of the callee may be, in terms of its parameters.
func (r *Result) returned(c Callee, i int) (Value, bool) {
	switch {
	case c.Fn != nil:
		return r.results(c.Fn, i)
	case c.Sum != nil:
		if i < len(c.Sum.Returns) {
			return c.Sum.Returns[i], len(c.Sum.Returns[i]) > 0
		}
	case c.Obj != nil:
		if s := r.imported(c.Obj); s != nil && i < len(s.Returns) {
			return s.Returns[i], len(s.Returns[i]) > 0
		}
	}
	return nil, false
}

// results returns what result i of a function with a body in this package may be.
func (r *Result) results(fn *ssa.Function, i int) (Value, bool) {
	var out []Value
	if i >= fn.Signature.Results().Len() {
		return nil, false
	}
	for _, b := range fn.Blocks {
		ret, ok := lastInstr(b).(*ssa.Return)
		if !ok || i >= len(ret.Results) {
			continue
		}
		out = append(out, r.eval(ret.Results[i]))
	}
	if len(out) == 0 {
		return nil, false
	}
	return join(out...), true
}

func lastInstr(b *ssa.BasicBlock) ssa.Instruction {
	if len(b.Instrs) == 0 {
		return nil
	}
	return b.Instrs[len(b.Instrs)-1]
}

// receiver keeps of an interface value what can be the receiver of a method of the type: behind an interface that came from elsewhere any other type
// may stand, and its fields are not those of this one.
func receiver(v Value, t string) Value {
	var out []Value
	for _, a := range v {
		if a.Kind == Struct && (a.Text == t || a.Text == "") {
			out = append(out, Value{a})
		}
	}
	if len(out) == 0 {
		return unknown()
	}
	return join(out...)
}

// lazyArgs returns the arguments of the call by index, each computed when it is asked for.
func (r *Result) lazyArgs(call *ssa.CallCommon) func(int) Value {
	return func(i int) Value {
		if call.IsInvoke() {
			if i == 0 {
				return r.eval(call.Value)
			}
			i--
		}
		if i >= len(call.Args) {
			return nil
		}
		return r.eval(call.Args[i])
	}
}

// substitute replaces parameters and free variables in v by the values they have at one call.
func substitute(v Value, args, free []Value) Value {
	return substituteLazy(v, func(i int) Value {
		if i < len(args) {
			return args[i]
		}
		return nil
	}, free)
}

func substituteLazy(v Value, args func(int) Value, free []Value) Value {
	if !v.Open() {
		return v
	}
	out := mapAlts(v, func(a Alt) (Value, bool) {
		if a.Kind != Param {
			return nil, false
		}
		var by Value
		if n := int(a.N); n < FreeVar {
			by = args(n)
		} else if n -= FreeVar; n < len(free) {
			by = free[n]
		}
		if len(by) == 0 {
			return unknown(), true
		}
		return alongPath(by, a.Path), true
	})
	return bound(out)
}

func alongPath(v Value, path []string) Value {
	for _, step := range path {
		switch {
		case step[0] == '.':
			v = v.Field(step[1:])
			if step == ".SysProcAttr" || step == ".Env" {
				v = orNil(v)
			}
		case step == "[]":
			v = v.Element()
		case strings.HasSuffix(step, ":]"):
			v = v.From(atoi(step[1 : len(step)-2]))
		default:
			v = v.Index(atoi(step[1 : len(step)-1]))
		}
	}
	if len(v) == 0 {
		return unknown()
	}
	return v
}

func atoi(s string) int {
	n := 0
	for _, c := range s {
		n = n*10 + int(c-'0')
	}
	return n
}
