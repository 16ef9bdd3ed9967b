package flow

import (
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// Unsandboxed is the effect of a function that calls a backend which isolates nothing, and the tag of what such a call gives.
const Unsandboxed = "unsandboxed"

// MayBeUnsandboxed reports whether the value, or a part of it, may be what a backend that isolates nothing gave.
func MayBeUnsandboxed(v Value) bool {
	found := false
	v.Walk(func(a Alt) bool {
		found = a.Kind == Tag && a.Text == Unsandboxed
		return !found
	})
	return found
}

// UnsandboxedPackage reports whether pkg, another than that of the pass, is a backend that isolates nothing.
func (r *Result) UnsandboxedPackage(pkg *types.Package) bool {
	if pkg == nil || pkg == r.pass.Pkg {
		return false
	}
	is, ok := r.isolatesNothing[pkg]
	if !ok {
		is = r.Directives.PackageOf(pkg).Unsandboxed
		r.isolatesNothing[pkg] = is
	}
	return is
}

// unsandboxedCalls finds calls into a backend that isolates nothing.
func unsandboxedCalls(r *Result, _ *ssa.Function, instr ssa.Instruction, _ func(Sink), effect func(Effect)) {
	call, ok := instr.(ssa.CallInstruction)
	if !ok || call.Common().IsInvoke() {
		return
	}
	common := call.Common()
	if fn := common.StaticCallee(); fn != nil {
		if obj, ok := fn.Object().(*types.Func); ok && r.UnsandboxedPackage(obj.Pkg()) && !r.preferredOnly(instr) {
			effect(Effect{Kind: Unsandboxed, What: fullName(fn)})
		}
		return
	}
	if _, ok := common.Value.(*ssa.Builtin); ok {
		return
	}
	for _, c := range r.funcsIn(r.Value(common.Value)) {
		if c.Fn == nil && r.UnsandboxedPackage(r.packageOf(c)) {
			effect(Effect{Kind: Unsandboxed, What: c.Name})
		}
	}
}

// UnsandboxedCall reports whether the call goes into a backend that isolates nothing, or may reach a function that does, and returns that effect. A
// step of the lifecycle that an interface declares is the step of whatever backend stands behind it.
func (r *Result) UnsandboxedCall(call ssa.CallInstruction) (Effect, bool) {
	for _, e := range r.effects[call.Parent()] {
		if e.Kind == Unsandboxed && len(e.Via) == 0 && e.at == posOf(call) {
			return e, true
		}
	}
	common := call.Common()
	if common.IsInvoke() && r.Directives.Launches(common.Method.Pkg()) {
		return Effect{}, false
	}
	for _, c := range r.Callees(common) {
		if c.Param != nil || r.driver(c) || c.Obj != nil && r.Directives.Object(c.Obj).Launch {
			continue
		}
		for _, e := range r.EffectsOf(c) {
			if e.Kind == Unsandboxed {
				e.Via = r.via(c, e.at, e.Via)
				return e, true
			}
		}
	}
	return Effect{}, false
}

// packageOf returns the package of a callee without a body here, as far as this package or a fact names it.
func (r *Result) packageOf(c Callee) *types.Package {
	if c.Obj != nil {
		return c.Obj.Pkg()
	}
	return nil
}

// unsandboxedResult answers for what a call into a backend that isolates nothing gives: anything but the error is of that backend.
func (r *Result) unsandboxedResult(call *ssa.Call, i int) (Value, bool) {
	fn := call.Call.StaticCallee()
	if fn == nil {
		return nil, false
	}
	obj, ok := fn.Object().(*types.Func)
	if !ok || !r.UnsandboxedPackage(obj.Pkg()) {
		return nil, false
	}
	if results := fn.Signature.Results(); i >= results.Len() || types.TypeString(results.At(i).Type(), nil) == "error" || r.preferredOnly(call) {
		return unknown(), true
	}
	return Value{{Kind: Tag, Text: Unsandboxed}}, true
}

// preferredOnly reports whether all that is done with what the call gives is to hand it to the seam beside WithMode(Preferred): the one way to
// run without a sandbox where there is none, which the seam decides on and tells of.
func (r *Result) preferredOnly(instr ssa.Instruction) bool {
	call, ok := instr.(*ssa.Call)
	if !ok || r.Directives.Package.Seam == "" {
		return false
	}
	v := ssa.Value(call)
	if call.Call.Signature().Results().Len() > 1 {
		v = nil
		for _, ref := range *call.Referrers() {
			if e, ok := ref.(*ssa.Extract); ok && e.Index == 0 {
				v = e
			}
		}
	}
	return v != nil && preferredAlone(v, 0)
}

// ForPreferred reports whether all that a seam package does with a backend is to hand it to the seam beside WithMode(Preferred).
func (r *Result) ForPreferred(backend ssa.Value) bool {
	return r.Directives.Package.Seam != "" && backend.Referrers() != nil && preferredAlone(backend, 0)
}

func preferredAlone(v ssa.Value, depth int) bool {
	if depth > 4 || len(*v.Referrers()) == 0 {
		return false
	}
	handed := false
	for _, ref := range *v.Referrers() {
		switch ref := ref.(type) {
		case *ssa.DebugRef:
			continue
		case *ssa.MakeInterface, *ssa.ChangeInterface:
			if !preferredAlone(ref.(ssa.Value), depth+1) {
				return false
			}
		case *ssa.Call:
			fn := ref.Call.StaticCallee()
			if fn == nil || fn.Name() != "WithUnsandboxed" || !besidePreferred(ref) {
				return false
			}
		default:
			return false
		}
		handed = true
	}
	return handed
}

// besidePreferred reports whether the option goes into one list of options with WithMode(Preferred), and nowhere else.
func besidePreferred(option *ssa.Call) bool {
	if len(*option.Referrers()) != 1 {
		return false
	}
	st, ok := (*option.Referrers())[0].(*ssa.Store)
	if !ok {
		return false
	}
	at, ok := st.Addr.(*ssa.IndexAddr)
	if !ok {
		return false
	}
	list, ok := at.X.(*ssa.Alloc)
	if !ok {
		return false
	}
	preferred := false
	for _, ref := range *list.Referrers() {
		other, ok := ref.(*ssa.IndexAddr)
		if !ok {
			continue
		}
		for _, use := range *other.Referrers() {
			set, ok := use.(*ssa.Store)
			if !ok {
				continue
			}
			if c, ok := set.Val.(*ssa.Call); ok && c.Call.StaticCallee() != nil && c.Call.StaticCallee().Name() == "WithMode" {
				k := constValueOf(c.Call.Args)
				preferred = k == "preferred"
			}
		}
	}
	return preferred
}

func constValueOf(args []ssa.Value) string {
	if len(args) != 1 {
		return ""
	}
	k, ok := args[0].(*ssa.Const)
	if !ok {
		return ""
	}
	if v := constValue(k); len(v) == 1 && v[0].Kind == Str {
		return v[0].Text
	}
	return ""
}
