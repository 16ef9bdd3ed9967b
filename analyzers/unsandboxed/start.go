package unsandboxed

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/sbxkit/sbxkit/analyzers/internal/exectable"
	"github.com/sbxkit/sbxkit/analyzers/internal/flow"
	"golang.org/x/tools/go/ssa"
)

// falls returns what the branches of the view that are taken after a failure start without a sandbox, in the order of the code.
func (c *checker) falls(v *view) []finding {
	var out []finding
	seen := make(map[token.Pos]bool)
	add := func(br *branch, f finding) {
		f.from = br.why.from
		if f.how != toParam {
			f.calls = -1
		}
		if br.why.call != nil {
			f.at = position(br.why.call)
		}
		if !f.pos.IsValid() {
			f.pos = position(f.instr)
		}
		if !f.pos.IsValid() {
			f.pos = br.pos() // the place has no instruction of its own, such as an assignment
		}
		if !seen[f.pos] {
			seen[f.pos] = true
			out = append(out, f)
		}
	}
	for i := range v.branches {
		br := &v.branches[i]
		some := false
		for _, b := range br.region {
			for _, instr := range b.Instrs {
				if tryAgain(instr, br) {
					continue
				}
				for _, f := range c.starts(v, br, instr) {
					add(br, f)
					some = true
				}
			}
		}
		if some {
			continue
		}
		for _, b := range br.region {
			for _, instr := range b.Instrs {
				if f, ok := c.handsOn(instr); ok {
					add(br, f)
				}
			}
		}
	}
	for _, b := range v.fn.Blocks {
		for _, instr := range b.Instrs {
			if phi, ok := instr.(*ssa.Phi); ok {
				c.chosen(v, phi, add)
			}
			if call, ok := instr.(ssa.CallInstruction); ok {
				c.conditional(v, call, add)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b finding) int { return int(a.pos) - int(b.pos) })
	return out
}

// tryAgain reports whether the instruction is the very call whose failure the branch is about, in the next round of a loop, of the same value behind
// an interface: what one of its implementations starts when another has failed is no fallback.
func tryAgain(instr ssa.Instruction, br *branch) bool {
	call, ok := instr.(ssa.CallInstruction)
	return ok && call == br.why.call && call.Common().IsInvoke() && steady(call.Common().Value, 0)
}

// steady reports whether x is taken, field by field, from what does not change in a loop.
func steady(x ssa.Value, depth int) bool {
	switch x := x.(type) {
	case *ssa.Parameter, *ssa.FreeVar, *ssa.Global:
		return true
	case *ssa.UnOp:
		return depth < 8 && steady(x.X, depth+1)
	case *ssa.FieldAddr:
		return depth < 8 && steady(x.X, depth+1)
	case *ssa.Field:
		return depth < 8 && steady(x.X, depth+1)
	}
	return false
}

// starts returns what the instruction, which runs after a failure, starts without a sandbox by itself or through what it calls.
func (c *checker) starts(v *view, br *branch, instr ssa.Instruction) []finding {
	var out []finding
	if call, ok := instr.(ssa.CallInstruction); ok {
		if e, ok := c.result.UnsandboxedCall(call); ok {
			return append(out, finding{instr: instr, how: toBackend, what: e.Chain(), via: e.Via})
		}
	}
	if call, ok := instr.(ssa.CallInstruction); ok && v.when.param >= 0 {
		for i, p := range v.fn.Params {
			if call.Common().Value == p && i != v.when.param {
				return append(out, finding{instr: instr, how: toParam, calls: i})
			}
		}
	}
	for _, use := range c.uses[instr] {
		switch use.Kind {
		case flow.Start:
			if c.backendStart(use) != "" {
				continue
			}
			if ofLiteral(use.Instr) {
				continue // what the literal does is judged below
			}
			if words := c.madeFrom(use); c.related(v.fn, words, asGiven(use)) || v.when.param >= 0 {
				return append(out, finding{instr: instr, pos: use.Pos, how: toCommand, what: use.Chain(), via: use.Via, words: words, given: asGiven(use)})
			}
		case flow.Environ:
			if f, ok := c.laterStart(v, br, use); ok {
				return append(out, f)
			}
		}
	}
	for _, fn := range c.functionsIn(instr) {
		if f, ok := c.inBody(v.fn, fn); ok {
			f.instr = instr
			return append(out, f)
		}
	}
	switch instr := instr.(type) {
	case *ssa.Return:
		if f, ok := c.unwrapped(v, instr); ok {
			return append(out, f)
		}
	case *ssa.MakeInterface:
		if f, ok := c.executor(instr); ok && !onlyChosen(instr) {
			return append(out, f)
		}
	}
	for _, fn := range valuesIn(instr) {
		if what, ok := c.startsGiven(c.result.CalleeOf(fn)); ok {
			return append(out, finding{instr: instr, pos: instr.Pos(), how: toCommand, what: what})
		}
	}
	return out
}

// valuesIn returns the functions whose value the instruction stores, returns or hands over.
func valuesIn(instr ssa.Instruction) []*ssa.Function {
	var values []ssa.Value
	switch instr := instr.(type) {
	case *ssa.Store:
		values = append(values, instr.Val)
	case *ssa.Return:
		values = instr.Results
	case *ssa.Send:
		values = append(values, instr.X)
	case *ssa.MapUpdate:
		values = append(values, instr.Value)
	}
	var out []*ssa.Function
	for _, x := range values {
		if fn, ok := functionValue(x); ok {
			out = append(out, fn)
		}
	}
	return out
}

// executor judges a value that becomes an interface after a failure: a method of it starts what it is given.
func (c *checker) executor(made *ssa.MakeInterface) (finding, bool) {
	if iface, ok := made.Type().Underlying().(*types.Interface); !ok || iface.NumMethods() == 0 || implementsError(made.X.Type()) {
		return finding{}, false
	}
	iface := made.Type().Underlying().(*types.Interface)
	for _, m := range c.result.Methods(made.X.Type()) {
		if obj, _, _ := types.LookupFieldOrMethod(iface, false, m.Obj.Pkg(), m.Obj.Name()); m.Obj == nil || obj == nil {
			continue
		}
		if what, ok := c.startsGiven(m); ok {
			return finding{instr: made, pos: near(made), how: toCommand, what: what}, true
		}
	}
	return finding{}, false
}

// onlyChosen reports whether the value goes straight to a variable that has another value without the failure: it is judged there.
func onlyChosen(instr ssa.Value) bool {
	for _, ref := range *instr.Referrers() {
		if _, ok := ref.(*ssa.Phi); !ok {
			return false
		}
	}
	return true
}

// near returns the position of the instruction or, where it has none, of the next in its block that has one.
func near(instr ssa.Instruction) token.Pos {
	after := false
	for _, next := range instr.Block().Instrs {
		after = after || next == instr
		if after && next.Pos().IsValid() {
			return next.Pos()
		}
	}
	return token.NoPos
}

// startsGiven reports whether the function starts, as it came, the command that it is given or that its receiver holds.
func (c *checker) startsGiven(callee flow.Callee) (string, bool) {
	for _, s := range c.result.SinksOf(callee) {
		if s.Kind != flow.Start {
			continue
		}
		use := flow.Use{Sink: s}
		if c.backendStart(&use) != "" {
			continue
		}
		for _, a := range commandParams(&s) {
			if path := fields(a.Path); path == "" || commandField(path) {
				return callee.Short(c.pass.Pkg) + " → " + use.Chain(), true
			}
		}
	}
	return "", false
}

// ofLiteral reports whether the instruction makes a function literal, or calls one where it stands.
func ofLiteral(instr ssa.Instruction) bool {
	if _, ok := instr.(*ssa.MakeClosure); ok {
		return true
	}
	call, ok := instr.(ssa.CallInstruction)
	if !ok {
		return false
	}
	_, ok = call.Common().Value.(*ssa.MakeClosure)
	return ok
}

// disabled returns how the call tells the seam to do without a sandbox, or "".
func (c *checker) disabled(call ssa.CallInstruction) string {
	fn := call.Common().StaticCallee()
	if fn == nil || fn.Name() != "WithMode" {
		return ""
	}
	if obj, ok := fn.Object().(*types.Func); !ok || !c.seam(obj.Pkg()) {
		return ""
	}
	if !c.modeDisabled(call.Common().Args[0]) {
		return ""
	}
	return "WithMode(Disabled)"
}

// modeDisabled reports whether x is the seam's constant for doing without a sandbox.
func (c *checker) modeDisabled(x ssa.Value) bool {
	named, ok := types.Unalias(x.Type()).(*types.Named)
	if !ok || named.Obj().Name() != "Mode" || !c.seam(named.Obj().Pkg()) {
		return false
	}
	k, ok := literal(x)
	return ok && k == `"disabled"`
}

// laterStart judges the start of an exec.Cmd that was made before the failure.
func (c *checker) laterStart(v *view, br *branch, use *flow.Use) (finding, bool) {
	call, ok := use.Instr.(ssa.CallInstruction)
	if !ok {
		return finding{}, false
	}
	for _, a := range call.Common().Args {
		made := c.maker(a, 0)
		if made == nil || slices.Contains(br.region, made.Block()) && made.Parent() == v.fn {
			continue
		}
		for _, start := range c.uses[made] {
			if start.Kind != flow.Start || c.backendStart(start) != "" {
				continue
			}
			if words := c.madeFrom(start); c.related(v.fn, words, asGiven(start)) {
				return finding{instr: use.Instr, pos: use.Pos, how: toCommand, what: use.Chain(), via: use.Via, words: words}, true
			}
		}
	}
	return finding{}, false
}

// maker returns the call that makes the exec.Cmd x, or nil.
func (c *checker) maker(x ssa.Value, depth int) ssa.Instruction {
	if depth > 6 {
		return nil
	}
	switch x := x.(type) {
	case *ssa.Call:
		if fn := x.Call.StaticCallee(); fn != nil && fn.Pkg != nil && exectable.Makers[fn.Pkg.Pkg.Path()+"."+fn.Name()] {
			return x
		}
	case *ssa.UnOp:
		return c.maker(x.X, depth+1)
	case *ssa.Alloc:
		for _, ref := range *x.Referrers() {
			if st, ok := ref.(*ssa.Store); ok && st.Addr == x {
				return c.maker(st.Val, depth+1)
			}
		}
	case *ssa.FreeVar:
		for _, mk := range c.closures[x.Parent()] {
			for i, f := range x.Parent().FreeVars {
				if f == x && i < len(mk.Bindings) {
					return c.maker(mk.Bindings[i], depth+1)
				}
			}
		}
	}
	return nil
}

// functionsIn returns the functions that the instruction mentions: of this package those it may call, and any whose value it makes, stores or hands
// over.
func (c *checker) functionsIn(instr ssa.Instruction) []*ssa.Function {
	var out []*ssa.Function
	var called ssa.Value
	if call, ok := instr.(ssa.CallInstruction); ok {
		called = call.Common().Value
		if !call.Common().IsInvoke() {
			for _, callee := range c.result.Callees(call.Common()) {
				if callee.Fn != nil {
					out = append(out, callee.Fn)
				}
			}
		}
	}
	for _, op := range instr.Operands(nil) {
		if *op == called {
			continue
		}
		if fn, ok := functionValue(*op); ok {
			out = append(out, fn)
		}
	}
	if mk, ok := instr.(*ssa.MakeClosure); ok {
		out = append(out, mk.Fn.(*ssa.Function))
	}
	return out
}

// inBody judges a function that is mentioned by what it starts whatever it is given: a backend that isolates nothing, or a command that is not its
// parameter.
func (c *checker) inBody(around, fn *ssa.Function) (finding, bool) {
	if o := fn.Origin(); o != nil {
		fn = o
	}
	if obj, ok := fn.Object().(*types.Func); ok && c.result.UnsandboxedPackage(obj.Pkg()) {
		return finding{how: toBackend, what: c.name(fn)}, true
	}
	for _, e := range c.result.Effects(fn) {
		if e.Kind == flow.Unsandboxed {
			return finding{how: toBackend, what: c.name(fn) + " → " + e.Chain(), pos: c.inLiteral(around, fn, e.Pos())}, true
		}
	}
	for _, use := range c.bodyStarts(fn, make(map[*ssa.Function]bool)) {
		if words := c.madeFrom(use); c.related(around, words, asGiven(use)) {
			what := use.Chain()
			if fn.Parent() == nil {
				what = c.name(fn) + " → " + what
			}
			return finding{how: toCommand, what: what, words: words, pos: c.inLiteral(around, fn, use.Pos)}, true
		}
	}
	return finding{}, false
}

// inLiteral returns pos when it is in a literal of the function around, which is where the reader looks for what the literal does.
func (c *checker) inLiteral(around, lit *ssa.Function, pos token.Pos) token.Pos {
	if lit.Parent() != around || lit.Syntax() == nil || pos < lit.Syntax().Pos() || pos > lit.Syntax().End() {
		return token.NoPos
	}
	return pos
}

// bodyStarts returns the starts of programs that the function, and those of this package that it calls, do by themselves.
func (c *checker) bodyStarts(fn *ssa.Function, seen map[*ssa.Function]bool) []*flow.Use {
	if seen[fn] || len(seen) > 50 {
		return nil
	}
	seen[fn] = true
	var out []*flow.Use
	for _, b := range fn.Blocks {
		for _, instr := range b.Instrs {
			for _, use := range c.uses[instr] {
				if use.Kind == flow.Start && c.backendStart(use) == "" {
					out = append(out, use)
				}
			}
			for _, f := range c.functionsIn(instr) {
				if o := f.Origin(); o != nil {
					f = o
				}
				out = append(out, c.bodyStarts(f, seen)...)
			}
		}
	}
	return out
}

// unwrapped judges a return after a failure that gives the command as it came, with no error beside it.
func (c *checker) unwrapped(v *view, ret *ssa.Return) (finding, bool) {
	if i := errorResult(v.fn.Signature); i >= 0 && i < len(ret.Results) {
		if k, ok := literal(ret.Results[i]); !ok || k != isNil {
			return finding{}, false
		}
	}
	for i, x := range ret.Results {
		if !isList(x.Type()) || !isWords(x.Type()) {
			continue
		}
		words, whole := c.asItCame(x)
		if !whole || !c.otherwiseWrapped(v, ret, i, x) && !slices.Contains(words, ofLaunch) {
			continue
		}
		return finding{instr: ret, how: toArgv, what: "return in " + c.name(v.fn), words: words}, true
	}
	return finding{}, false
}

// asItCame reports whether the list is a parameter, or a field of one, and nothing else.
func (c *checker) asItCame(x ssa.Value) ([]word, bool) {
	t := c.trace()
	t.follow(x, "")
	words := t.words()
	for _, w := range words {
		if w == ofLaunch {
			return words, true
		}
	}
	if len(words) != 1 {
		return nil, false
	}
	_, param := words[0].value.(*ssa.Parameter)
	return words, param && isList(x.Type())
}

// otherwiseWrapped reports whether another return of the function gives more than the list as it came.
func (c *checker) otherwiseWrapped(v *view, ret *ssa.Return, i int, x ssa.Value) bool {
	for _, b := range v.fn.Blocks {
		other, ok := lastInstr(b).(*ssa.Return)
		if !ok || other == ret || i >= len(other.Results) || other.Results[i] == x || v.fail[b] != nil {
			continue
		}
		if k, ok := literal(other.Results[i]); ok && k == isNil {
			continue
		}
		return true
	}
	return false
}

// handsOn judges an instruction after a failure that hands on what a backend that isolates nothing gave earlier.
func (c *checker) handsOn(instr ssa.Instruction) (finding, bool) {
	switch instr := instr.(type) {
	case *ssa.MakeInterface:
		if onlyChosen(instr) {
			return finding{}, false
		}
	case *ssa.Store, *ssa.Return, *ssa.Call, *ssa.Defer, *ssa.Go, *ssa.MapUpdate, *ssa.Send:
	default:
		return finding{}, false
	}
	if call, ok := instr.(ssa.CallInstruction); ok {
		if closes(call.Common()) {
			return finding{}, false
		}
		if what := c.disabled(call); what != "" {
			return finding{instr: instr, how: toBackend, what: what}, true
		}
	}
	if st, ok := instr.(*ssa.Store); ok && c.modeDisabled(st.Val) {
		return finding{instr: instr, pos: instr.Pos(), how: toBackend, what: "Disabled"}, true
	}
	for _, op := range instr.Operands(nil) {
		if x := *op; x != nil && c.isolatesNothing(x) && !c.result.ForPreferred(x) {
			return finding{instr: instr, pos: instr.Pos(), how: toBackend, what: "made before"}, true
		}
	}
	return finding{}, false
}

// closes reports whether the call only ends or describes what it is called on.
func closes(call *ssa.CallCommon) bool {
	name := ""
	if call.IsInvoke() {
		name = call.Method.Name()
	} else if fn := call.StaticCallee(); fn != nil {
		name = fn.Name()
	}
	return name == "Close" || name == "Describe" || name == "Error" || name == "String"
}

// isolatesNothing reports whether x may be a backend, or what one gave, that isolates nothing.
func (c *checker) isolatesNothing(x ssa.Value) bool {
	t := x.Type()
	if p, ok := t.Underlying().(*types.Pointer); ok {
		if n, ok := types.Unalias(p.Elem()).(*types.Named); ok && c.result.UnsandboxedPackage(n.Obj().Pkg()) {
			return true
		}
	}
	if n, ok := types.Unalias(t).(*types.Named); ok && c.result.UnsandboxedPackage(n.Obj().Pkg()) {
		return n.Obj().Name() == "Backend"
	}
	switch t.Underlying().(type) {
	case *types.Interface, *types.Pointer:
		return flow.MayBeUnsandboxed(c.result.Value(x))
	}
	return false
}

// chosen judges a variable that comes out of a failure with another value than without: a backend that isolates nothing, a function that starts one, or
// a command that is not wrapped.
func (c *checker) chosen(v *view, phi *ssa.Phi, add func(*branch, finding)) {
	for i, e := range phi.Edges {
		br := v.failing(phi.Block().Preds[i], phi.Block())
		if br == nil {
			continue
		}
		if m, ok := e.(*ssa.MakeInterface); c.bornIn(br, e) && !(ok && onlyChosen(m)) {
			continue
		}
		pos := assignment(phi, i, br)
		if c.modeDisabled(e) {
			add(br, finding{instr: phi, pos: pos, how: toBackend, what: "Disabled"})
			continue
		}
		if m, ok := e.(*ssa.MakeInterface); ok && c.isolatesNothing(m.X) || !ok && c.isolatesNothing(e) {
			add(br, finding{instr: phi, pos: pos, how: toBackend, what: "made before"})
			continue
		}
		if m, ok := e.(*ssa.MakeInterface); ok {
			if got, ok := c.executor(m); ok {
				got.instr, got.pos = phi, pos
				add(br, got)
				continue
			}
		}
		if f, ok := functionValue(e); ok {
			if got, ok := c.asValue(v.fn, f); ok {
				got.instr, got.pos = phi, pos
				add(br, got)
			}
			continue
		}
		if isWords(phi.Type()) {
			c.rawOrWrapped(v, br, phi, i, add)
		}
	}
}

// assignment returns where the variable is given the value that comes along edge i: the next assignment to it after the condition, or the condition
// where the value is the one it had.
func assignment(phi *ssa.Phi, i int, br *branch) token.Pos {
	pos := br.pos()
	syntax := phi.Parent().Syntax()
	if phi.Block().Preds[i] == br.at.Block() || syntax == nil {
		return pos
	}
	found := token.NoPos
	ast.Inspect(syntax, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || found.IsValid() || a.Pos() < pos {
			return true
		}
		for _, l := range a.Lhs {
			if id, ok := l.(*ast.Ident); ok && id.Name == phi.Comment {
				found = a.Pos()
			}
		}
		return true
	})
	if found.IsValid() {
		return found
	}
	return pos
}

// bornIn reports whether x is made after the failure: what makes it is judged there.
func (c *checker) bornIn(br *branch, x ssa.Value) bool {
	instr, ok := x.(ssa.Instruction)
	return ok && slices.Contains(br.region, instr.Block())
}

func functionValue(x ssa.Value) (*ssa.Function, bool) {
	switch f := x.(type) {
	case *ssa.Function:
		return f, true
	case *ssa.MakeClosure:
		return f.Fn.(*ssa.Function), true
	}
	return nil, false
}

// asValue judges a function that a failure chooses: what it starts by itself, or that it starts what it is given.
func (c *checker) asValue(around, fn *ssa.Function) (finding, bool) {
	if f, ok := c.inBody(around, fn); ok {
		return f, true
	}
	what, ok := c.startsGiven(c.result.CalleeOf(fn))
	return finding{how: toCommand, what: what}, ok
}

// rawOrWrapped judges a command that is wrapped by a backend's program unless there was a failure, where it is used.
func (c *checker) rawOrWrapped(v *view, br *branch, phi *ssa.Phi, raw int, add func(*branch, finding)) {
	wrapped := false
	for i, e := range phi.Edges {
		wrapped = wrapped || i != raw && c.namesBackend(e)
	}
	if !wrapped || c.namesBackend(phi.Edges[raw]) {
		return
	}
	t := c.trace()
	t.program(phi.Edges[raw])
	if words := t.words(); len(words) == 0 {
		return
	}
	for _, b := range v.fn.Blocks {
		for _, instr := range b.Instrs {
			switch instr := instr.(type) {
			case *ssa.Return:
				if slices.Contains(instr.Results, ssa.Value(phi)) {
					add(br, finding{instr: instr, how: toArgv, what: "return in " + c.name(v.fn), words: t.words()})
				}
			case ssa.CallInstruction:
				for _, use := range c.uses[instr] {
					if use.Kind == flow.Start && usesValue(instr, phi) {
						add(br, finding{instr: instr, pos: use.Pos, how: toCommand, what: use.Chain(), via: use.Via, words: t.words()})
					}
				}
			}
		}
	}
}

// namesBackend reports whether the text, or the first word of the list, may be a backend's program.
func (c *checker) namesBackend(x ssa.Value) bool {
	v := c.result.Value(x)
	if isList(x.Type()) {
		v = v.Index(0)
	}
	return c.backendName(v)
}

// usesValue reports whether an argument of the call is x, a part of it, or a word of it.
func usesValue(call ssa.CallInstruction, x ssa.Value) bool {
	for _, a := range call.Common().Args {
		for depth := 0; depth < 4 && a != nil; depth++ {
			if a == x {
				return true
			}
			switch y := a.(type) {
			case *ssa.Slice:
				a = y.X
			case *ssa.UnOp:
				a = y.X
			case *ssa.IndexAddr:
				a = y.X
			default:
				a = nil
			}
		}
	}
	return false
}

// conditional judges a call of a function that starts without a sandbox where a parameter tells of a failure.
func (c *checker) conditional(v *view, call ssa.CallInstruction, add func(*branch, finding)) {
	for _, callee := range c.result.Callees(call.Common()) {
		fact := c.fact(callee)
		if fact == nil {
			continue
		}
		for _, fall := range fact.Falls {
			why, ok := v.argument(call.Common(), fall.Param)[fall.When]
			if !ok {
				continue
			}
			if fall.How == toParam {
				if fall.Calls < len(call.Common().Args) {
					if fn, ok := functionValue(call.Common().Args[fall.Calls]); ok {
						if f, ok := c.asValue(v.fn, fn); ok {
							f.instr, f.pos, f.what = call, token.NoPos, fall.What+" → "+f.what
							add(&branch{why: why}, f)
						}
					}
				}
				continue
			}
			words := c.own(call, fall.Words)
			if fall.How != toBackend && !c.related(v.fn, words, fall.Given) {
				continue
			}
			add(&branch{why: why}, finding{instr: call, how: fall.How, what: fall.What, words: words, given: fall.Given})
		}
	}
}
