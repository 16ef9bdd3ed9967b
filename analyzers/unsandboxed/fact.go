package unsandboxed

import (
	"fmt"
	"go/types"
	"slices"
	"strings"

	"github.com/sbxkit/sbxkit/analyzers/internal/flow"
	"golang.org/x/tools/go/ssa"
)

// A FuncFact says what of a function tells that no sandbox could be had, and what the function does about a parameter that tells so.
type FuncFact struct {
	Results []Mark
	Falls   []Fall
}

// A Mark says that a result with a value means that no sandbox could be had.
type Mark struct {
	Result int
	Value  string // see the constants of sign.go
	From   string // what had failed
	Param  int    // -1, or the parameter that says so to the function
	When   string // the value of the parameter
}

// A Fall is a start without a sandbox where a parameter has a value.
type Fall struct {
	Param int
	When  string
	How   int
	What  string
	Words []Word // of a command
	Given bool   // of a command: it is started as it came
	Calls int    // -1, or the parameter that is called and may be such a start
}

// A Word is what a command is made from: a parameter, followed along fields, or a constant.
type Word struct {
	Param int // -1 for a constant
	Text  string
}

// AFact marks the type as a fact.
func (*FuncFact) AFact() {}

func (f *FuncFact) String() string { return f.key() }

func (f *FuncFact) key() string {
	if f == nil {
		return ""
	}
	var parts []string
	for _, m := range f.Results {
		part := fmt.Sprintf("result %d %s: %s", m.Result, m.Value, m.From)
		if m.Param >= 0 {
			part = fmt.Sprintf("result %d %s: parameter %d %s", m.Result, m.Value, m.Param, m.When)
		}
		parts = append(parts, part)
	}
	for _, l := range f.Falls {
		parts = append(parts, fmt.Sprintf("parameter %d %s: %s", l.Param, l.When, l.What))
	}
	return strings.Join(parts, "; ")
}

func (f *FuncFact) results() []Mark {
	if f == nil {
		return nil
	}
	return f.Results
}

// A VarFact says which value of a field or package variable means that no sandbox could be had.
type VarFact struct {
	Value string
	From  string
}

// AFact marks the type as a fact.
func (*VarFact) AFact() {}

func (f *VarFact) String() string { return f.Value + ": " + f.From }

// fact returns what is known of a callee, or nil.
func (c *checker) fact(callee flow.Callee) *FuncFact {
	if callee.Fn != nil {
		if f := c.facts[callee.Fn]; f != nil && f.key() != "" {
			return f
		}
		return nil
	}
	var fact FuncFact
	if callee.Obj != nil && callee.Obj.Pkg() != c.pass.Pkg && c.pass.ImportObjectFact(callee.Obj, &fact) {
		return &fact
	}
	return nil
}

// summary computes the fact of fn from what is known of the functions it calls.
func (c *checker) summary(fn *ssa.Function) *FuncFact {
	fact := &FuncFact{}
	c.attempts(fn).results(fact)
	for i, p := range fn.Params {
		for _, value := range conditions(p.Type()) {
			v := c.newView(fn, when{i, value})
			v.settle()
			v.results(fact)
			for _, f := range c.falls(v) {
				fall := Fall{Param: i, When: value, How: f.how, What: c.name(fn), Given: f.given, Calls: f.calls}
				if f.calls < 0 {
					fall.What += " → " + f.what
				}
				for _, w := range f.words {
					if out, ok := portable(fn, w); ok {
						fall.Words = append(fall.Words, out)
					}
				}
				fact.Falls = append(fact.Falls, fall)
			}
		}
	}
	slices.SortFunc(fact.Results, func(a, b Mark) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	fact.Results = slices.Compact(fact.Results)
	return fact
}

func (c *checker) name(fn *ssa.Function) string { return flow.ShortName(fn, c.pass.Pkg) }

// conditions returns the values of a parameter that may tell of a failure.
func conditions(t types.Type) []string {
	if isError(t) {
		return []string{anyError}
	}
	if b, ok := t.Underlying().(*types.Basic); ok && b.Kind() == types.Bool {
		return []string{isFalse, isTrue}
	}
	if sig, ok := t.Underlying().(*types.Signature); ok && errorResult(sig) >= 0 {
		return []string{itFails}
	}
	return nil
}

// results adds what the results of the function say.
func (v *view) results(fact *FuncFact) {
	results := v.fn.Signature.Results()
	for i := range results.Len() {
		var s signs
		k := newConstants()
		var why *branch
		for _, b := range v.fn.Blocks {
			ret, ok := lastInstr(b).(*ssa.Return)
			if !ok || i >= len(ret.Results) {
				continue
			}
			s = s.merge(v.signs(ret.Results[i]))
			br := v.fail[b]
			k.add(ret.Results[i], br, v.fine[b])
			if _, isConst := literal(ret.Results[i]); br != nil && !isConst && isError(results.At(i).Type()) {
				why = br
			}
		}
		if why != nil {
			s = s.add(anyError, why.why)
		}
		s = s.merge(k.signs(results.At(i).Type()))
		for _, value := range sorted(s) {
			fact.Results = append(fact.Results, Mark{
				Result: i, Value: value, From: shortened(s[value].from), Param: v.when.param, When: v.when.value,
			})
		}
	}
}

// shortened keeps the end of a long chain: what has failed in the end.
func shortened(from string) string {
	parts := strings.Split(from, " → ")
	return parts[len(parts)-1]
}

// export publishes what importers need.
func (c *checker) export() {
	for _, fn := range c.result.Funcs {
		obj, ok := fn.Object().(*types.Func)
		if !ok || fn.Parent() != nil || c.facts[fn].key() == "" {
			continue
		}
		if obj.Exported() || obj.Signature().Recv() != nil {
			c.pass.ExportObjectFact(obj, c.facts[fn])
		}
	}
	for obj := range c.stores {
		if !obj.Exported() || obj.Pkg() != c.pass.Pkg {
			continue
		}
		v := c.newView(nil, attemptFails)
		s := v.stored(obj)
		for _, value := range sorted(s) {
			c.pass.ExportObjectFact(obj, &VarFact{value, shortened(s[value].from)})
			break
		}
	}
}
