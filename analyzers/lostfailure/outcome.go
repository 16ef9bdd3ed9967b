package lostfailure

import (
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// outcome reports a Result of the call whose outcome nobody looks at. Where the error was told apart it may be dropped: what is
// expected is a refusal.
func (c *checker) outcome(call *ssa.Call, what string, told bool) {
	results := call.Call.Signature().Results()
	for i := range results.Len() - 1 {
		if !c.isResult(results.At(i).Type()) || stops(call) {
			continue
		}
		v := extract(call, i)
		if v == nil || unused(v) {
			if told {
				continue
			}
			c.report(call.Pos(), "result of %s is dropped: without its outcome nobody knows whether the command succeeded; look at Result.Outcome, Err or Success", what)
			continue
		}
		l := look{seen: make(map[ssa.Value]bool)}
		l.follow(v)
		switch {
		case l.looked:
		case l.code != nil:
			c.report(l.code.Pos(), "exit code of %s is read without the outcome beside it: it means something only with Exited; look at Result.Outcome", what)
		default:
			c.report(call.Pos(), "outcome of the result of %s is not looked at; look at Result.Outcome, Err or Success", what)
		}
	}
}

// stops reports whether the call ends the run itself: its outcome is known then.
func stops(call *ssa.Call) bool {
	name := ""
	if call.Call.IsInvoke() {
		name = call.Call.Method.Name()
	} else if fn := call.Call.StaticCallee(); fn != nil {
		name = fn.Name()
	}
	return name == "Stop" || name == "Kill"
}

// isResult reports whether t is the seam's Result.
func (c *checker) isResult(t types.Type) bool {
	t = types.Unalias(t)
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	named, ok := t.(*types.Named)
	if !ok || !c.seam(named.Obj().Pkg()) {
		return false
	}
	st, ok := named.Underlying().(*types.Struct)
	return ok && fieldNamed(st, "Outcome") && fieldNamed(st, "Code")
}

func fieldNamed(st *types.Struct, name string) bool {
	for f := range st.Fields() {
		if f.Name() == name {
			return true
		}
	}
	return false
}

// look is what is done with a Result.
type look struct {
	looked bool
	code   ssa.Instruction // where its exit code is read
	seen   map[ssa.Value]bool
}

func (l *look) follow(v ssa.Value) {
	if l.seen[v] || v.Referrers() == nil {
		return
	}
	l.seen[v] = true
	for _, ref := range *v.Referrers() {
		switch ref := ref.(type) {
		case *ssa.DebugRef, *ssa.BinOp:
		case *ssa.Phi:
			l.follow(ref)
		case *ssa.UnOp:
			l.follow(ref) // a copy of the struct
		case *ssa.FieldAddr:
			l.field(ref, ref.X.Type(), ref.Field)
		case *ssa.Field:
			l.field(ref, ref.X.Type(), ref.Field)
		case *ssa.Store:
			if cell, ok := ref.Addr.(*ssa.Alloc); ok && ref.Val == v && !escapes(cell) {
				for _, use := range *cell.Referrers() {
					switch use := use.(type) {
					case *ssa.FieldAddr:
						l.field(use, use.X.Type(), use.Field)
					case *ssa.UnOp:
						l.follow(use)
					}
				}
				continue
			}
			l.looked = true
		default:
			l.looked = true // returned, handed over, asked by a method
		}
	}
}

func escapes(cell *ssa.Alloc) bool {
	for _, ref := range *cell.Referrers() {
		switch ref.(type) {
		case *ssa.Store, *ssa.UnOp, *ssa.FieldAddr, *ssa.DebugRef:
		default:
			return true
		}
	}
	return false
}

func (l *look) field(at ssa.Instruction, t types.Type, i int) {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	switch t.Underlying().(*types.Struct).Field(i).Name() {
	case "Outcome", "Failure":
		l.looked = true
	case "Code":
		l.code = at
	}
}
