package lostfailure

import (
	"fmt"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"
)

// call judges what becomes of the error and of the result of one call.
func (c *checker) call(fn *ssa.Function, instr ssa.CallInstruction) {
	what := c.target(instr.Common())
	if what == "" {
		return
	}
	call, ok := instr.(*ssa.Call)
	if !ok {
		how := "defer"
		if _, ok := instr.(*ssa.Go); ok {
			how = "go"
		}
		c.report(instr.Pos(), "error of %s is dropped by %s; take it in a function literal and join it to what is returned", what, how)
		return
	}
	pos := call.Pos()
	v := errorValue(call)
	if v == nil || unused(v) {
		c.report(pos, "error of %s is dropped; return it, join it or record it", what)
		return
	}
	if cell, st := storedIn(v); cell != nil && overwritten(cell, st) {
		c.report(pos, "error of %s is overwritten before anybody looks at it; join the two", what)
		return
	}
	f := fate{seen: make(map[ssa.Value]bool)}
	f.follow(v)
	if !f.handled {
		if f.logged == 0 && len(f.tests) == 0 {
			c.report(pos, "error of %s is dropped; return it, join it or record it", what)
			return
		}
		if c.lost(fn, call, &f, what) {
			return
		}
	}
	c.outcome(call, what, f.told)
}

// unused reports whether nothing at all uses v.
func unused(v ssa.Value) bool {
	for _, ref := range *v.Referrers() {
		if _, ok := ref.(*ssa.DebugRef); !ok {
			return false
		}
	}
	return true
}

// storedIn returns the variable in memory that v goes to, when that is all that happens to it.
func storedIn(v ssa.Value) (*ssa.Alloc, *ssa.Store) {
	refs := *v.Referrers()
	if len(refs) != 1 {
		return nil, nil
	}
	st, ok := refs[0].(*ssa.Store)
	if !ok || st.Val != v {
		return nil, nil
	}
	cell, _ := st.Addr.(*ssa.Alloc)
	return cell, st
}

// overwritten reports whether on every way on from the store another store to the variable comes before anything can read it.
func overwritten(cell *ssa.Alloc, st *ssa.Store) bool {
	if st.Block() == nil {
		return false
	}
	instrs := st.Block().Instrs
	for i, instr := range instrs {
		if instr == st {
			return overwrittenFrom(cell, st.Block(), instrs[i+1:], make(map[*ssa.BasicBlock]bool))
		}
	}
	return false
}

func overwrittenFrom(cell *ssa.Alloc, b *ssa.BasicBlock, instrs []ssa.Instruction, seen map[*ssa.BasicBlock]bool) bool {
	for _, instr := range instrs {
		if st, ok := instr.(*ssa.Store); ok && st.Addr == cell {
			return true
		}
		switch instr := instr.(type) {
		case *ssa.Return, *ssa.RunDefers, *ssa.Panic:
			return false
		case ssa.CallInstruction:
			// A literal that has the variable may run now.
			if _, ok := instr.Common().Value.(*ssa.Function); !ok && !instr.Common().IsInvoke() {
				return false
			}
		}
		for _, op := range instr.Operands(nil) {
			if *op == cell {
				return false
			}
		}
	}
	for _, next := range b.Succs {
		if seen[next] {
			continue
		}
		seen[next] = true
		if !overwrittenFrom(cell, next, next.Instrs, seen) {
			return false
		}
	}
	return len(b.Succs) > 0
}

// fate is what becomes of an error.
type fate struct {
	handled bool         // returned, stored, handed over, told apart
	told    bool         // asked what it is, or handed to a function that may
	logged  int          // times it is written to a log and nothing else
	tests   []*ssa.BinOp // comparisons with nil
	seen    map[ssa.Value]bool
}

func (f *fate) follow(v ssa.Value) {
	if v == nil || f.seen[v] || v.Referrers() == nil {
		return
	}
	f.seen[v] = true
	for _, ref := range *v.Referrers() {
		switch ref := ref.(type) {
		case *ssa.DebugRef:
		case *ssa.BinOp:
			if isNil(ref.X) || isNil(ref.Y) {
				f.tests = append(f.tests, ref)
			} else {
				f.handled = true
			}
		case *ssa.Phi, *ssa.MakeInterface, *ssa.ChangeInterface, *ssa.ChangeType, *ssa.Slice:
			f.follow(ref.(ssa.Value))
		case *ssa.Store:
			if ia, ok := ref.Addr.(*ssa.IndexAddr); ok && ref.Val == v {
				if al, ok := ia.X.(*ssa.Alloc); ok {
					f.slice(al)
					continue
				}
			}
			f.handled = true
		case ssa.CallInstruction:
			f.passed(ref)
		default:
			f.handled = true
		}
	}
}

// slice follows the array of variadic arguments that the error is put into.
func (f *fate) slice(al *ssa.Alloc) {
	for _, ref := range *al.Referrers() {
		if s, ok := ref.(*ssa.Slice); ok {
			f.follow(s)
		}
	}
}

func (f *fate) passed(call ssa.CallInstruction) {
	common := call.Common()
	v, isValue := call.(ssa.Value)
	var obj *types.Func
	if common.IsInvoke() {
		obj = common.Method
	} else if fn := common.StaticCallee(); fn != nil {
		obj, _ = fn.Object().(*types.Func)
	} else if b, ok := common.Value.(*ssa.Builtin); ok && (b.Name() == "print" || b.Name() == "println") {
		f.logged++
		return
	}
	switch {
	case obj == nil:
		f.handled = true
	case logs(obj):
		f.logged++
	case isValue && rewords(obj):
		f.follow(v)
	default:
		f.handled, f.told = true, true
	}
}

// rewords reports whether fn only makes another error or a text of the error it is given.
func rewords(fn *types.Func) bool {
	switch fn.FullName() {
	case "fmt.Errorf", "fmt.Sprintf", "fmt.Sprint", "fmt.Sprintln", "errors.Join", "errors.Unwrap", "(error).Error", "log/slog.Any", "log/slog.String":
		return true
	}
	return fn.Name() == "Error" && fn.Signature().Params().Len() == 0
}

// logs reports whether fn does no more with an error than to write it down for a person.
func logs(fn *types.Func) bool {
	name := fn.Name()
	pkg := ""
	if fn.Pkg() != nil {
		pkg = fn.Pkg().Path()
	}
	switch {
	case strings.HasPrefix(name, "Fatal"), strings.HasPrefix(name, "Panic"):
		return false
	case pkg == "log", pkg == "log/slog":
		return name != "New" && name != "With"
	case pkg == "fmt":
		return strings.HasPrefix(name, "Print") || strings.HasPrefix(name, "Fprint")
	case pkg == "testing":
		return name == "Log" || name == "Logf"
	}
	base := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, "Context"), "f"), "w"), "ln")
	switch strings.ToLower(base) {
	case "log", "logerror", "logwarn", "logwarning", "loginfo", "logdebug":
		return true
	case "debug", "info", "warn", "warning", "error", "trace", "print", "notice":
		where := strings.ToLower(pkg)
		if recv := fn.Signature().Recv(); recv != nil {
			where += strings.ToLower(types.TypeString(recv.Type(), nil))
		}
		return strings.Contains(where, "log") || strings.Contains(where, "zap")
	}
	return false
}

func isNil(v ssa.Value) bool {
	k, ok := v.(*ssa.Const)
	return ok && k.IsNil()
}

// lost reports an error that was only looked at or logged when the function goes on as if there were none.
func (c *checker) lost(fn *ssa.Function, call *ssa.Call, f *fate, what string) bool {
	verb := "looked at"
	if f.logged > 0 {
		verb = "logged"
	}
	var starts []*ssa.BasicBlock
	for _, t := range f.tests {
		for _, ref := range *t.Referrers() {
			br, ok := ref.(*ssa.If)
			if !ok {
				if _, ok := ref.(*ssa.DebugRef); !ok {
					return false // the answer goes somewhere
				}
				continue
			}
			i := 0
			if t.Op == token.EQL {
				i = 1
			}
			starts = append(starts, br.Block().Succs[i])
		}
	}
	if len(f.tests) == 0 {
		starts = []*ssa.BasicBlock{nil}
	}
	w := walk{from: call.Block(), seen: make(map[*ssa.BasicBlock]bool), reached: make(map[*ssa.BasicBlock]bool)}
	for _, s := range starts {
		if s == nil {
			w.block(call.Block(), after(call))
			continue
		}
		if marks(s) {
			return false
		}
		w.enter(s)
	}
	if w.success {
		c.report(call.Pos(), "error of %s is %s and turned into success; return it", what, verb)
		return true
	}
	if len(f.tests) > 0 && call.Call.Signature().Results().Len() > 1 {
		if v := extract(call, 0); v != nil && c.usedIn(v, w.reached) {
			c.report(call.Pos(), "error of %s is %s and the result used all the same; return where there is an error", what, verb)
			return true
		}
	}
	return false
}

// marks reports whether the branch leaves a mark of the failure behind: it stores something, or gives a variable another value.
func marks(b *ssa.BasicBlock) bool {
	for _, instr := range b.Instrs {
		switch instr := instr.(type) {
		case *ssa.Store:
			if ia, ok := instr.Addr.(*ssa.IndexAddr); ok {
				if _, ok := ia.X.(*ssa.Alloc); ok {
					continue // variadic arguments
				}
			}
			return true
		case *ssa.Send, *ssa.MapUpdate:
			return true
		}
	}
	for _, next := range b.Succs {
		for _, instr := range next.Instrs {
			phi, ok := instr.(*ssa.Phi)
			if !ok {
				break
			}
			for i, p := range next.Preds {
				if p == b {
					if k, ok := phi.Edges[i].(*ssa.Const); ok && !k.IsNil() {
						return true
					}
				}
			}
		}
	}
	return false
}

func after(call *ssa.Call) []ssa.Instruction {
	instrs := call.Block().Instrs
	for i, instr := range instrs {
		if instr == call {
			return instrs[i+1:]
		}
	}
	return nil
}

// walk goes on from where the error is known, until the call comes round again.
type walk struct {
	from    *ssa.BasicBlock
	seen    map[*ssa.BasicBlock]bool
	reached map[*ssa.BasicBlock]bool
	success bool // a return with a nil error is reached
}

func (w *walk) enter(b *ssa.BasicBlock) {
	if w.seen[b] || b == w.from {
		return
	}
	w.seen[b] = true
	w.reached[b] = true
	w.block(b, b.Instrs)
}

func (w *walk) block(b *ssa.BasicBlock, instrs []ssa.Instruction) {
	for _, instr := range instrs {
		switch instr := instr.(type) {
		case *ssa.Return:
			if i := errorResult(instr.Parent().Signature); i >= 0 && i < len(instr.Results) && isNil(instr.Results[i]) {
				w.success = true
			}
			return
		case *ssa.Panic:
			return
		case *ssa.Call:
			if fn := instr.Call.StaticCallee(); fn != nil && ends(fn) {
				return
			}
		}
	}
	for _, next := range b.Succs {
		w.enter(next)
	}
}

// ends reports whether fn does not return.
func ends(fn *ssa.Function) bool {
	obj, ok := fn.Object().(*types.Func)
	if !ok || obj.Pkg() == nil {
		return false
	}
	switch obj.Pkg().Path() {
	case "os":
		return obj.Name() == "Exit"
	case "runtime":
		return obj.Name() == "Goexit"
	case "testing":
		return strings.HasPrefix(obj.Name(), "Fatal") || strings.HasPrefix(obj.Name(), "Skip") || strings.HasPrefix(obj.Name(), "FailNow")
	}
	return strings.HasPrefix(obj.Name(), "Fatal") || strings.HasPrefix(obj.Name(), "Panic")
}

// usedIn reports whether v is used in one of the blocks other than by a comparison. To ask a Result by its methods how the run ended is
// right with an error, too: the Result holds it.
func (c *checker) usedIn(v ssa.Value, blocks map[*ssa.BasicBlock]bool) bool {
	for _, ref := range *v.Referrers() {
		switch ref := ref.(type) {
		case *ssa.Call:
			if fn := ref.Call.StaticCallee(); fn != nil && fn.Signature.Recv() != nil && c.isResult(v.Type()) && ref.Call.Args[0] == v {
				continue
			}
		case *ssa.DebugRef, *ssa.BinOp, *ssa.Phi, *ssa.Return:
			continue
		}
		if blocks[ref.Block()] {
			return true
		}
	}
	return false
}

func (c *checker) report(pos token.Pos, format string, args ...any) {
	c.pass.Report(analysis.Diagnostic{Pos: pos, Message: fmt.Sprintf(format, args...)})
}
