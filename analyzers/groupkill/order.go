package groupkill

import (
	"go/types"

	"github.com/sbxkit/sbxkit/analyzers/internal/flow"
	"golang.org/x/tools/go/ssa"
)

// An order tells what happens after or beside a wait for the same child.
type order struct {
	result *flow.Result
	reaps  map[*ssa.Function][]*flow.Use // by outermost function
}

func newOrder(result *flow.Result) *order {
	o := &order{result: result, reaps: make(map[*ssa.Function][]*flow.Use)}
	for _, use := range result.Uses {
		if use.Kind == flow.Reap && !use.Literal {
			fn := outermost(use.Fn)
			o.reaps[fn] = append(o.reaps[fn], use)
		}
	}
	return o
}

func outermost(fn *ssa.Function) *ssa.Function {
	for fn.Parent() != nil {
		fn = fn.Parent()
	}
	return fn
}

const besideWait = "a child beside the Wait that reaps it: its id may be another's by then; let what waits also signal"

// late says how the signal may come when its target has been reaped, or "".
func (o *order) late(kill *flow.Use) string {
	if readsState(kill.Fn) {
		return "" // it asks whether the child has been reaped
	}
	if literal(kill.Instr) {
		return "" // judged in the literal
	}
	reaps := o.reaps[outermost(kill.Fn)]
	if len(reaps) == 0 {
		return ""
	}
	target := roots(kill.Instr)
	for _, reap := range reaps {
		if reap.Instr == kill.Instr || !meet(target, roots(reap.Instr)) {
			continue
		}
		switch {
		case reap.Fn == kill.Fn:
			if _, ok := reap.Instr.(*ssa.Go); ok && reaches(reap.Instr, kill.Instr) {
				return besideWait
			}
			if follows(reap.Instr, kill.Instr) {
				return "a process that has been reaped: its id may be another's by now; signal before Wait"
			}
		case inside(kill.Fn, reap.Fn):
			switch fate(kill.Fn, reap.Fn) {
			case beside:
				return besideWait
			case atExit:
				if _, deferred := reap.Instr.(*ssa.Defer); !deferred {
					return "a process that has been reaped by the time the function returns; signal before Wait"
				}
			}
		case inside(reap.Fn, kill.Fn):
			if mk, how := maker(reap.Fn, kill.Fn), fate(reap.Fn, kill.Fn); how == beside && mk != nil && reaches(mk, kill.Instr) {
				return besideWait
			}
		}
	}
	return ""
}

// literal reports whether the instruction defers a function literal or runs it in a goroutine.
func literal(instr ssa.Instruction) bool {
	call, ok := instr.(ssa.CallInstruction)
	if _, plain := instr.(*ssa.Call); !ok || plain {
		return false
	}
	_, ok = call.Common().Value.(*ssa.MakeClosure)
	return ok
}

func inside(fn, outer *ssa.Function) bool {
	for fn = fn.Parent(); fn != nil; fn = fn.Parent() {
		if fn == outer {
			return true
		}
	}
	return false
}

// readsState reports whether the function looks at a field or method that says whether a child has been reaped.
func readsState(fn *ssa.Function) bool {
	for _, b := range fn.Blocks {
		for _, instr := range b.Instrs {
			if fa, ok := instr.(*ssa.FieldAddr); ok {
				if n, ok := pointee(fa.X.Type()).(*types.Named); ok && n.Obj().Name() == "Cmd" && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == "os/exec" {
					if n.Underlying().(*types.Struct).Field(fa.Field).Name() == "ProcessState" {
						return true
					}
				}
			}
		}
	}
	return false
}

func pointee(t types.Type) types.Type {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		return types.Unalias(p.Elem())
	}
	return types.Unalias(t)
}

// follows reports whether kill runs after reap when both are in one function.
func follows(reap, kill ssa.Instruction) bool {
	_, laterReap := reap.(*ssa.Defer)
	_, laterKill := kill.(*ssa.Defer)
	switch {
	case laterReap && laterKill:
		return reaches(kill, reap) // last in, first out
	case laterReap:
		return false
	case laterKill:
		return reaches(kill, reap) || reaches(reap, kill)
	}
	return reaches(reap, kill)
}

// reaches reports whether the instruction to may run after from in the same call, without the child being started anew between.
func reaches(from, to ssa.Instruction) bool {
	fb, tb := from.Block(), to.Block()
	if fb == tb && index(fb, from) < index(tb, to) {
		return true
	}
	seen := make(map[*ssa.BasicBlock]bool)
	queue := append([]*ssa.BasicBlock(nil), fb.Succs...)
	for len(queue) > 0 {
		b := queue[0]
		queue = queue[1:]
		if seen[b] {
			continue
		}
		seen[b] = true
		if b == tb && (b != fb || !startsAnew(b, nil, to)) {
			return !startsAnew(b, nil, to)
		}
		if startsAnew(b, nil, nil) {
			continue
		}
		queue = append(queue, b.Succs...)
	}
	return false
}

// startsAnew reports whether the block makes a command or starts one before the instruction to, or at all.
func startsAnew(b *ssa.BasicBlock, _ ssa.Instruction, to ssa.Instruction) bool {
	for _, instr := range b.Instrs {
		if instr == to {
			return false
		}
		call, ok := instr.(*ssa.Call)
		if !ok {
			continue
		}
		fn := call.Call.StaticCallee()
		if fn == nil || fn.Pkg == nil {
			continue
		}
		switch fn.Pkg.Pkg.Path() + "." + fn.Name() {
		case "os/exec.Command", "os/exec.CommandContext", "os/exec.Start", "os.StartProcess", "syscall.ForkExec":
			return true
		}
	}
	return false
}

func index(b *ssa.BasicBlock, instr ssa.Instruction) int {
	for i, x := range b.Instrs {
		if x == instr {
			return i
		}
	}
	return -1
}

// What becomes of a function literal.
type course int

const (
	elsewhere course = iota // nobody knows when it runs, or it runs where it stands
	beside                  // in a goroutine or a timer
	atExit                  // deferred
)

// maker returns the instruction in outer that makes the literal that fn is, or is in.
func maker(fn, outer *ssa.Function) ssa.Instruction {
	for fn.Parent() != outer {
		fn = fn.Parent()
	}
	for _, b := range outer.Blocks {
		for _, instr := range b.Instrs {
			if mk, ok := instr.(*ssa.MakeClosure); ok && mk.Fn == fn {
				return mk
			}
		}
	}
	return nil
}

// fate says how the literal that fn is runs, seen from outer.
func fate(fn, outer *ssa.Function) course {
	for ; fn != outer && fn != nil; fn = fn.Parent() {
		mk, ok := maker(fn, fn.Parent()).(*ssa.MakeClosure)
		if !ok {
			continue
		}
		if c := fateOf(mk, 0); c != elsewhere {
			return c
		}
	}
	return elsewhere
}

func fateOf(v ssa.Value, depth int) course {
	if depth > 4 || v.Referrers() == nil {
		return elsewhere
	}
	for _, ref := range *v.Referrers() {
		switch ref := ref.(type) {
		case *ssa.Go:
			return beside
		case *ssa.Defer:
			if ref.Call.Value == v {
				return atExit
			}
		case *ssa.Call:
			if fn := ref.Call.StaticCallee(); fn != nil && ref.Call.Value != v && runsBeside(fn) {
				return beside
			}
		case *ssa.Store:
			// A local variable that holds the literal.
			if al, ok := ref.Addr.(*ssa.Alloc); ok && ref.Val == v {
				for _, use := range *al.Referrers() {
					if load, ok := use.(*ssa.UnOp); ok {
						if c := fateOf(load, depth+1); c != elsewhere {
							return c
						}
					}
				}
			}
		case *ssa.ChangeType:
			if c := fateOf(ref, depth+1); c != elsewhere {
				return c
			}
		case *ssa.Phi:
			if c := fateOf(ref, depth+1); c != elsewhere {
				return c
			}
		}
	}
	return elsewhere
}

// runsBeside reports whether the function runs its argument in a goroutine of its own.
func runsBeside(fn *ssa.Function) bool {
	obj, ok := fn.Object().(*types.Func)
	if !ok {
		return false
	}
	switch obj.FullName() {
	case "time.AfterFunc", "context.AfterFunc", "(*sync.WaitGroup).Go", "(*golang.org/x/sync/errgroup.Group).Go":
		return true
	}
	return false
}
