package flow

import (
	"cmp"
	"go/types"
	"slices"
	"strings"

	"github.com/sbxkit/sbxkit/analyzers/internal/exectable"
	"github.com/sbxkit/sbxkit/analyzers/internal/rule"
	"golang.org/x/tools/go/ssa"
)

type method struct {
	recv   types.Type
	callee Callee
}

type hiddenMethod struct {
	HiddenMethod
	callee Callee
}

// fits reports whether the type of the method can be behind the interface, as far as names tell.
func (h hiddenMethod) fits(iface *types.Interface) bool {
	for m := range iface.Methods() {
		if _, ok := slices.BinarySearch(h.Methods, m.Name()); !ok {
			return false
		}
	}
	return true
}

// loadFacts indexes the imported summaries by name, for function values and interface calls.
func (r *Result) loadFacts() {
	r.byType = make(map[string]map[string]Callee)
	r.named = make(map[string][]method)
	facts := r.pass.AllObjectFacts()
	for _, f := range facts {
		fn, ok := f.Object.(*types.Func)
		if !ok {
			continue
		}
		if _, ok := f.Fact.(*FuncFact); !ok {
			continue
		}
		if fn.Pkg() == r.pass.Pkg {
			continue
		}
		r.objects[fn.FullName()] = fn
		recv := fn.Signature().Recv()
		if recv == nil {
			continue
		}
		t := recv.Type()
		if p, ok := t.(*types.Pointer); ok {
			t = p.Elem()
		}
		c := Callee{Name: fn.FullName(), Obj: fn, Recv: typeName(t)}
		r.named[fn.Name()] = append(r.named[fn.Name()], method{t, c})
		r.addByType(typeName(t), fn.Name(), c)
	}
	for _, f := range r.pass.AllPackageFacts() {
		h, ok := f.Fact.(*HiddenFact)
		if !ok || f.Package == r.pass.Pkg {
			continue
		}
		for _, m := range h.Methods {
			c := Callee{Name: m.Full, Sum: &m.Summary, Recv: m.Type}
			r.hidden = append(r.hidden, hiddenMethod{m, c})
			r.addByType(m.Type, m.Name, c)
		}
	}
	for _, list := range r.named {
		slices.SortFunc(list, func(a, b method) int { return cmp.Compare(a.callee.Name, b.callee.Name) })
	}
	slices.SortFunc(r.hidden, func(a, b hiddenMethod) int { return cmp.Compare(a.Full, b.Full) })
	r.hidden = slices.CompactFunc(r.hidden, func(a, b hiddenMethod) bool { return a.Full == b.Full })
}

func (r *Result) addByType(t, name string, c Callee) {
	if r.byType[t] == nil {
		r.byType[t] = make(map[string]Callee)
	}
	r.byType[t][name] = c
}

// methodOf returns the method of the type with that package path and name.
func (r *Result) methodOf(t, name string) (Callee, bool) {
	r.ownMethods()
	c, ok := r.byType[t][name]
	return c, ok
}

func (r *Result) methodsNamed(name string) []method {
	r.ownMethods()
	return r.named[name]
}

func (r *Result) hiddenNamed(name string) []hiddenMethod {
	var out []hiddenMethod
	for _, h := range r.hidden {
		if h.Name == name {
			out = append(out, h)
		}
	}
	return out
}

const ownDone = "\x00own"

// ownMethods adds the methods of the package's own types, including promoted ones, to the index.
func (r *Result) ownMethods() {
	if _, done := r.byType[ownDone]; done || r.SSA == nil {
		return
	}
	r.byType[ownDone] = nil
	var names []*types.TypeName
	for _, obj := range r.pass.TypesInfo.Defs {
		if tn, ok := obj.(*types.TypeName); ok && !tn.IsAlias() {
			names = append(names, tn)
		}
	}
	slices.SortFunc(names, func(a, b *types.TypeName) int { return cmp.Compare(a.Pos(), b.Pos()) })
	for _, tn := range names {
		t, ok := tn.Type().(*types.Named)
		if !ok || types.IsInterface(t) {
			continue
		}
		set := types.NewMethodSet(types.NewPointer(t))
		for sel := range set.Methods() {
			obj := sel.Obj().(*types.Func).Origin()
			c := Callee{Name: obj.FullName(), Obj: obj, Recv: typeName(t)}
			if len(sel.Index()) > 1 && t.TypeParams() == nil {
				// Promoted: the wrapper finds the embedded field of the receiver.
				if fn := r.SSA.Prog.MethodValue(sel); fn != nil && len(fn.Blocks) > 0 {
					c.Name, c.Fn = fn.String(), fn
				}
			} else if fn := r.SSA.Prog.FuncValue(obj); fn != nil && len(fn.Blocks) > 0 {
				c.Fn = fn
			}
			r.named[obj.Name()] = append(r.named[obj.Name()], method{t, c})
			r.addByType(typeName(t), obj.Name(), c)
		}
	}
}

// imported returns the summary of another package's function, or nil.
func (r *Result) imported(obj *types.Func) *Summary {
	obj = obj.Origin()
	if s, ok := r.importMemo[obj]; ok {
		return s
	}
	var s *Summary
	var fact FuncFact
	if obj.Pkg() != nil && obj.Pkg() != r.pass.Pkg && r.pass.ImportObjectFact(obj, &fact) {
		s = fact.summary()
	}
	r.importMemo[obj] = s
	return s
}

// directSink is the sink that calling c with args is, when c is in the table.
func (r *Result) directSink(c Callee, args []Value) (Sink, bool) {
	start, ok := exectable.Starts[c.Name]
	if !ok {
		return Sink{}, false
	}
	return r.startSink(c.Name, start, args), true
}

// exportFacts publishes what importers of the package need.
func (r *Result) exportFacts() {
	r.findStarters()
	var hidden []HiddenMethod
	for _, fn := range r.Funcs {
		obj, ok := fn.Object().(*types.Func)
		if !ok || fn.Parent() != nil {
			continue
		}
		sum := r.exportable(fn)
		if sum.empty() {
			continue
		}
		recv := obj.Signature().Recv()
		if recv == nil {
			if obj.Exported() {
				r.pass.ExportObjectFact(obj, &FuncFact{sum: sum})
			}
			continue
		}
		t := recv.Type()
		if p, ok := t.(*types.Pointer); ok {
			t = p.Elem()
		}
		named, ok := types.Unalias(t).(*types.Named)
		if !ok || named.Obj().Parent() != r.pass.Pkg.Scope() {
			continue
		}
		r.pass.ExportObjectFact(obj, &FuncFact{sum: sum})
		if !named.Obj().Exported() {
			var names []string
			for sel := range types.NewMethodSet(types.NewPointer(named)).Methods() {
				names = append(names, sel.Obj().Name())
			}
			slices.Sort(names)
			hidden = append(hidden, HiddenMethod{typeName(named), obj.Name(), obj.FullName(), names, *sum})
		}
	}
	if len(hidden) > 0 {
		slices.SortFunc(hidden, func(a, b HiddenMethod) int { return cmp.Compare(a.Full, b.Full) })
		r.pass.ExportPackageFact(&HiddenFact{hidden})
	}
	r.exportVariables()
	r.exportFields()
}

// exportable returns the part of a summary that an importer can make use of.
func (r *Result) exportable(fn *ssa.Function) *Summary {
	sum := &Summary{}
	if s := r.sums[fn]; s != nil {
		sum.Effects = s.Effects
		for _, k := range s.Sinks {
			k.Vals = slices.Clone(k.Vals)
			for i, v := range k.Vals {
				k.Vals[i] = r.portable(v)
			}
			sum.Sinks = append(sum.Sinks, k)
		}
	}
	results := fn.Signature.Results()
	for i := range results.Len() {
		t := results.At(i).Type()
		process := identifies(t)
		if !carries(t) && !r.returnsStarter(t) && !process {
			continue
		}
		v, ok := r.results(fn, i)
		if !ok || process && !namesProcess(v) || !process && !r.interesting(v) {
			continue
		}
		for len(sum.Returns) <= i {
			sum.Returns = append(sum.Returns, nil)
		}
		sum.Returns[i] = r.portable(v)
	}
	return sum
}

// carries reports whether values of type t can hold a program's name, an argument list, or a function.
func carries(t types.Type) bool { return carriesAt(t, 0) }

func carriesAt(t types.Type, depth int) bool {
	if depth > maxDepth {
		return false // a type that is made of itself
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Info()&types.IsString != 0
	case *types.Slice:
		return carriesAt(u.Elem(), depth+1)
	case *types.Array:
		return carriesAt(u.Elem(), depth+1)
	case *types.Map:
		return carriesAt(u.Elem(), depth+1)
	case *types.Signature:
		return true
	}
	return false
}

// returnsStarter reports whether a result of type t may be something with a method that starts a program, or an exec.Cmd or a launch.
func (r *Result) returnsStarter(t types.Type) bool {
	if name := typeName(t); name == exectable.Cmd || name != "" && (r.starters[name] || r.Directives.Type(t).Launch) {
		return true
	}
	if types.IsInterface(t) {
		return len(r.starters) > 0 && types.TypeString(t, nil) != "error"
	}
	return false
}

// findStarters collects the types of the package whose methods have sinks.
func (r *Result) findStarters() {
	r.starters = make(map[string]bool)
	for _, fn := range r.Funcs {
		recv := fn.Signature.Recv()
		if s := r.sums[fn]; recv != nil && s != nil && len(s.Sinks) > 0 {
			r.starters[typeName(recv.Type())] = true
		}
	}
}

func (r *Result) exportVariables() {
	scope := r.pass.Pkg.Scope()
	for _, name := range scope.Names() {
		v, ok := scope.Lookup(name).(*types.Var)
		if !ok || !v.Exported() || !carries(v.Type()) {
			continue
		}
		g := r.SSA.Var(name)
		if g == nil {
			continue
		}
		if val := closed(r.Value(g)); r.interesting(val) {
			r.pass.ExportObjectFact(v, &ValueFact{r.portable(val)})
		}
	}
}

func (r *Result) exportFields() {
	var fields []*types.Var
	for f := range r.fields {
		if f.Pkg() == r.pass.Pkg && f.Exported() && carries(f.Type()) {
			fields = append(fields, f)
		}
	}
	slices.SortFunc(fields, func(a, b *types.Var) int { return cmp.Compare(a.Pos(), b.Pos()) })
	for _, f := range fields {
		if val := r.FieldStores(f); r.interesting(val) && !onlyFuncs(val) {
			r.pass.ExportObjectFact(f, &ValueFact{r.portable(val)})
		}
	}
}

func onlyFuncs(v Value) bool {
	for _, a := range v {
		if a.Kind != Func && a.Kind != Nil && a.Kind != Unknown {
			return false
		}
	}
	return true
}

// interesting reports whether an importer could learn something from v.
func (r *Result) interesting(v Value) bool {
	found := false
	v.Walk(func(a Alt) bool {
		switch a.Kind {
		case Str:
			found = InterestingWord(a.Text)
		case Param, Tag:
			found = true
		case Func:
			_, start := exectable.Starts[a.Text]
			found = start || a.fn != nil && r.sums[a.fn] != nil && !r.sums[a.fn].empty() || r.objects[a.Text] != nil || a.Sum != nil
		}
		return !found
	})
	return found
}

// portable prepares a value for another package: literals and unexported functions take their summary along.
func (r *Result) portable(v Value) Value {
	return mapAlts(v, func(a Alt) (Value, bool) {
		if a.Kind == loop {
			return unknown(), true
		}
		if a.Kind != Func || a.fn == nil {
			return nil, false
		}
		fn := a.fn
		if o := fn.Origin(); o != nil {
			fn = o
		}
		if fn.Pkg != r.SSA && len(fn.Blocks) == 0 {
			return nil, false // another package's; its name is enough
		}
		sum := r.sums[fn]
		if sum == nil {
			return unknown(), true
		}
		inner := &Summary{Effects: sum.Effects}
		for _, s := range sum.Sinks {
			s.Vals = slices.Clone(s.Vals)
			for i, v := range s.Vals {
				s.Vals[i] = dropFuncs(v)
			}
			inner.Sinks = append(inner.Sinks, s)
		}
		return Value{{Kind: Func, Text: a.Text, Elems: a.Elems, Sum: inner}}, true
	})
}

func dropFuncs(v Value) Value {
	return mapAlts(v, func(a Alt) (Value, bool) {
		if a.Kind == Func && a.fn != nil {
			return unknown(), true
		}
		return nil, false
	})
}

// shellWords are the words that make a constant worth telling importers about: they can be part of a command that runs a shell.
var shellWords = map[string]bool{}

func init() {
	for _, w := range strings.Fields(`sh ash bash dash zsh ksh mksh fish csh tcsh busybox toybox env sudo doas su nice ionice nohup timeout xargs ssh
		setsid stdbuf time watch script chroot unshare nsenter flock parallel find tmux screen osascript cmd powershell pwsh
		python python2 python3 perl ruby node nodejs deno php lua -c -lc -ec -ic -xc -e -E --command -Command /c /C /k --eval -p -r`) {
		shellWords[w] = true
	}
}

// InterestingWord reports whether a constant can matter to a rule: the name of a backend's program or of a shell, or an option that
// hands over code.
func InterestingWord(s string) bool {
	if len(s) > 200 {
		return false
	}
	if shellWords[s] {
		return true
	}
	words := strings.Fields(s)
	if len(words) > 1 && InterestingWord(words[0]) {
		return true
	}
	base, _ := (Alt{Kind: Str, Text: s}).BaseName()
	if shellWords[base] {
		return true
	}
	return slices.Contains(rule.Current().ProgramNames(), base)
}
