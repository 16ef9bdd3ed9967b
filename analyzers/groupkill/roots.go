package groupkill

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// roots returns what tells one child from another among the operands of a call: the variables, fields, parameters and calls that the
// commands, processes and process ids in it come from.
func roots(instr ssa.Instruction) map[any]bool {
	out := make(map[any]bool)
	seen := make(map[ssa.Value]bool)
	for _, op := range instr.Operands(nil) {
		if *op != nil {
			trace(*op, out, seen)
		}
	}
	return out
}

func meet(a, b map[any]bool) bool {
	for k := range a {
		if b[k] {
			return true
		}
	}
	return false
}

func trace(v ssa.Value, out map[any]bool, seen map[ssa.Value]bool) {
	if seen[v] {
		return
	}
	seen[v] = true
	if !leads(v.Type()) {
		if mk, ok := v.(*ssa.MakeClosure); ok {
			for _, b := range mk.Bindings {
				trace(b, out, seen)
			}
		}
		return
	}
	switch v := v.(type) {
	case *ssa.Alloc:
		out[v] = true
		for _, ref := range *v.Referrers() {
			if st, ok := ref.(*ssa.Store); ok && st.Addr == v {
				trace(st.Val, out, seen)
			}
		}
	case *ssa.Parameter, *ssa.Global:
		out[v] = true
	case *ssa.FreeVar:
		i := -1
		for k, f := range v.Parent().FreeVars {
			if f == v {
				i = k
			}
		}
		if mk, ok := maker(v.Parent(), v.Parent().Parent()).(*ssa.MakeClosure); ok && i >= 0 {
			trace(mk.Bindings[i], out, seen)
		}
	case *ssa.Call:
		out[v] = true
		for _, a := range v.Call.Args {
			trace(a, out, seen) // Getpgid(pid)
		}
	case *ssa.Extract:
		trace(v.Tuple, out, seen)
		if call, ok := v.Tuple.(*ssa.Call); ok {
			out[call] = true
			for _, a := range call.Call.Args {
				trace(a, out, seen)
			}
		}
	case *ssa.UnOp:
		if v.Op == token.MUL || v.Op == token.SUB {
			trace(v.X, out, seen)
		}
	case *ssa.BinOp:
		trace(v.X, out, seen)
		trace(v.Y, out, seen)
	case *ssa.Convert:
		trace(v.X, out, seen)
	case *ssa.ChangeType:
		trace(v.X, out, seen)
	case *ssa.Phi:
		for _, e := range v.Edges {
			trace(e, out, seen)
		}
	case *ssa.FieldAddr:
		if leadsNamed(v.X.Type()) {
			trace(v.X, out, seen) // Process of a command, Pid of a process
			return
		}
		if st, ok := pointee(v.X.Type()).Underlying().(*types.Struct); ok {
			out[st.Field(v.Field)] = true
		}
	}
}

// leads reports whether a value of the type is a command, a process or a number that may be a process id, or a pointer to one.
func leads(t types.Type) bool {
	if leadsNamed(t) {
		return true
	}
	t = types.Unalias(t)
	if p, ok := t.(*types.Pointer); ok {
		return leads(p.Elem())
	}
	b, ok := t.(*types.Basic)
	return ok && b.Info()&types.IsInteger != 0 && b.Kind() != types.Uint8
}

func leadsNamed(t types.Type) bool {
	for {
		t = types.Unalias(t)
		p, ok := t.(*types.Pointer)
		if !ok {
			break
		}
		t = p.Elem()
	}
	n, ok := t.(*types.Named)
	if !ok || n.Obj().Pkg() == nil {
		return false
	}
	switch n.Obj().Pkg().Path() + "." + n.Obj().Name() {
	case "os/exec.Cmd", "os.Process":
		return true
	}
	return false
}
