package hostenv

import (
	"go/token"

	"github.com/sbxkit/sbxkit/analyzers/internal/exectable"
	"github.com/sbxkit/sbxkit/analyzers/internal/flow"
	"golang.org/x/tools/go/ssa"
)

// envSet reports whether the function sets the Env of the command at all, and whether a way through the function leads from where the command is made to its start, without its Env being
// set. A command that another function made, or a function literal shares, is not judged.
func envSet(result *flow.Result, start ssa.CallInstruction) (set, missing bool) {
	if len(start.Common().Args) == 0 {
		return false, false
	}
	made := origin(start.Common().Args[0], 0)
	if made == nil || made.Parent() != start.Parent() {
		return false, false
	}
	sets := make(map[ssa.Instruction]bool)
	for _, b := range start.Parent().Blocks {
		for _, instr := range b.Instrs {
			switch instr := instr.(type) {
			case *ssa.Store:
				fa, ok := instr.Addr.(*ssa.FieldAddr)
				if ok && flow.FieldName(fa) == "Env" && origin(fa.X, 0) == made {
					set = true
					if !result.Value(instr.Val).Has(flow.Nil) {
						sets[instr] = true
					}
				}
			case ssa.CallInstruction:
				fn := instr.Common().StaticCallee()
				for i, a := range instr.Common().Args {
					if origin(a, 0) != made {
						continue
					}
					if fn == nil || len(fn.Blocks) > 0 && flow.WritesEnviron(fn, i) {
						set, sets[instr] = true, true
					}
				}
			case *ssa.MakeClosure:
				for _, b := range instr.Bindings {
					if origin(b, 0) == made {
						return true, false
					}
				}
			}
		}
	}
	return set, set && reaches(made, start, sets)
}

// origin returns the call or variable that makes the command v, or nil.
func origin(v ssa.Value, depth int) ssa.Instruction {
	if depth > 6 {
		return nil
	}
	switch v := v.(type) {
	case *ssa.Call:
		if fn := v.Call.StaticCallee(); fn != nil && fn.Pkg != nil && exectable.Makers[fn.Pkg.Pkg.Path()+"."+fn.Name()] {
			return v
		}
	case *ssa.Alloc:
		var only ssa.Instruction
		for _, ref := range *v.Referrers() {
			if st, ok := ref.(*ssa.Store); ok && st.Addr == v {
				if only != nil {
					return nil
				}
				if only = origin(st.Val, depth+1); only == nil {
					return nil
				}
			}
		}
		if only == nil {
			return v // an exec.Cmd literal
		}
		return only
	case *ssa.UnOp:
		if v.Op == token.MUL {
			return origin(v.X, depth+1)
		}
	}
	return nil
}

// reaches reports whether a path leads from one instruction to another that none of stops is on.
func reaches(from, to ssa.Instruction, stops map[ssa.Instruction]bool) bool {
	seen := make(map[*ssa.BasicBlock]bool)
	var walk func(b *ssa.BasicBlock, i int) bool
	walk = func(b *ssa.BasicBlock, i int) bool {
		for _, instr := range b.Instrs[i:] {
			if instr == to {
				return true
			}
			if stops[instr] {
				return false
			}
		}
		for _, s := range b.Succs {
			if !seen[s] {
				seen[s] = true
				if walk(s, 0) {
					return true
				}
			}
		}
		return false
	}
	for i, instr := range from.Block().Instrs {
		if instr == from {
			return walk(from.Block(), i+1)
		}
	}
	return false
}
