package flow

import (
	"go/constant"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// maxSteps bounds the work of one evaluation; past it the answer is Unknown. The order of the work is that of the code, so the
// answer is the same every time.
const maxSteps = 20000

// Value returns what v may be, in terms of the parameters and free variables of the function v belongs to.
//
// A pointer stands for what it points to: all stores through it in the package count, whatever their order, so a value is exact
// where the compiler keeps it in a register and a union where it lives in memory.
func (r *Result) Value(v ssa.Value) Value {
	if len(r.active) == 0 {
		r.steps = 0
	}
	v2 := r.eval(v)
	if len(r.active) == 0 && r.steps > maxSteps {
		r.memo[v] = v2
	}
	return v2
}

func (r *Result) eval(v ssa.Value) Value {
	if c, ok := v.(*ssa.Const); ok {
		return constValue(c)
	}
	if got, ok := r.memo[v]; ok {
		return got
	}
	if n, ok := r.active[v]; ok {
		r.touched = min(r.touched, n)
		return Value{{Kind: loop, N: int64(n)}}
	}
	if p, ok := r.pendingAt[v]; ok {
		r.touched = min(r.touched, r.pending[p].touched)
		return r.pending[p].value
	}
	r.steps++
	if r.steps > maxSteps {
		return unknown()
	}
	n := len(r.active)
	r.active[v] = n
	outer, mark := r.touched, len(r.pending)
	r.touched = 1 << 30
	val := r.base(v)
	if hasStorage(v.Type()) {
		val = r.storage(v, val)
		switch v.(type) {
		case *ssa.UnOp, *ssa.Field:
			if isCommand(v.Type()) {
				val = r.commandStorage(v, val)
			}
		}
	}
	delete(r.active, v)
	val = bound(unloop(val, int64(n)))
	touched := r.touched
	r.touched = min(outer, touched)
	if touched > n {
		r.touched = outer
	}
	switch {
	case touched >= n:
		// Nothing depends on a value that is still being computed, and what waited for this one has it now.
		r.touched = outer
		r.memo[v] = val
		for _, p := range r.pending[mark:] {
			delete(r.pendingAt, p.v)
			r.memo[p.v] = bound(fillLoop(p.value, int64(n), val))
		}
		r.pending = r.pending[:mark]
	default:
		for i := mark; i < len(r.pending); i++ {
			r.pending[i].value = bound(fillLoop(r.pending[i].value, int64(n), val))
			r.pending[i].touched = min(r.pending[i].touched, touched)
		}
		r.pendingAt[v] = len(r.pending)
		r.pending = append(r.pending, pendingValue{v, val, touched})
	}
	return val
}

// A pendingValue is a value that mentions another which is still being computed. Every value is computed once: it waits here until the
// outermost of those it mentions is known.
type pendingValue struct {
	v       ssa.Value
	value   Value
	touched int // the outermost value it mentions
}

// fillLoop replaces the mention of value n by what that turned out to be.
func fillLoop(v Value, n int64, by Value) Value {
	if !mentionsLoop(v, n) {
		return v
	}
	if len(by) == 0 {
		by = unknown()
	}
	return mapAlts(v, func(a Alt) (Value, bool) {
		if a.Kind == loop && a.N == n {
			return by, true
		}
		return nil, false
	})
}

func hasStorage(t types.Type) bool {
	switch t.Underlying().(type) {
	case *types.Pointer, *types.Slice, *types.Map:
		return true
	}
	return false
}

// unloop resolves the value's mention of itself: a list that grows by elements becomes its start followed by any number of them.
func unloop(v Value, n int64) Value {
	mentions := false
	v.Walk(func(a Alt) bool {
		mentions = a.Kind == loop && a.N == n
		return !mentions
	})
	if !mentions {
		return v
	}
	var base []Value
	var grown []Value // what one round appends
	for _, a := range v {
		if a.Kind == loop && a.N == n {
			continue
		}
		if a.Kind == List && len(a.Elems) > 0 {
			if s, ok := a.Elems[0].splice(); ok && len(s) == 1 && s[0].Kind == loop && s[0].N == n {
				rest := listOf(a.Elems[1:]...)
				if !mentionsLoop(rest, n) {
					grown = append(grown, rest)
					continue
				}
			}
		}
		if !mentionsLoop(Value{a}, n) {
			base = append(base, Value{a})
			continue
		}
		if a.Kind == Concat {
			// A string that grows: its start is known when the start of the loop is.
			base = append(base, unknown())
			continue
		}
		base = append(base, replaceLoop(Value{a}, n))
	}
	out := join(base...)
	if len(grown) == 0 {
		return out
	}
	if len(out) == 0 {
		out = listOf()
	}
	// No round, or one whose words are kept in order, and then any number of them.
	var any []Value
	for _, g := range grown {
		any = append(any, g.Element())
	}
	rounds := []Value{out}
	for _, g := range grown {
		rounds = append(rounds, listOf(spliceOf(out), spliceOf(g), spliceOf(manyOf(join(any...)))))
	}
	return join(rounds...)
}

func mentionsLoop(v Value, n int64) bool {
	found := false
	v.Walk(func(a Alt) bool {
		found = a.Kind == loop && a.N == n
		return !found
	})
	return found
}

func replaceLoop(v Value, n int64) Value {
	return mapAlts(v, func(a Alt) (Value, bool) {
		if a.Kind == loop && a.N == n {
			return unknown(), true
		}
		return nil, false
	})
}

// mapAlts rebuilds v with every alternative that f answers for replaced, innermost values included. It returns v itself when f answers for
// none.
func mapAlts(v Value, f func(Alt) (Value, bool)) Value {
	var out []Value // what stands for v[:kept]; the alternatives from there on are as they were
	kept := 0
	for i := range v {
		by, ok := mapAlt(&v[i], f)
		if !ok {
			continue
		}
		if kept < i {
			out = append(out, v[kept:i:i])
		}
		out = append(out, by)
		kept = i + 1
	}
	if kept == 0 {
		return v
	}
	return join(append(out, v[kept:])...)
}

// mapAlt returns what becomes of the alternative, and false when it stays as it is.
func mapAlt(a *Alt, f func(Alt) (Value, bool)) (Value, bool) {
	if by, ok := f(*a); ok {
		return by, true
	}
	elems, changed := mapList(a.Elems, f)
	base, baseChanged := mapList(a.Base, f)
	if !changed && !baseChanged {
		return nil, false
	}
	switch a.Kind {
	case List:
		return listOf(elems...), true
	case Concat:
		c := elems[0]
		for _, e := range elems[1:] {
			c = concat(c, e)
		}
		return c, true
	}
	b := *a
	b.Elems, b.Base = elems, base
	return Value{b}, true
}

func mapList(list []Value, f func(Alt) (Value, bool)) (out []Value, changed bool) {
	out = list
	for i, v := range list {
		by := mapAlts(v, f)
		if len(by) == len(v) && (len(v) == 0 || &by[0] == &v[0]) {
			continue
		}
		if !changed {
			out, changed = slices.Clone(list), true
		}
		out[i] = by
	}
	return out, changed
}

// closed replaces what depends on the parameters of a function by Unknown, so that the value means the same everywhere.
func closed(v Value) Value {
	if !v.Open() {
		return v
	}
	return mapAlts(v, func(a Alt) (Value, bool) {
		if a.Kind == Param {
			return unknown(), true
		}
		return nil, false
	})
}

func constValue(c *ssa.Const) Value {
	if c.Value == nil {
		if c.IsNil() {
			return Value{{Kind: Nil}}
		}
		if _, ok := c.Type().Underlying().(*types.Struct); ok {
			return Value{{Kind: Struct, Text: typeName(c.Type())}}
		}
		return unknown()
	}
	switch c.Value.Kind() {
	case constant.String:
		return str(constant.StringVal(c.Value), c.Pos())
	case constant.Int:
		if n, ok := constant.Int64Val(c.Value); ok {
			return Value{{Kind: Int, N: n}}
		}
	case constant.Bool:
		n := int64(0)
		if constant.BoolVal(c.Value) {
			n = 1
		}
		return Value{{Kind: Int, N: n}}
	}
	return unknown()
}

// typeName returns the package path and name of the named type that t is or points to, or "".
func typeName(t types.Type) string {
	t = types.Unalias(t)
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	if n, ok := t.(*types.Named); ok {
		if n.Obj().Pkg() == nil {
			return n.Obj().Name()
		}
		return n.Obj().Pkg().Path() + "." + n.Obj().Name()
	}
	return ""
}

// base returns what v is when it comes into being.
func (r *Result) base(v ssa.Value) Value {
	switch v := v.(type) {
	case *ssa.Parameter:
		for i, p := range v.Parent().Params {
			if p == v {
				return Value{{Kind: Param, N: int64(i)}}
			}
		}
	case *ssa.FreeVar:
		for i, p := range v.Parent().FreeVars {
			if p == v {
				return join(Value{{Kind: Param, N: int64(FreeVar + i)}}, r.captured(v.Parent(), i))
			}
		}
	case *ssa.Alloc:
		switch t := v.Type().Underlying().(*types.Pointer).Elem().Underlying().(type) {
		case *types.Array:
			if t.Len() <= maxElems {
				return Value{{Kind: List, Elems: make([]Value, t.Len())}}
			}
			return listOf(spliceOf(manyOf(nil)))
		case *types.Struct:
			if r.decoded(v) {
				return Value{{Kind: Struct, Text: typeName(v.Type()), Base: []Value{{{Kind: Tag, Text: Read}}}}}
			}
			return Value{{Kind: Struct, Text: typeName(v.Type())}}
		case *types.Basic:
			if t.Info()&types.IsInteger != 0 && r.decoded(v) {
				return Value{{Kind: Tag, Text: Read}}
			}
		}
		return nil
	case *ssa.Global:
		return r.global(v)
	case *ssa.Function:
		return Value{{Kind: Func, Text: fullName(v), fn: v}}
	case *ssa.MakeClosure:
		fn := v.Fn.(*ssa.Function)
		a := Alt{Kind: Func, Text: fullName(fn), fn: fn}
		for _, b := range v.Bindings {
			a.Elems = append(a.Elems, r.eval(b))
		}
		return Value{a}
	case *ssa.Builtin:
		return unknown()
	case *ssa.Phi:
		var out []Value
		for _, e := range v.Edges {
			out = append(out, r.eval(e))
		}
		return join(out...)
	case *ssa.UnOp:
		if v.Op == token.MUL {
			return r.load(v.X)
		}
		if v.Op == token.SUB {
			return negated(r.eval(v.X))
		}
		if v.Op == token.ARROW {
			return r.received(v.X)
		}
	case *ssa.BinOp:
		if v.Op == token.ADD {
			if b, ok := v.Type().Underlying().(*types.Basic); ok && b.Info()&types.IsString != 0 {
				return concat(r.eval(v.X), r.eval(v.Y))
			}
		}
		if v.Op == token.SUB || v.Op == token.MUL {
			return r.arithmetic(v)
		}
	case *ssa.ChangeType:
		return r.eval(v.X)
	case *ssa.ChangeInterface:
		return r.eval(v.X)
	case *ssa.MakeInterface:
		return r.eval(v.X)
	case *ssa.TypeAssert:
		if v.CommaOk {
			return unknown()
		}
		return r.eval(v.X)
	case *ssa.Convert:
		return r.convert(v)
	case *ssa.MultiConvert:
		return r.eval(v.X)
	case *ssa.SliceToArrayPointer:
		return r.eval(v.X)
	case *ssa.MakeSlice:
		if c, ok := v.Len.(*ssa.Const); ok && c.Value != nil {
			if n, ok := constant.Int64Val(c.Value); ok && n <= maxElems {
				return Value{{Kind: List, Elems: make([]Value, n)}}
			}
		}
		return listOf(spliceOf(manyOf(nil)))
	case *ssa.MakeMap:
		return Value{{Kind: Map}}
	case *ssa.Slice:
		return r.slice(v)
	case *ssa.FieldAddr:
		return r.field(v.X, v.Field)
	case *ssa.Field:
		return r.field(v.X, v.Field)
	case *ssa.IndexAddr:
		return r.index(v.X, v.Index)
	case *ssa.Index:
		return r.index(v.X, v.Index)
	case *ssa.Lookup:
		return r.lookup(v.X, v.Index)
	case *ssa.Extract:
		return r.extract(v)
	case *ssa.Call:
		return r.callResult(v, 0)
	}
	return unknown()
}

// captured returns what free variable i of a literal is where the literal is made, as far as that does not depend on the
// parameters of the function around it: what a reader of the literal sees beside it.
func (r *Result) captured(lit *ssa.Function, i int) Value {
	if lit.Parent() == nil {
		return nil
	}
	var out []Value
	for _, mk := range r.closures[lit] {
		if i < len(mk.Bindings) {
			for _, a := range closed(r.eval(mk.Bindings[i])) {
				if a.Kind != Unknown {
					out = append(out, Value{a})
				}
			}
		}
	}
	return join(out...)
}

// load returns what the address x holds.
func (r *Result) load(x ssa.Value) Value {
	v := r.eval(x)
	if len(v) == 0 {
		// Nothing stores into it: the zero value.
		return zero(x.Type().Underlying().(*types.Pointer).Elem())
	}
	return v
}

func zero(t types.Type) Value {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		if u.Info()&types.IsString != 0 {
			return str("", token.NoPos)
		}
		if u.Info()&types.IsBoolean != 0 {
			return Value{{Kind: Int}}
		}
	case *types.Pointer, *types.Slice, *types.Map, *types.Signature, *types.Interface, *types.Chan:
		return Value{{Kind: Nil}}
	case *types.Struct:
		return Value{{Kind: Struct, Text: typeName(t)}}
	}
	return unknown()
}

func (r *Result) convert(v *ssa.Convert) Value {
	from, to := v.X.Type().Underlying(), v.Type().Underlying()
	fb, ok1 := from.(*types.Basic)
	tb, ok2 := to.(*types.Basic)
	if ok1 && ok2 {
		if fb.Info()&types.IsString != 0 && tb.Info()&types.IsString != 0 || fb.Info()&types.IsInteger != 0 && tb.Info()&types.IsInteger != 0 {
			return r.eval(v.X)
		}
		return unknown()
	}
	// string ⇄ []byte: the text is the same.
	return r.eval(v.X)
}

func (r *Result) slice(v *ssa.Slice) Value {
	x := r.eval(v.X)
	if b, ok := v.X.Type().Underlying().(*types.Basic); ok && b.Info()&types.IsString != 0 {
		if v.Low == nil && v.High == nil {
			return x
		}
		if FromHost(x) {
			return hostPart()
		}
		return unknown()
	}
	low, high := 0, -1
	if v.Low != nil {
		n, ok := intOf(v.Low)
		if !ok {
			return listOf(spliceOf(manyOf(x.Element())))
		}
		low = n
	}
	if v.High != nil {
		n, ok := intOf(v.High)
		if !ok {
			if isLenOf(v.High, v.X) {
				return x.From(low)
			}
			return listOf(spliceOf(manyOf(x.Element())))
		}
		high = n
	}
	if high >= 0 {
		if high == 0 {
			return listOf()
		}
		x = x.Until(high)
	}
	return x.From(low)
}

func isLenOf(n, x ssa.Value) bool {
	c, ok := n.(*ssa.Call)
	if !ok {
		return false
	}
	b, ok := c.Call.Value.(*ssa.Builtin)
	return ok && (b.Name() == "len" || b.Name() == "cap") && c.Call.Args[0] == x
}

func intOf(v ssa.Value) (int, bool) {
	c, ok := v.(*ssa.Const)
	if !ok || c.Value == nil || c.Value.Kind() != constant.Int {
		return 0, false
	}
	n, ok := constant.Int64Val(c.Value)
	return int(n), ok && n >= 0 && n < 1<<20
}

// field returns the value of field i of the struct x, or of the struct x points to.
func (r *Result) field(x ssa.Value, i int) Value {
	st := structOf(x.Type())
	if st == nil {
		return unknown()
	}
	f := st.Field(i)
	if v, ok := r.processField(x, f); ok {
		return v
	}
	v := r.eval(x).Field(f.Name())
	if v.Has(Unknown) {
		v = join(v, r.elsewhere(x.Type(), f))
	}
	return v
}

// elsewhere returns what field f, of a struct of type t or of what that points to, may hold because something stores it there.
func (r *Result) elsewhere(t types.Type, f *types.Var) Value {
	v := r.FieldStores(f)
	if !isLaunchArgv(r, t, f) {
		return v
	}
	return mapAlts(v, func(a Alt) (Value, bool) {
		a.stored = true
		return Value{a}, a.Kind == Str || a.Kind == Tag || a.Kind == Concat
	})
}

// isLaunchArgv reports whether f, a field of a struct of type t or of what that points to, is the argument list of a launch.
func isLaunchArgv(r *Result, t types.Type, f *types.Var) bool {
	return f.Name() == "Argv" && r.Directives.Type(t).Launch
}

func structOf(t types.Type) *types.Struct {
	t = types.Unalias(t).Underlying()
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem()).Underlying()
	}
	st, _ := t.(*types.Struct)
	return st
}

func (r *Result) index(x, i ssa.Value) Value {
	v := r.eval(x)
	if b, ok := x.Type().Underlying().(*types.Basic); ok && b.Info()&types.IsString != 0 {
		return unknown()
	}
	if n, ok := intOf(i); ok {
		return v.Index(n)
	}
	return v.Element()
}

func (r *Result) lookup(x, key ssa.Value) Value {
	v := r.eval(x)
	if _, ok := x.Type().Underlying().(*types.Map); !ok {
		return unknown()
	}
	k := r.eval(key)
	var out []Value
	for _, a := range k {
		if a.Kind != Str {
			return v.Element()
		}
		out = append(out, withoutHost(v.Key(a.Text)))
	}
	return join(out...)
}

func (r *Result) extract(v *ssa.Extract) Value {
	switch t := v.Tuple.(type) {
	case *ssa.Call:
		return r.callResult(t, v.Index)
	case *ssa.Lookup:
		if v.Index == 0 {
			return r.lookup(t.X, t.Index)
		}
	case *ssa.TypeAssert:
		if v.Index == 0 {
			return r.eval(t.X)
		}
	case *ssa.UnOp:
		if v.Index == 0 {
			return r.received(t.X)
		}
	case *ssa.Next:
		rng, ok := t.Iter.(*ssa.Range)
		if !ok || t.IsString {
			return unknown()
		}
		m := r.eval(rng.X)
		if v.Index == 2 {
			return m.Element()
		}
		if v.Index == 1 {
			return mapKeys(m)
		}
	}
	return unknown()
}

func mapKeys(m Value) Value {
	var out []Value
	for _, a := range m {
		if a.Kind != Map {
			return unknown()
		}
		for _, k := range a.Names {
			out = append(out, str(k, token.NoPos))
		}
		if len(a.Base) > 0 {
			out = append(out, unknown())
		}
	}
	return join(out...)
}

// received returns what a receive from channel c yields, when every send the function (or a literal in it) makes on it is known.
func (r *Result) received(c ssa.Value) Value {
	mk, ok := c.(*ssa.MakeChan)
	if !ok {
		return unknown()
	}
	var out []Value
	for _, ref := range *mk.Referrers() {
		if s, ok := ref.(*ssa.Send); ok && s.Chan == mk {
			out = append(out, r.eval(s.X))
		}
	}
	if len(out) == 0 {
		return unknown()
	}
	return join(out...)
}

// storage joins to val, which v was born with, what the package stores through it.
func (r *Result) storage(v ssa.Value, val Value) Value {
	refs := r.referrers(v)
	command := isCommand(v.Type())
	for _, ref := range refs {
		if command {
			val = r.attributeStorage(v, ref, val)
		}
		switch ref := ref.(type) {
		case *ssa.Store:
			if ref.Addr == v {
				val = join(val, r.stored(v, ref.Val, ref))
			}
		case *ssa.FieldAddr:
			if ref.X != v || !r.written(ref, 0) {
				continue
			}
			st := structOf(v.Type())
			if st == nil {
				continue
			}
			name := st.Field(ref.Field).Name()
			val = setField(val, name, r.foreign(v, r.storage(ref, nil), ref))
		case *ssa.IndexAddr:
			if ref.X != v || !r.written(ref, 0) {
				continue
			}
			elem := r.foreign(v, r.storage(ref, nil), ref)
			if n, ok := intOf(ref.Index); ok {
				val = setIndex(val, n, elem)
			} else {
				val = setAny(val, elem)
			}
		case *ssa.MapUpdate:
			if ref.Map != v {
				continue
			}
			val = r.mapUpdate(val, ref)
		case *ssa.UnOp:
			// A map or slice read back from the variable and written to.
			if ref.Op == token.MUL && ref.X == v && isCommand(ref.Type()) {
				val = r.storage(ref, val)
			}
			if ref.Op == token.MUL && ref.X == v && !r.isActive(ref) {
				switch ref.Type().Underlying().(type) {
				case *types.Map, *types.Slice:
					for _, use := range r.referrers(ref) {
						switch use := use.(type) {
						case *ssa.MapUpdate:
							if use.Map == ref {
								val = r.mapUpdate(val, use)
							}
						case *ssa.IndexAddr:
							if use.X == ref && r.written(use, 0) {
								elem := r.foreign(v, r.storage(use, nil), use)
								if n, ok := intOf(use.Index); ok {
									val = setIndex(val, n, elem)
								} else {
									val = setAny(val, elem)
								}
							}
						}
					}
				}
			}
		case *ssa.MakeClosure:
			fn := ref.Fn.(*ssa.Function)
			for i, b := range ref.Bindings {
				if b == v && i < len(fn.FreeVars) && r.written(fn.FreeVars[i], 0) {
					val = join(val, closedLiteral(r.storage(fn.FreeVars[i], nil)))
				}
			}
		}
	}
	return val
}

func (r *Result) isActive(v ssa.Value) bool { _, ok := r.active[v]; return ok }

func (r *Result) mapUpdate(val Value, u *ssa.MapUpdate) Value {
	k, e := r.eval(u.Key), r.eval(u.Value)
	if FromHost(e) && picked(u.Block()) {
		e = withoutHost(e)
		if FromHost(k) {
			k = unknown()
		}
	}
	var out []Value
	for _, a := range val {
		if a.Kind != Map {
			out = append(out, Value{a})
			continue
		}
		names, elems := append([]string(nil), a.Names...), append([]Value(nil), a.Elems...)
		rest := Value(nil)
		if len(a.Base) > 0 {
			rest = a.Base[0]
		}
		for _, ka := range k {
			if ka.Kind != Str {
				rest = join(rest, e)
				continue
			}
			found := false
			for i, n := range names {
				if n == ka.Text {
					elems[i] = join(elems[i], e)
					found = true
				}
			}
			if !found {
				names, elems = append(names, ka.Text), append(elems, e)
			}
		}
		a.Names, a.Elems = names, elems
		if len(rest) > 0 {
			a.Base = []Value{rest}
		}
		out = append(out, Value{a})
	}
	return join(out...)
}

// stored is the value of a store through addr; a global's stores come from many functions, whose parameters mean nothing here.
func (r *Result) stored(addr, x ssa.Value, at ssa.Instruction) Value {
	return r.foreign(addr, r.eval(x), at)
}

func (r *Result) foreign(addr ssa.Value, v Value, at ssa.Instruction) Value {
	if _, ok := addr.(*ssa.Global); ok {
		return closed(v)
	}
	return v
}

// closedLiteral is the value as seen by the function around the literal that stores it.
func closedLiteral(v Value) Value { return closed(v) }

// written reports whether anything is stored at or below the address.
func (r *Result) written(addr ssa.Value, depth int) bool {
	if depth > maxDepth {
		return false
	}
	for _, ref := range r.referrers(addr) {
		switch ref := ref.(type) {
		case *ssa.Store:
			if ref.Addr == addr {
				return true
			}
		case *ssa.FieldAddr:
			if ref.X == addr && r.written(ref, depth+1) {
				return true
			}
		case *ssa.IndexAddr:
			if ref.X == addr && r.written(ref, depth+1) {
				return true
			}
		case *ssa.MapUpdate:
			if ref.Map == addr {
				return true
			}
		case *ssa.MakeClosure:
			fn := ref.Fn.(*ssa.Function)
			for i, b := range ref.Bindings {
				if b == addr && i < len(fn.FreeVars) && r.written(fn.FreeVars[i], depth+1) {
					return true
				}
			}
		}
	}
	return false
}

func setField(v Value, name string, x Value) Value {
	if len(v) == 0 {
		v = Value{{Kind: Struct}}
	}
	var out []Value
	for _, a := range v {
		if a.Kind != Struct {
			a = Alt{Kind: Struct, Base: []Value{{a}}}
		}
		old := Value(nil)
		names, elems := append([]string(nil), a.Names...), append([]Value(nil), a.Elems...)
		found := false
		for i, n := range names {
			if n == name {
				elems[i] = join(elems[i], x)
				found = true
			}
		}
		if !found {
			if len(a.Base) > 0 {
				old = a.Base[0].Field(name)
			}
			names, elems = append(names, name), append(elems, join(old, x))
		}
		a.Names, a.Elems = names, elems
		out = append(out, Value{a})
	}
	return join(out...)
}

func setIndex(v Value, n int, x Value) Value {
	var out []Value
	for _, a := range v {
		if a.Kind == List && n < len(a.Elems) {
			if _, ok := a.Elems[n].splice(); !ok {
				elems := append([]Value(nil), a.Elems...)
				elems[n] = join(elems[n], x)
				out = append(out, Value{{Kind: List, Elems: elems}})
				continue
			}
		}
		out = append(out, setAny(Value{a}, x))
	}
	return join(out...)
}

// setAny joins x to every element of a list: the store's place is not known.
func setAny(v Value, x Value) Value {
	var out []Value
	for _, a := range v {
		switch a.Kind {
		case List:
			elems := make([]Value, len(a.Elems))
			for i, e := range a.Elems {
				if s, ok := e.splice(); ok {
					elems[i] = spliceOf(manyOf(join(s.Element(), x)))
				} else {
					elems[i] = join(e, x)
				}
			}
			out = append(out, listOf(elems...))
		default:
			out = append(out, Value{a})
		}
	}
	return join(out...)
}
