package flow

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/sbxkit/sbxkit/analyzers/internal/directive"
	"github.com/sbxkit/sbxkit/analyzers/internal/exectable"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"
)

const (
	maxVisits = 12 // of one function: what still grows then is recursion that builds arguments
	maxVia    = 16 // names in a chain
	maxSinks  = 32 // of one summary, in their order

	// maxRecursion is how often a way goes through one function: that much may its arguments change places.
	maxRecursion = 4

	// maxCallPath is how far from a parameter a function may be found that is called: f, s.f, s.opts.f.
	maxCallPath = 2

	// maxFollowed bounds the functions, with their arguments, that are followed from one call through the functions these are given.
	maxFollowed = 200
)

func declaredFuncs(pass *analysis.Pass) []*types.Func {
	var out []*types.Func
	for _, file := range pass.Files {
		for _, decl := range file.Decls {
			if fd, ok := decl.(*ast.FuncDecl); ok && fd.Name.Name != "_" {
				if obj, ok := pass.TypesInfo.Defs[fd.Name].(*types.Func); ok {
					out = append(out, obj)
				}
			}
		}
	}
	return out
}

// summarise computes the summary of every function, and of the wrappers the compiler makes for method values and promoted
// methods, until nothing changes.
func (r *Result) summarise() {
	queue := slices.Clone(r.Funcs)
	queued := make(map[*ssa.Function]bool, len(queue))
	for _, fn := range queue {
		queued[fn] = true
	}
	order := make(map[*ssa.Function]int, len(queue))
	for i, fn := range queue {
		order[fn] = i
	}
	for len(queue) > 0 {
		fn := queue[0]
		queue = queue[1:]
		queued[fn] = false
		if !r.visit(fn) {
			continue
		}
		var next []*ssa.Function
		for c := range r.callers[fn] {
			if !queued[c] && r.visits[c] < maxVisits {
				queued[c] = true
				next = append(next, c)
			}
		}
		slices.SortFunc(next, func(a, b *ssa.Function) int {
			return cmp.Or(cmp.Compare(a.Pos(), b.Pos()), cmp.Compare(a.String(), b.String()))
		})
		queue = append(queue, next...)
	}
	for _, fn := range r.Funcs {
		r.Uses = append(r.Uses, r.uses[fn]...)
	}
	r.fallback()
	slices.SortStableFunc(r.Uses, func(a, b *Use) int { return cmp.Compare(a.Pos, b.Pos) })
}

// summary returns the summary of fn, which is computed when it is asked for the first time.
func (r *Result) summary(fn, caller *ssa.Function) *Summary {
	if caller != nil {
		m := r.callers[fn]
		if m == nil {
			m = make(map[*ssa.Function]bool)
			r.callers[fn] = m
		}
		m[caller] = true
	}
	if s := r.sums[fn]; s != nil {
		return s
	}
	if fn.Synthetic != "" && fn.Parent() == nil && len(fn.Blocks) > 0 && len(fn.Blocks) < 8 && fn.Name() != "init" {
		// A wrapper is not in Funcs; it has a call and nothing else.
		r.sums[fn] = &Summary{}
		r.visit(fn)
		return r.sums[fn]
	}
	return &Summary{}
}

// visit computes the uses and the summary of fn and reports whether the summary changed.
func (r *Result) visit(fn *ssa.Function) bool {
	r.visits[fn]++
	var uses []*Use
	var effects []Effect
	add := func(u *Use) {
		uses = append(uses, u)
	}
	var at ssa.Instruction
	emit := func(s Sink) { add(&Use{Sink: s, Fn: fn, Instr: at, Pos: posOf(at)}) }
	effect := func(e Effect) {
		e.at = posOf(at)
		effects = append(effects, e)
	}
	for _, b := range fn.Blocks {
		for _, instr := range b.Instrs {
			at = instr
			for _, src := range sources {
				src(r, fn, instr, emit, effect)
			}
			switch instr := instr.(type) {
			case ssa.CallInstruction:
				r.visitCall(fn, instr, add, &effects)
			case *ssa.MakeClosure:
				r.visitLiteral(fn, instr, add)
			}
		}
	}
	r.uses[fn] = uses
	effects = append(effects, numberedStdin(uses)...)
	r.effects[fn] = effects
	sum := &Summary{Effects: tidyEffects(effects)}
	for _, u := range uses {
		if u.open() {
			s := u.Sink
			s.at = u.Pos
			sum.Sinks = append(sum.Sinks, s)
		}
	}
	sum.Sinks = tidySinks(sum.Sinks)
	old := r.sums[fn]
	r.sums[fn] = sum
	if old == nil {
		return !sum.empty()
	}
	return !old.same(sum)
}

// visitCall adds what the functions that a call may reach do with its arguments.
func (r *Result) visitCall(fn *ssa.Function, call ssa.CallInstruction, add func(*Use), effects *[]Effect) {
	common := call.Common()
	var args []Value
	for _, c := range r.Callees(common) {
		if c.Param != nil {
			// A function kept in a field of a parameter: what the package keeps there anywhere.
			for _, f := range r.funcsIn(r.fieldOnPath(fn, *c.Param)) {
				if sum := r.summaryOf(f, fn); f.Param == nil && sum != nil {
					r.inheritEffects(f, sum, posOf(call), nil, effects)
				}
			}
			if len(c.Param.Path) > maxCallPath {
				continue
			}
			given := r.carried(common)
			if given == nil && r.own() {
				given = slices.Repeat([]Value{unknown()}, len(common.Args)) // for its effects
			}
			if given != nil || r.own() {
				add(&Use{
					Sink: Sink{Kind: Call, What: "function value", Vals: append([]Value{{*c.Param}}, given...)},
					Fn:   fn, Instr: call, Pos: posOf(call),
				})
			}
			continue
		}
		sum := r.summaryOf(c, fn)
		if sum == nil {
			continue
		}
		if len(sum.Sinks) > 0 && args == nil {
			args = r.Args(common)
		}
		given := args
		if common.IsInvoke() && len(args) > 0 {
			given = slices.Clone(args)
			given[0] = receiver(args[0], c.Recv)
			if c.Fn != nil && !given[0].Has(Unknown) {
				r.called[c.Fn] = true
			}
		} else if c.Fn != nil {
			r.called[c.Fn] = true
		}
		// A call marked as the seam's launch API hands over; what the driver behind it does is not the caller's.
		if c.Obj != nil && r.Directives.Object(c.Obj).Launch {
			continue
		}
		r.inherit(fn, call, c, sum, given, add, effects, 0)
		if r.mayReach(common, c) && !r.driver(c) {
			r.inheritEffects(c, sum, posOf(call), nil, effects)
		}
	}
	r.visitCallbacks(fn, call, effects)
}

// inheritEffects adds what the callee does whatever its arguments are. through are the functions on the way to it.
func (r *Result) inheritEffects(c Callee, sum *Summary, at token.Pos, through []Step, effects *[]Effect) {
	for _, e := range sum.Effects {
		e.Via = append(slices.Clip(through), r.via(c, e.at, e.Via)...)
		e.at, e.literal = at, nil
		if len(through) == 0 && c.Fn != nil && c.Fn.Parent() != nil {
			e.literal = c.Fn
		}
		*effects = append(*effects, e)
	}
}

// mayReach reports whether the effects of callee c are those of the call. Of an interface of the standard library everybody has
// implementations that have nothing to do with each other, so there the value must be known.
func (r *Result) mayReach(call *ssa.CallCommon, c Callee) bool {
	if !call.IsInvoke() || call.Method.Pkg() != nil && !directive.StandardPath(call.Method.Pkg().Path()) {
		return true
	}
	for _, a := range r.Value(call.Value) {
		if a.Kind != Struct || a.Text == "" {
			continue
		}
		if m, ok := r.methodOf(a.Text, call.Method.Name()); ok && m.Name == c.Name {
			return true
		}
	}
	return false
}

// driver reports whether c belongs to the seam's own lifecycle driver: what that does to a run's streams is not its callers'.
func (r *Result) driver(c Callee) bool {
	if c.Obj == nil || c.Obj.Pkg() == nil || c.Obj.Pkg() == r.pass.Pkg {
		return c.Obj != nil && stdinMethod(c.Obj)
	}
	path := c.Obj.Pkg().Path()
	return path == seamPath || strings.HasPrefix(path, seamPath+"/")
}

// seamPath is the package of the lifecycle driver.
const seamPath = "github.com/sbxkit/sbxkit/runtime"

// visitCallbacks adds the effects of function values handed to a function that nothing is known of: it is there to call them.
func (r *Result) visitCallbacks(fn *ssa.Function, call ssa.CallInstruction, effects *[]Effect) {
	common := call.Common()
	takes := false
	for _, a := range common.Args {
		_, ok := a.Type().Underlying().(*types.Signature)
		takes = takes || ok
	}
	if !takes {
		return
	}
	if _, ok := common.Value.(*ssa.Builtin); ok {
		return
	}
	for _, c := range r.Callees(common) {
		if c.Fn != nil || c.Param != nil || c.Obj != nil && r.Directives.Object(c.Obj).Launch {
			return
		}
		if sum := r.summaryOf(c, fn); sum != nil && slices.ContainsFunc(sum.Sinks, func(s Sink) bool { return s.Kind == Call }) {
			return
		}
	}
	for _, a := range common.Args {
		if _, ok := a.Type().Underlying().(*types.Signature); !ok {
			continue
		}
		for _, f := range r.funcsIn(r.Value(a)) {
			if sum := r.summaryOf(f, fn); f.Param == nil && sum != nil {
				r.inheritEffects(f, sum, posOf(call), nil, effects)
			}
		}
	}
}

// carried returns the arguments of a call of an unknown function as far as they can matter to what it does; nil when none can.
func (r *Result) carried(call *ssa.CallCommon) []Value {
	out := make([]Value, len(call.Args))
	any := false
	for i, a := range call.Args {
		out[i] = unknown()
		t := a.Type()
		_, isFunc := t.Underlying().(*types.Signature)
		if carries(t) || identifies(t) || typeName(t) == exectable.Cmd || r.Directives.Type(t).Launch {
			out[i] = r.Value(a)
			any = any || !isFunc && (out[i].Open() || r.interesting(out[i]) || namesProcess(out[i]) || identifies(t) && groupNumber(out[i]))
		}
	}
	if !any {
		return nil
	}
	return out
}

// visitLiteral adds what a function literal, or a method value, may do with the variables it takes along when anyone calls it.
func (r *Result) visitLiteral(fn *ssa.Function, mk *ssa.MakeClosure, add func(*Use)) {
	if len(mk.Bindings) == 0 {
		return
	}
	lit := mk.Fn.(*ssa.Function)
	sum := r.summary(lit, fn)
	if len(sum.Sinks) == 0 {
		return
	}
	c := r.calleeOf(lit)
	for _, b := range mk.Bindings {
		c.Free = append(c.Free, r.Value(b))
	}
	r.inherit(fn, mk, c, sum, nil, add, nil, 0)
}

// inherit adds the sinks of a callee with the arguments of one call, and the effects of the functions among these that it calls. effects is nil
// where a literal is made and not called.
func (r *Result) inherit(fn *ssa.Function, instr ssa.Instruction, c Callee, sum *Summary, args []Value, add func(*Use), effects *[]Effect, depth int) {
	literal := effects == nil
	if depth == 0 {
		defer func(outer map[string]int) { r.expanded = outer }(r.expanded)
		r.expanded = nil
	}
	for i := range sum.Sinks {
		from := &sum.Sinks[i]
		if rounds(from.Via, c.Name) >= maxRecursion {
			continue
		}
		s := Sink{Kind: from.Kind, What: from.What, Via: r.via(c, from.at, from.Via)}
		for _, v := range from.Vals {
			s.Vals = append(s.Vals, substitute(v, args, c.Free))
		}
		s.narrow()
		if s.Kind != Call {
			if s.hopeless() {
				continue
			}
			add(&Use{Sink: s, Fn: fn, Instr: instr, Pos: posOf(instr), From: from, Literal: literal})
			continue
		}
		if depth > 3 {
			continue
		}
		// The callee calls a function it was given: which one is known now.
		if s.Vals[0].nearParam() {
			add(&Use{Sink: s, Fn: fn, Instr: instr, Pos: posOf(instr), From: from, Literal: literal})
		}
		r.calls(fn, instr, s.Vals, func(u *Use) {
			u.Via = r.via(c, from.at, u.Via)
			add(u)
		}, r.via(c, from.at, from.Via), effects, depth)
	}
}

// rounds returns how often the way goes through the function.
func rounds(via []Step, name string) int {
	n := 0
	for i := range via {
		if via[i].Full == name {
			n++
		}
	}
	return n
}

// calls adds what the functions among the alternatives of vals[0] do with the other values, and their effects, which are reached through the
// functions of through.
func (r *Result) calls(fn *ssa.Function, instr ssa.Instruction, vals []Value, add func(*Use), through []Step, effects *[]Effect, depth int) {
	literal := effects == nil
	for _, f := range r.funcsIn(vals[0]) {
		if f.Param != nil || r.expandedBefore(f, vals[1:], depth) {
			continue
		}
		if direct, ok := r.directSink(f, vals[1:]); ok {
			add(&Use{Sink: direct, Fn: fn, Instr: instr, Pos: posOf(instr), Literal: literal})
		}
		if killers[f.Name] {
			add(&Use{Sink: r.processSink(f.Name, vals[1:]), Fn: fn, Instr: instr, Pos: posOf(instr), Literal: literal})
		}
		if inner := r.summaryOf(f, fn); inner != nil {
			r.inherit(fn, instr, f, inner, vals[1:], add, effects, depth+1)
			if !literal {
				r.inheritEffects(f, inner, posOf(instr), through, effects)
			}
		}
	}
}

// expandedBefore reports whether the function has been followed with those arguments from the call that is looked at, as far as from here. States of a
// machine that are functions, each of which sets the next, are reached in more ways than can be gone.
func (r *Result) expandedBefore(f Callee, args []Value, depth int) bool {
	var b strings.Builder
	b.WriteString(f.Name)
	for _, v := range slices.Concat(f.Free, args) {
		b.WriteByte(' ')
		v.write(&b)
	}
	before, ok := r.expanded[b.String()]
	if ok && before <= depth || !ok && len(r.expanded) >= maxFollowed {
		return true
	}
	if r.expanded == nil {
		r.expanded = make(map[string]int)
	}
	r.expanded[b.String()] = depth
	return false
}

// summaryOf returns the summary of a callee, or nil.
func (r *Result) summaryOf(c Callee, caller *ssa.Function) *Summary {
	switch {
	case c.Fn != nil:
		return r.summary(c.Fn, caller)
	case c.Sum != nil:
		return c.Sum
	case c.Obj != nil:
		return r.imported(c.Obj)
	}
	return nil
}

// via puts the callee in front of a chain. at is where the callee goes on, if it is of this package.
func (r *Result) via(c Callee, at token.Pos, rest []Step) []Step {
	if len(rest) >= maxVia {
		rest = rest[:maxVia]
	}
	if !at.IsValid() && c.Obj != nil {
		at = c.Obj.Pos()
	}
	return append([]Step{{Name: c.short(r.pass.Pkg), Full: c.Name, pos: at}}, rest...)
}

// Related returns the positions of the steps of the chain, as far as they are known: in this package the calls, in another the
// declarations.
func (r *Result) Related(via []Step) []analysis.RelatedInformation {
	var out []analysis.RelatedInformation
	for _, s := range via {
		pos := s.pos
		if !pos.IsValid() {
			if obj := r.objects[s.Full]; obj != nil {
				pos = obj.Pos()
			}
		}
		if pos.IsValid() {
			out = append(out, analysis.RelatedInformation{Pos: pos, Message: "through " + s.Name})
		}
	}
	return out
}

// tidySinks sorts the sinks and keeps the one with the shortest chain among equals.
func tidySinks(sinks []Sink) []Sink {
	if len(sinks) == 0 {
		return nil
	}
	sorted := slices.Clone(sinks)
	slices.SortStableFunc(sorted, func(a, b Sink) int {
		return cmp.Or(cmp.Compare(rank(&a), rank(&b)), compareSinks(&a, &b))
	})
	out := sorted[:0]
	for _, s := range sorted {
		if n := len(out); n > 0 && compareSinks(&out[n-1], &s) == 0 {
			if shorter(s.Via, out[n-1].Via) {
				out[n-1] = s
			}
			continue
		}
		if len(out) == maxSinks {
			break
		}
		out = append(out, s)
	}
	return slices.Clip(out)
}

// rank says what is kept where there is too much: first what tells its subject (the program, the process), and last calls of parameters, which are
// many and only steps on the way.
func rank(s *Sink) int {
	switch {
	case s.Kind == Call:
		return 2
	case len(s.Vals) > 0 && len(s.Vals[0]) == 1 && s.Vals[0][0].Kind == Unknown:
		return 1
	}
	return 0
}

func tidyEffects(effects []Effect) []Effect {
	if len(effects) == 0 {
		return nil
	}
	best := make(map[[2]string]Effect)
	for _, e := range effects {
		k := [2]string{e.Kind, e.What}
		if old, ok := best[k]; !ok || shorter(e.Via, old.Via) {
			best[k] = e
		}
	}
	out := make([]Effect, 0, len(best))
	for _, e := range best {
		out = append(out, e)
	}
	slices.SortFunc(out, func(a, b Effect) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.What, b.What)) })
	return out
}

func shorter(a, b []Step) bool {
	if len(a) != len(b) {
		return len(a) < len(b)
	}
	return chain(a, "") < chain(b, "")
}

// Effects returns what fn does whatever its arguments are, each as often as it does it, in source order. What it does through a literal of
// its own stands where the literal does it.
func (r *Result) Effects(fn *ssa.Function) []Effect {
	if _, ok := r.effects[fn]; !ok && r.SSA != nil && len(fn.Blocks) > 0 {
		r.visit(fn) // a wrapper
	}
	out := r.ownEffects(fn, make(map[*ssa.Function]bool))
	slices.SortStableFunc(out, func(a, b Effect) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.What, b.What), cmp.Compare(len(a.Via), len(b.Via)))
	})
	return slices.CompactFunc(out, func(a, b Effect) bool { return a.at == b.at && a.Kind == b.Kind && a.What == b.What })
}

func (r *Result) ownEffects(fn *ssa.Function, seen map[*ssa.Function]bool) []Effect {
	if seen[fn] {
		return nil
	}
	seen[fn] = true
	var out []Effect
	for _, e := range r.effects[fn] {
		if e.literal != nil && within(e.literal, fn) {
			out = append(out, r.ownEffects(e.literal, seen)...)
			continue
		}
		out = append(out, e)
	}
	return out
}

func within(lit, fn *ssa.Function) bool {
	for p := lit.Parent(); p != nil; p = p.Parent() {
		if p == fn {
			return true
		}
	}
	return false
}

// EffectsOf returns what a callee of any package does whatever its arguments are.
func (r *Result) EffectsOf(c Callee) []Effect {
	if c.Fn != nil {
		return r.Effects(c.Fn)
	}
	if sum := r.summaryOf(c, nil); sum != nil {
		return sum.Effects
	}
	return nil
}

// fallback answers for the uses that still depend on a field of a parameter in functions nobody in the package calls: the field may hold
// whatever the package stores in it anywhere.
func (r *Result) fallback() {
	var more []*Use
	for _, u := range r.Uses {
		if !u.open() || r.called[u.Fn] && u.Fn.Parent() == nil {
			continue
		}
		for i, v := range u.Vals {
			u.Vals[i] = r.fromFields(u.Fn, v)
		}
		if u.Kind == Call {
			add := func(v *Use) {
				v.Via = slices.Concat(u.Via, v.Via)
				more = append(more, v)
			}
			var effects *[]Effect
			if !u.Literal {
				effects = new([]Effect) // visitCall has them
			}
			r.calls(u.Fn, u.Instr, u.Vals, add, nil, effects, 0)
		}
	}
	r.Uses = append(r.Uses, more...)
}

func (r *Result) fromFields(fn *ssa.Function, v Value) Value {
	if !v.Open() {
		return v
	}
	return mapAlts(v, func(a Alt) (Value, bool) {
		if a.Kind != Param {
			return nil, false
		}
		if got := r.fieldOnPath(fn, a); len(got) > 0 {
			return join(Value{a}, got), true
		}
		return Value{a}, true
	})
}

// Varies reports whether value i of a use that came through a call was, in the callee, a field of a parameter in which the package also stores
// something else: what it holds when the callee comes to it need not be what it holds at the call.
func (r *Result) Varies(u *Use, i int) bool {
	call, ok := u.Instr.(ssa.CallInstruction)
	if !ok || u.From == nil || i >= len(u.From.Vals) {
		return false
	}
	callee := call.Common().StaticCallee()
	if callee == nil || callee.Pkg != r.SSA {
		return false
	}
	varies := false
	u.From.Vals[i].Walk(func(a Alt) bool {
		if a.Kind == Param && slices.ContainsFunc(a.Path, func(step string) bool { return step[0] == '.' }) {
			varies = varies || len(r.fieldOnPath(callee, a)) > 1
		}
		return !varies
	})
	return varies
}

// fieldOnPath follows a parameter's access path by types to its last field and returns what the package stores there.
func (r *Result) fieldOnPath(fn *ssa.Function, a Alt) Value {
	var t types.Type
	switch {
	case a.N >= FreeVar && int(a.N-FreeVar) < len(fn.FreeVars):
		t = fn.FreeVars[a.N-FreeVar].Type()
		if p, ok := t.Underlying().(*types.Pointer); ok {
			t = p.Elem() // a captured variable
		}
	case a.N < FreeVar && int(a.N) < len(fn.Params):
		t = fn.Params[a.N].Type()
	default:
		return nil
	}
	var field *types.Var
	var of types.Type // the struct it is in
	last := -1
	for i, step := range a.Path {
		if step[0] != '.' {
			switch u := t.Underlying().(type) {
			case *types.Slice:
				if !strings.HasSuffix(step, ":]") {
					t = u.Elem()
				}
			case *types.Array:
				t = u.Elem()
			case *types.Map:
				t = u.Elem()
			default:
				return nil
			}
			continue
		}
		st := structOf(t)
		if st == nil {
			return nil
		}
		found := false
		for f := range st.Fields() {
			if f.Name() == step[1:] {
				// What a command is started with belongs to that command, not to all the package has.
				if f.Pkg() == nil || f.Pkg().Path() != "os/exec" {
					field, of, last = f, t, i
				}
				t, found = f.Type(), true
			}
		}
		if !found {
			return nil
		}
	}
	if field == nil {
		return nil
	}
	return alongPath(r.elsewhere(of, field), a.Path[last+1:])
}
