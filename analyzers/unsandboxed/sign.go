package unsandboxed

import (
	"go/constant"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// What a value must be to say that no sandbox could be had: any error, nil, or the constant as ExactString writes it.
const (
	anyError = "error"
	isNil    = "nil"
	isTrue   = "true"
	isFalse  = "false"
	isEmpty  = `""`

	// but stands before a constant: anything but it.
	but = "but "

	// itFails is of a parameter that is a function: a call of it fails.
	itFails = "call fails"
)

// A cause is what had failed.
type cause struct {
	from string          // as a message names it
	call ssa.Instruction // the attempt, nil when it is not in this function
}

// signs says which values of an SSA value mean that no sandbox could be had, and why.
type signs map[string]cause

func (s signs) add(value string, why cause) signs {
	if s == nil {
		s = make(signs)
	}
	if _, ok := s[value]; !ok {
		s[value] = why
	}
	return s
}

func (s signs) merge(t signs) signs {
	for _, k := range sorted(t) {
		s = s.add(k, t[k])
	}
	return s
}

// A when is what signs are asked about: the failure of an attempt, or a parameter that has a value.
type when struct {
	param int // -1 for an attempt
	value string
}

var attemptFails = when{param: -1}

// A view is what the branches of one function say about one condition.
type view struct {
	c        *checker
	fn       *ssa.Function
	when     when
	memo     map[asked]signs
	active   map[asked]int // what is being found, by the order in which it was begun
	outer    int           // the first of those that what is being found has met, or none
	waiting  []waiting
	meets    map[asked]int // index into waiting
	branches []branch
	fail     map[*ssa.BasicBlock]*branch // blocks reached after a failure only
	fine     map[*ssa.BasicBlock]bool    // blocks reached after a success only
	edges    map[edge]*branch            // ways taken after a failure only
}

// pos returns where the condition is.
func (br *branch) pos() token.Pos {
	if br.at == nil {
		return token.NoPos
	}
	if p := br.at.Cond.Pos(); p.IsValid() {
		return p
	}
	if br.why.call != nil {
		return position(br.why.call)
	}
	return br.at.Parent().Pos()
}

type edge struct{ from, to *ssa.BasicBlock }

// A branch is an If whose condition tells failure from success.
type branch struct {
	at         *ssa.If
	fail, fine *ssa.BasicBlock
	why        cause
	region     []*ssa.BasicBlock // what the failure reaches and the success does not
}

// attempts returns the view of fn on the failures of attempts.
func (c *checker) attempts(fn *ssa.Function) *view {
	if v := c.views[fn]; v != nil {
		return v
	}
	v := c.newView(fn, attemptFails)
	c.views[fn] = v
	v.settle()
	return v
}

func (c *checker) newView(fn *ssa.Function, w when) *view {
	return &view{
		c: c, fn: fn, when: w, outer: none,
		memo: make(map[asked]signs), active: make(map[asked]int), meets: make(map[asked]int),
	}
}

// none is greater than the number of anything that is being found.
const none = 1 << 30

// An asked value is one that signs are found of: of the value, or of the variable whose address it is.
type asked struct {
	x    ssa.Value
	cell bool
}

// A waiting value has met one that is still being found, so what it says is a part of what it will say, and of what that one will. It is good until
// that one is found.
type waiting struct {
	x     asked
	signs signs
	outer int
}

// settle finds the branches. What a variable says may depend on the branch that sets it, so it goes on while there come more.
func (v *view) settle() {
	for range 6 {
		v.memo = make(map[asked]signs)
		var found []branch
		for _, b := range v.fn.Blocks {
			br, ok := lastInstr(b).(*ssa.If)
			if !ok || b.Succs[0] == b.Succs[1] {
				continue
			}
			s := v.signs(br.Cond)
			t, isT := s[isTrue]
			f, isF := s[isFalse]
			switch {
			case isT && !isF:
				found = append(found, branch{at: br, fail: b.Succs[0], fine: b.Succs[1], why: t})
			case isF && !isT:
				found = append(found, branch{at: br, fail: b.Succs[1], fine: b.Succs[0], why: f})
			}
		}
		if len(found) == len(v.branches) {
			break
		}
		v.branches = found
		v.regions()
	}
	v.memo = make(map[asked]signs)
}

func lastInstr(b *ssa.BasicBlock) ssa.Instruction {
	if len(b.Instrs) == 0 {
		return nil
	}
	return b.Instrs[len(b.Instrs)-1]
}

// regions finds what lies on the ways of failure and of success.
func (v *view) regions() {
	v.fail = make(map[*ssa.BasicBlock]*branch)
	v.fine = make(map[*ssa.BasicBlock]bool)
	v.edges = make(map[edge]*branch)
	for i := range v.branches {
		br := &v.branches[i]
		stop := br.at.Block()
		failed, fine := reach(br.fail, stop), reach(br.fine, stop)
		br.region = nil
		v.edges[edge{stop, br.fail}] = br // also where it leads to what a success reaches as well
		for _, b := range v.fn.Blocks {
			if failed[b] && !fine[b] {
				br.region = append(br.region, b)
				if v.fail[b] == nil {
					v.fail[b] = br
				}
			}
			if fine[b] && !failed[b] {
				v.fine[b] = true
			}
		}
	}
}

// reach returns the blocks that can run from b on, before stop runs again.
func reach(b, stop *ssa.BasicBlock) map[*ssa.BasicBlock]bool {
	seen := map[*ssa.BasicBlock]bool{b: true}
	for queue := []*ssa.BasicBlock{b}; len(queue) > 0; queue = queue[1:] {
		if queue[0] == stop {
			continue
		}
		for _, s := range queue[0].Succs {
			if !seen[s] {
				seen[s] = true
				queue = append(queue, s)
			}
		}
	}
	return seen
}

// failing returns the branch after whose failure alone the way from one block to the next is taken, or nil.
func (v *view) failing(from, to *ssa.BasicBlock) *branch {
	if br := v.edges[edge{from, to}]; br != nil {
		return br
	}
	return v.fail[from]
}

// signs returns what x says about a sandbox that could not be had.
func (v *view) signs(x ssa.Value) signs {
	return v.once(asked{x: x}, func() signs { return v.find(x) })
}

// once finds what x says, and that not twice while nothing new can come out: without it, values that come together in many places take all ways
// through them.
func (v *view) once(x asked, find func() signs) signs {
	if s, ok := v.memo[x]; ok {
		return s
	}
	if n, ok := v.active[x]; ok {
		v.outer = min(v.outer, n)
		return nil
	}
	if i, ok := v.meets[x]; ok {
		v.outer = min(v.outer, v.waiting[i].outer)
		return v.waiting[i].signs
	}
	n, before, mark := len(v.active), v.outer, len(v.waiting)
	v.active[x], v.outer = n, none
	s := find()
	delete(v.active, x)
	met := v.outer
	v.outer = min(before, met)
	if met >= n {
		// It depends on nothing that is still being found; what waited for it is found anew when it is asked for.
		v.outer = before
		v.memo[x] = s
		for _, w := range v.waiting[mark:] {
			delete(v.meets, w.x)
		}
		v.waiting = v.waiting[:mark]
		return s
	}
	v.meets[x] = len(v.waiting)
	v.waiting = append(v.waiting, waiting{x, s, met})
	return s
}

func (v *view) find(x ssa.Value) signs {
	switch x := x.(type) {
	case *ssa.Parameter:
		if v.when.param >= 0 && v.when.param < len(v.fn.Params) && v.fn.Params[v.when.param] == x {
			return signs{v.when.value: {from: x.Name()}}
		}
	case *ssa.Call:
		return v.called(x, 0)
	case *ssa.Extract:
		switch t := x.Tuple.(type) {
		case *ssa.Call:
			return v.called(t, x.Index)
		case *ssa.TypeAssert:
			s := v.signs(t.X)
			if why, ok := s[anyError]; ok && x.Index == 1 {
				return signs{isTrue: why}
			}
			if x.Index == 0 {
				return s
			}
		}
	case *ssa.Phi:
		return v.phi(x)
	case *ssa.BinOp:
		return v.compared(x)
	case *ssa.UnOp:
		switch x.Op {
		case token.NOT:
			return negated(v.signs(x.X))
		case token.MUL:
			return v.loaded(x.X)
		}
	case *ssa.MakeInterface:
		return v.signs(x.X)
	case *ssa.ChangeInterface:
		return v.signs(x.X)
	case *ssa.ChangeType:
		return v.signs(x.X)
	case *ssa.Convert:
		return v.signs(x.X)
	case *ssa.Field:
		if st := structOf(x.X.Type()); st != nil {
			return v.field(st.Field(x.Field).Origin(), x.X.Type())
		}
	case *ssa.Slice:
		if al, ok := x.X.(*ssa.Alloc); ok {
			return v.elements(al)
		}
	}
	return nil
}

// elements returns what the variadic arguments that were put into the array say.
func (v *view) elements(al *ssa.Alloc) signs {
	var s signs
	for _, ref := range *al.Referrers() {
		at, ok := ref.(*ssa.IndexAddr)
		if !ok {
			continue
		}
		for _, use := range *at.Referrers() {
			if st, ok := use.(*ssa.Store); ok && st.Addr == at {
				s = s.merge(v.signs(st.Val))
			}
		}
	}
	return s
}

func negated(s signs) signs {
	var out signs
	if why, ok := s[isTrue]; ok {
		out = out.add(isFalse, why)
	}
	if why, ok := s[isFalse]; ok {
		out = out.add(isTrue, why)
	}
	return out
}

// phi joins what the values say that come together, and takes a constant that only a failure brings for its sign.
func (v *view) phi(x *ssa.Phi) signs {
	var s signs
	k := newConstants()
	for i, e := range x.Edges {
		s = s.merge(v.signs(e))
		k.add(e, v.failing(x.Block().Preds[i], x.Block()), v.fine[x.Block().Preds[i]])
	}
	return s.merge(k.signs(x.Type()))
}

// constants tells what constants a variable is given where, to find those that only a failure brings.
type constants struct {
	failed  *cause // of any value, if a failure brings one
	failing map[string]cause
	other   map[string]bool
	fine    map[string]bool
}

func newConstants() *constants {
	return &constants{failing: make(map[string]cause), other: make(map[string]bool), fine: make(map[string]bool)}
}

func (k *constants) add(x ssa.Value, br *branch, fine bool) {
	name, ok := literal(x)
	if br != nil {
		k.failed = &br.why
	}
	switch {
	case !ok:
	case br != nil:
		k.failing[name] = br.why
	case fine:
		k.fine[name] = true
	default:
		k.other[name] = true
	}
}

func (k *constants) signs(t types.Type) signs {
	var s signs
	if k.failed != nil {
		for _, name := range []string{isEmpty, isNil, isTrue} {
			if _, failing := k.failing[name]; k.fine[name] && !k.other[name] && !failing && telling(t, name) {
				if name == isTrue {
					s = s.add(isFalse, *k.failed)
					continue
				}
				s = s.add(but+name, *k.failed)
			}
		}
	}
	for _, name := range sorted(k.failing) {
		if !k.other[name] && !k.fine[name] && telling(t, name) {
			s = s.add(name, k.failing[name])
		}
	}
	return s
}

// telling reports whether a constant of the type can be a sign: small numbers mean too many things.
func telling(t types.Type, name string) bool {
	b, ok := t.Underlying().(*types.Basic)
	if !ok {
		return name == isNil && !isError(t)
	}
	if b.Info()&types.IsInteger != 0 {
		_, named := types.Unalias(t).(*types.Named)
		return named
	}
	return b.Info()&(types.IsBoolean|types.IsString) != 0
}

// literal returns the text of the constant x.
func literal(x ssa.Value) (string, bool) {
	if m, ok := x.(*ssa.MakeInterface); ok {
		x = m.X
	}
	k, ok := x.(*ssa.Const)
	if !ok {
		return "", false
	}
	if k.Value == nil {
		return isNil, k.IsNil()
	}
	switch k.Value.Kind() {
	case constant.Bool, constant.String, constant.Int:
		return k.Value.ExactString(), true
	}
	return "", false
}

func (v *view) compared(x *ssa.BinOp) signs {
	if x.Op != token.EQL && x.Op != token.NEQ {
		return nil
	}
	s, other := v.signs(x.X), x.Y
	if len(s) == 0 {
		s, other = v.signs(x.Y), x.X
	}
	k, isConst := literal(other)
	var out signs
	for _, value := range sorted(s) {
		same := false // whether to be equal is the sign
		switch {
		case value == anyError:
			same = !isConst || k != isNil
		case strings.HasPrefix(value, but):
			if !isConst || but+k != value {
				continue
			}
		case isConst && value == k:
			same = true
		case isConst && (value == isTrue || value == isFalse):
		default:
			continue
		}
		if same == (x.Op == token.EQL) {
			out = out.add(isTrue, s[value])
		} else {
			out = out.add(isFalse, s[value])
		}
	}
	return out
}

// called returns what result i of the call says.
func (v *view) called(call *ssa.Call, i int) signs {
	results := call.Call.Signature().Results()
	if i >= results.Len() {
		return nil
	}
	var s signs
	if v.when == attemptFails {
		if from := v.c.attempt(call); from != "" {
			return s.merge(failed(results.At(i).Type(), cause{from, call}))
		}
	}
	if p, ok := call.Call.Value.(*ssa.Parameter); ok && v.when.value == itFails && v.fn.Params[v.when.param] == p {
		return failed(results.At(i).Type(), cause{p.Name(), call})
	}
	known := false
	for _, callee := range v.c.result.Callees(&call.Call) {
		fact := v.c.fact(callee)
		if fact == nil {
			continue
		}
		known = true
		for _, m := range fact.Results {
			if m.Result != i {
				continue
			}
			if m.Param < 0 {
				if v.when == attemptFails {
					s = s.add(m.Value, cause{callee.Short(v.c.pass.Pkg) + " → " + m.From, call})
				}
				continue
			}
			if why, ok := v.argument(&call.Call, m.Param)[m.When]; ok {
				s = s.add(m.Value, why)
			}
		}
	}
	if known {
		return s
	}
	return s.merge(v.reworded(call, i))
}

// argument returns what argument i of the call says, the receiver first.
func (v *view) argument(call *ssa.CallCommon, i int) signs {
	if call.IsInvoke() {
		if i == 0 {
			return v.signs(call.Value)
		}
		i--
	}
	if i >= len(call.Args) {
		return nil
	}
	s := v.signs(call.Args[i])
	if fn, ok := functionValue(call.Args[i]); ok && v.when == attemptFails {
		for _, m := range v.c.facts[fn].results() {
			if m.Param < 0 && m.Value == anyError {
				s = s.add(itFails, cause{from: m.From})
			}
		}
		if obj, ok := fn.Object().(*types.Func); ok && v.c.step(obj) {
			s = s.add(itFails, cause{from: short(obj)})
		}
	}
	return s
}

// failed returns what a result of the type is when the call fails.
func failed(t types.Type, why cause) signs {
	if isError(t) {
		return signs{anyError: why}
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer, *types.Interface:
		return signs{isNil: why}
	case *types.Basic:
		if u.Info()&types.IsString != 0 {
			return signs{isEmpty: why}
		}
	}
	return nil
}

// reworded returns what the result says of a call of which nothing is known but that an error goes in: another error about it, or an answer of
// package errors.
func (v *view) reworded(call *ssa.Call, i int) signs {
	t := call.Call.Signature().Results().At(i).Type()
	fn := call.Call.StaticCallee()
	name := ""
	if fn != nil {
		if o := fn.Origin(); o != nil {
			fn = o
		}
		if obj, ok := fn.Object().(*types.Func); ok {
			name = obj.FullName()
		}
	}
	asks := name == "errors.Is" || name == "errors.As" || name == "errors.AsType" || name == "os.IsNotExist" || name == "os.IsPermission"
	if !asks && !implementsError(t) {
		return nil
	}
	for k, a := range call.Call.Args {
		if asks && k > 0 {
			break
		}
		if why, ok := v.signs(a)[anyError]; ok {
			if b, ok := t.Underlying().(*types.Basic); ok && b.Info()&types.IsBoolean != 0 {
				return signs{isTrue: why}
			}
			return signs{anyError: why}
		}
	}
	return nil
}

func implementsError(t types.Type) bool {
	return types.Implements(t, types.Universe.Lookup("error").Type().Underlying().(*types.Interface))
}

// loaded returns what the variable at the address says.
func (v *view) loaded(addr ssa.Value) signs {
	switch a := addr.(type) {
	case *ssa.FreeVar:
		var s signs
		for _, mk := range v.c.closures[v.fn] {
			for i, f := range v.fn.FreeVars {
				if f == a && i < len(mk.Bindings) && v.when == attemptFails {
					outside := v.c.attempts(mk.Parent())
					if al, ok := mk.Bindings[i].(*ssa.Alloc); ok {
						// Also while that view is on its way through this variable: what it finds waits for this one.
						s = s.merge(outside.cell(al))
						continue
					}
					s = s.merge(outside.loaded(mk.Bindings[i]))
				}
			}
		}
		return s
	case *ssa.Alloc:
		return v.once(asked{x: a, cell: true}, func() signs { return v.cell(a) })
	case *ssa.FieldAddr:
		st := structOf(a.X.Type())
		if st == nil {
			return nil
		}
		if why, ok := v.signs(a.X)[anyError]; ok {
			return signs{anyError: why} // what kind of failure it is
		}
		return v.field(st.Field(a.Field).Origin(), a.X.Type())
	case *ssa.Global:
		if obj := a.Object(); obj != nil {
			return v.stored(obj)
		}
	}
	return nil
}

// cell joins what is stored in a variable of the function, by it and by its literals.
func (v *view) cell(a *ssa.Alloc) signs {
	var stores []*ssa.Store
	var find func(x ssa.Value, depth int)
	find = func(x ssa.Value, depth int) {
		for _, ref := range *x.Referrers() {
			switch ref := ref.(type) {
			case *ssa.Store:
				if ref.Addr == x {
					stores = append(stores, ref)
				}
			case *ssa.MakeClosure:
				lit := ref.Fn.(*ssa.Function)
				for i, b := range ref.Bindings {
					if b == x && i < len(lit.FreeVars) && depth < 4 {
						find(lit.FreeVars[i], depth+1)
					}
				}
			}
		}
	}
	find(a, 0)
	return v.of(stores, a.Type().Underlying().(*types.Pointer).Elem())
}

// of joins what the stores to one variable say.
func (v *view) of(stores []*ssa.Store, t types.Type) signs {
	var s signs
	k := newConstants()
	for _, st := range stores {
		at := v
		if st.Parent() != v.fn {
			if v.when != attemptFails {
				continue
			}
			at = v.c.attempts(st.Parent())
		}
		s = s.merge(at.signs(st.Val))
		k.add(st.Val, at.fail[st.Block()], at.fine[st.Block()])
	}
	s = s.merge(k.signs(t))
	if k.fine[isTrue] && !k.other[isTrue] && len(k.failing) == 0 {
		// Only a success makes it true.
		for _, st := range stores {
			at := v.c.attempts(st.Parent())
			if name, _ := literal(st.Val); name == isTrue && v.when == attemptFails && len(at.branches) > 0 {
				s = s.add(isFalse, at.branches[0].why)
			}
		}
	}
	return s
}

// field returns what a field says: that of the outcome of a run, or one that this package or its own keeps.
func (v *view) field(f *types.Var, owner types.Type) signs {
	if v.when != attemptFails {
		return nil
	}
	if f.Name() == "Failure" && v.c.seam(f.Pkg()) && implementsError(f.Type()) {
		return signs{anyError: {from: ofType(owner) + ".Failure"}}
	}
	if f.Name() == "Outcome" && v.c.seam(f.Pkg()) {
		if k, ok := f.Pkg().Scope().Lookup("NeverRan").(*types.Const); ok && types.Identical(k.Type(), f.Type()) {
			return signs{k.Val().ExactString(): {from: ofType(owner) + ".Outcome"}}
		}
	}
	return v.stored(f)
}

func ofType(t types.Type) string {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	return types.TypeString(t, func(*types.Package) string { return "" })
}

// stored returns what a field or package variable says by what is stored in it, here or, for one of another package, there.
func (v *view) stored(obj types.Object) signs {
	if v.when != attemptFails || v.c.reading[obj] {
		return nil
	}
	var fact VarFact
	if obj.Pkg() != nil && obj.Pkg() != v.c.pass.Pkg {
		if v.c.pass.ImportObjectFact(obj, &fact) {
			return signs{fact.Value: {from: fact.From}}
		}
		return nil
	}
	v.c.reading[obj] = true
	defer delete(v.c.reading, obj)
	return v.of(v.c.stores[obj], obj.Type())
}
