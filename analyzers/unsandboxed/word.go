package unsandboxed

import (
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/sbxkit/sbxkit/analyzers/internal/argv"
	"github.com/sbxkit/sbxkit/analyzers/internal/exectable"
	"github.com/sbxkit/sbxkit/analyzers/internal/flow"
	"golang.org/x/tools/go/ssa"
)

// A word is what a command is made from: a value of a function, followed along fields, or, without a value, a constant. ofLaunch stands for the
// argument list of a launch that came from elsewhere.
type word struct {
	value ssa.Value
	path  string
}

var ofLaunch = word{nil, "\x00launch"}

// constantWord is a constant; of one that may name a program the name alone counts.
func constantWord(s string) word {
	if b := base(s); b != "" && !strings.ContainsAny(s, " \t\n") {
		s = b
	}
	return word{nil, s}
}

// trace collects what values are made from.
type trace struct {
	c    *checker
	out  map[word]bool
	seen map[word]bool
}

func (c *checker) trace() *trace {
	return &trace{c: c, out: make(map[word]bool), seen: make(map[word]bool)}
}

func (t *trace) words() []word {
	var out []word
	for w := range t.out {
		out = append(out, w)
	}
	return out
}

// follow adds what x, followed along path, is made from.
func (t *trace) follow(x ssa.Value, path string) {
	if w := (word{x, path}); t.seen[w] || len(t.seen) > 500 {
		return
	} else {
		t.seen[w] = true
	}
	switch x := x.(type) {
	case *ssa.Const:
		if s, ok := literal(x); ok && x.Value != nil && strings.HasPrefix(s, `"`) {
			for _, a := range t.c.result.Value(x) {
				t.out[constantWord(a.Text)] = true
			}
		}
	case *ssa.Parameter, *ssa.Global:
		t.out[word{x, path}] = true
	case *ssa.FreeVar:
		t.captured(x, path)
	case *ssa.Phi:
		for _, e := range x.Edges {
			t.follow(e, path)
		}
	case *ssa.UnOp:
		if x.Op == token.MUL {
			t.load(x.X, path)
		}
	case *ssa.Slice:
		t.follow(x.X, path)
	case *ssa.Field:
		t.part(x.X, x.Field, path)
	case *ssa.FieldAddr:
		t.part(x.X, x.Field, path)
	case *ssa.IndexAddr:
		t.follow(x.X, path)
	case *ssa.Index:
		t.follow(x.X, path)
	case *ssa.Lookup:
		t.follow(x.X, path)
	case *ssa.Extract:
		switch tuple := x.Tuple.(type) {
		case *ssa.Call:
			t.called(tuple, x, path)
		case *ssa.Lookup:
			t.follow(tuple.X, path)
		case *ssa.TypeAssert:
			t.follow(tuple.X, path)
		}
	case *ssa.TypeAssert:
		t.follow(x.X, path)
	case *ssa.MakeInterface:
		t.follow(x.X, path)
	case *ssa.ChangeInterface:
		t.follow(x.X, path)
	case *ssa.ChangeType:
		t.follow(x.X, path)
	case *ssa.Convert:
		t.follow(x.X, path)
	case *ssa.BinOp:
		t.follow(x.X, path)
		t.follow(x.Y, path)
	case *ssa.Alloc:
		t.load(x, path)
	case *ssa.Call:
		t.called(x, x, path)
	}
}

// part adds what a field of x is made from.
func (t *trace) part(x ssa.Value, i int, path string) {
	st := structOf(x.Type())
	if st == nil {
		return
	}
	name := st.Field(i).Name()
	if t.c.result.Directives.Type(x.Type()).Launch && (name == "Argv" || name == "Script") {
		t.out[ofLaunch] = true
	}
	t.follow(x, "."+name+path)
}

// load adds what the variable at the address is made from, or its field along path.
func (t *trace) load(addr ssa.Value, path string) {
	al, ok := addr.(*ssa.Alloc)
	if !ok {
		t.follow(addr, path)
		return
	}
	found := false
	for _, ref := range *al.Referrers() {
		switch ref := ref.(type) {
		case *ssa.Store:
			if ref.Addr == al {
				found = true
				t.follow(ref.Val, path)
			}
		case *ssa.IndexAddr:
			for _, use := range *ref.Referrers() {
				if st, ok := use.(*ssa.Store); ok && st.Addr == ref {
					found = true
					t.follow(st.Val, path)
				}
			}
		case *ssa.FieldAddr:
			name := "." + structOf(al.Type()).Field(ref.Field).Name()
			rest, ok := strings.CutPrefix(path, name)
			if !ok || rest != "" && !strings.HasPrefix(rest, ".") {
				continue
			}
			for _, use := range *ref.Referrers() {
				if st, ok := use.(*ssa.Store); ok && st.Addr == ref {
					found = true
					t.follow(st.Val, rest)
				}
			}
		}
	}
	if !found {
		t.out[word{al, path}] = true
	}
}

// captured adds what the variable is made from that a literal took along.
func (t *trace) captured(x *ssa.FreeVar, path string) {
	for _, mk := range t.c.closures[x.Parent()] {
		for i, f := range x.Parent().FreeVars {
			if f == x && i < len(mk.Bindings) {
				t.follow(mk.Bindings[i], path)
			}
		}
	}
}

// called adds what the result of a call is made from: itself, and the texts and lists that went in.
func (t *trace) called(call *ssa.Call, result ssa.Value, path string) {
	builtin, _ := call.Call.Value.(*ssa.Builtin)
	if builtin == nil {
		t.out[word{result, path}] = true
	}
	if call.Call.IsInvoke() {
		return
	}
	for _, a := range call.Call.Args {
		if isWords(a.Type()) {
			t.follow(a, "")
		}
	}
}

// isWords reports whether t is a text or a list of texts.
func isWords(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Info()&types.IsString != 0
	case *types.Slice:
		b, ok := u.Elem().Underlying().(*types.Basic)
		return ok && (b.Info()&types.IsString != 0 || b.Kind() == types.Byte)
	}
	return false
}

// program adds what the first word of the list is made from, or the list where that is not known apart.
func (t *trace) program(list ssa.Value) {
	switch l := list.(type) {
	case *ssa.Slice:
		if al, ok := l.X.(*ssa.Alloc); ok && l.Low == nil {
			for _, ref := range *al.Referrers() {
				at, ok := ref.(*ssa.IndexAddr)
				if !ok {
					continue
				}
				if k, ok := at.Index.(*ssa.Const); !ok || k.Int64() != 0 {
					continue
				}
				for _, use := range *at.Referrers() {
					if st, ok := use.(*ssa.Store); ok && st.Addr == at {
						t.follow(st.Val, "")
					}
				}
			}
			return
		}
	case *ssa.Call:
		if b, ok := l.Call.Value.(*ssa.Builtin); ok && b.Name() == "append" {
			if k, ok := l.Call.Args[0].(*ssa.Const); ok && k.IsNil() {
				t.program(l.Call.Args[1])
				return
			}
			t.program(l.Call.Args[0])
			return
		}
	case *ssa.Phi:
		for _, e := range l.Edges {
			if e != l && !t.seen[word{e, "\x00program"}] {
				t.seen[word{e, "\x00program"}] = true
				t.program(e)
			}
		}
		return
	}
	t.follow(list, "")
}

// command adds what a command is made from, given its program and the words behind it: those too where the program only runs them.
func (t *trace) command(program, rest ssa.Value) {
	t.follow(program, "")
	t.behind(rest)
}

func (t *trace) behind(rest ssa.Value) {
	if rest == nil {
		return
	}
	for w := range t.out {
		if w.value == nil && argv.IsShell(base(w.path)) {
			t.follow(rest, "")
			return
		}
	}
}

func base(s string) string {
	b, _ := (flow.Alt{Kind: flow.Str, Text: s}).BaseName()
	return b
}

// madeFrom returns what the command of the use is made from, in terms of the values of its function.
func (c *checker) madeFrom(use *flow.Use) []word {
	t := c.trace()
	switch instr := use.Instr.(type) {
	case *ssa.Store:
		if use.Kind == flow.Launch {
			t.program(instr.Val)
			t.behind(instr.Val)
		} else if fa, ok := instr.Addr.(*ssa.FieldAddr); ok && flow.FieldName(fa) == "Args" {
			t.program(instr.Val)
			t.behind(instr.Val)
		} else {
			t.follow(instr.Val, "")
		}
	case ssa.CallInstruction:
		common := instr.Common()
		if use.From == nil {
			if start, ok := exectable.Starts[use.What]; ok && !common.IsInvoke() && start.Path < len(common.Args) {
				var rest ssa.Value
				if start.Args >= 0 && start.Args < len(common.Args) {
					rest = common.Args[start.Args]
				}
				t.command(common.Args[start.Path], rest)
				break
			}
		}
		if use.From != nil {
			c.given(t, common, use)
		}
	case *ssa.MakeClosure:
		for _, a := range commandParams(use.From) {
			if i := int(a.N) - flow.FreeVar; i >= 0 && i < len(instr.Bindings) {
				t.load(instr.Bindings[i], fields(a.Path))
			}
		}
	}
	c.byValue(t, use)
	return t.words()
}

// given adds what the arguments of a call are made from that the callee makes its command from.
func (c *checker) given(t *trace, common *ssa.CallCommon, use *flow.Use) {
	args := common.Args
	if common.IsInvoke() {
		args = append([]ssa.Value{common.Value}, args...)
	}
	for _, a := range commandParams(use.From) {
		n := int(a.N)
		if n >= flow.FreeVar {
			if mk, ok := common.Value.(*ssa.MakeClosure); ok && n-flow.FreeVar < len(mk.Bindings) {
				t.load(mk.Bindings[n-flow.FreeVar], fields(a.Path))
			}
			continue
		}
		if n < len(args) {
			if len(a.Path) == 0 && isList(args[n].Type()) {
				t.program(args[n])
				continue
			}
			if len(a.Path) > 0 && a.Path[0] == "[0]" {
				t.program(args[n])
				continue
			}
			t.follow(args[n], fields(a.Path))
		}
	}
}

func isList(t types.Type) bool {
	_, ok := t.Underlying().(*types.Slice)
	return ok
}

// byValue adds what the value analysis knows of the command: its constants, and the parameters of the function around.
func (c *checker) byValue(t *trace, use *flow.Use) {
	for _, a := range programOf(&use.Sink) {
		switch a.Kind {
		case flow.Str:
			t.out[constantWord(a.Text)] = true
		case flow.Param:
			t.param(use.Fn, a)
		}
	}
	// Behind sudo, env and their like: the program there or, where that is none by name, what the words are made from.
	behind, named := false, false
	for _, cmd := range argv.Commands(listOf(&use.Sink)) {
		behind = behind || argv.IsPrefix(cmd.Name)
		if len(cmd.Via) > 0 && cmd.Prog.Kind == flow.Str {
			t.out[constantWord(cmd.Prog.Text)], named = true, true
		}
	}
	if behind && !named {
		listOf(&use.Sink).Walk(func(a flow.Alt) bool {
			if a.Kind == flow.Param {
				t.param(use.Fn, a)
			}
			return true
		})
	}
	for w := range t.out {
		if w.value == nil && argv.IsShell(base(w.path)) {
			for _, a := range commandParams(&use.Sink) {
				t.param(use.Fn, a)
			}
			break
		}
	}
}

func (t *trace) param(fn *ssa.Function, a flow.Alt) {
	if n := int(a.N); n >= flow.FreeVar {
		if n -= flow.FreeVar; n < len(fn.FreeVars) {
			t.follow(fn.FreeVars[n], fields(a.Path))
		}
	} else if n < len(fn.Params) {
		t.follow(fn.Params[n], fields(a.Path))
	}
}

// programOf returns what the program of the sink may be.
func programOf(s *flow.Sink) flow.Value {
	switch s.Kind {
	case flow.Launch:
		return s.Vals[0].Index(0)
	case flow.Environ:
		return s.Vals[1]
	}
	if len(s.Vals[flow.StartPath]) > 0 {
		return s.Vals[flow.StartPath]
	}
	return s.Vals[flow.StartArgv].Index(0)
}

// listOf returns the argument list of the sink.
func listOf(s *flow.Sink) flow.Value {
	switch s.Kind {
	case flow.Launch:
		return s.Vals[0]
	case flow.Start:
		return s.Vals[flow.StartArgv]
	}
	return nil
}

// commandParams returns the parameters that the sink's program comes from; all that its command comes from where the program is a constant that
// only runs the rest.
func commandParams(s *flow.Sink) []flow.Alt {
	if s == nil {
		return nil
	}
	program := programOf(s)
	var out []flow.Alt
	all := false
	for _, a := range program {
		if a.Kind == flow.Param {
			out = append(out, a)
		}
		all = all || a.Kind == flow.Str && argv.IsShell(base(a.Text))
	}
	if all {
		listOf(s).Walk(func(a flow.Alt) bool {
			if a.Kind == flow.Param {
				out = append(out, a)
			}
			return true
		})
	}
	return out
}

// fields keeps the steps of an access path that are fields.
func fields(path []string) string {
	var b strings.Builder
	for _, p := range path {
		if strings.HasPrefix(p, ".") {
			b.WriteString(p)
		}
	}
	return b.String()
}

// launched returns what the commands are made from that the function, the one around it and their literals hand to a sandbox.
func (c *checker) launched(fn *ssa.Function) []word {
	fn = outermost(fn)
	if l, ok := c.lists[fn]; ok {
		return l
	}
	all := make(map[word]bool)
	var visit func(fn *ssa.Function)
	visit = func(fn *ssa.Function) {
		for _, b := range fn.Blocks {
			for _, instr := range b.Instrs {
				for _, use := range c.uses[instr] {
					switch {
					case use.Kind == flow.Launch:
						for _, w := range c.madeFrom(use) {
							all[w] = true
						}
					case use.Kind == flow.Start && c.backendStart(use) != "" && runs(use):
						for _, w := range c.wrapped(use) {
							all[w] = true
						}
					}
				}
				if st, ok := instr.(*ssa.Store); ok {
					if fa, ok := st.Addr.(*ssa.FieldAddr); ok && c.result.Directives.Type(fa.X.Type()).Launch && flow.FieldName(fa) == "Script" {
						t := c.trace()
						t.script(st.Val)
						for w := range t.out {
							all[w] = true
						}
					}
				}
			}
		}
		for _, lit := range fn.AnonFuncs {
			visit(lit)
		}
	}
	visit(fn)
	out := make([]word, 0, len(all))
	for w := range all {
		out = append(out, w)
	}
	c.lists[fn] = out
	return out
}

func outermost(fn *ssa.Function) *ssa.Function {
	for fn.Parent() != nil {
		fn = fn.Parent()
	}
	return fn
}

// runs reports whether a start of a backend's program may run a command in a sandbox, as opposed to asking about one or removing it.
func runs(use *flow.Use) bool {
	for _, cmd := range argv.Commands(use.Vals[flow.StartArgv]) {
		if !engines[cmd.Name] || len(cmd.Args) == 0 {
			return true
		}
		for _, a := range cmd.Args {
			if _, spliced := argv.Spliced(a); spliced || len(argv.Texts(a)) == 0 {
				return true
			}
			for _, text := range argv.Texts(a) {
				if text == "run" || text == "exec" || text == "create" {
					return true
				}
			}
			if !slices.ContainsFunc(argv.Texts(a), func(s string) bool { return strings.HasPrefix(s, "-") }) {
				break // another subcommand
			}
		}
	}
	return false
}

// engines are backends' programs that do other things than to run a command, by a subcommand.
var engines = map[string]bool{"docker": true, "podman": true, "nerdctl": true}

// script adds what the text of a script is made from.
func (t *trace) script(v ssa.Value) {
	al, ok := v.(*ssa.Alloc)
	if !ok {
		t.follow(v, "")
		return
	}
	for _, ref := range *al.Referrers() {
		if fa, ok := ref.(*ssa.FieldAddr); ok {
			for _, use := range *fa.Referrers() {
				if st, ok := use.(*ssa.Store); ok && st.Addr == fa {
					t.follow(st.Val, "")
				}
			}
		}
	}
}

// wrapped returns what the command of a backend's program is made from: all its words but constants, of which most are the backend's options.
func (c *checker) wrapped(use *flow.Use) []word {
	t := c.trace()
	if call, ok := use.Instr.(ssa.CallInstruction); ok {
		for _, a := range call.Common().Args {
			if isWords(a.Type()) {
				t.follow(a, "")
			}
		}
	}
	use.Vals[flow.StartArgv].Walk(func(a flow.Alt) bool {
		if a.Kind == flow.Param {
			t.param(use.Fn, a)
		}
		return true
	})
	var out []word
	for w := range t.out {
		if w.value != nil {
			out = append(out, w)
		}
	}
	return out
}

// related reports whether a command made from those words is the one that the function hands to a sandbox: it shares a word with it, or, where the
// function hands over none that is known, it is the caller's own command.
// given says that the command is started as it came, with no word added.
func (c *checker) related(fn *ssa.Function, words []word, given bool) bool {
	launched := c.launched(fn)
	for _, w := range words {
		if w == ofLaunch {
			return true
		}
		for _, l := range launched {
			if w == l || w.value != nil && w.value == l.value && within(w.path, l.path) {
				return true
			}
		}
	}
	if len(launched) > 0 || !given {
		return false
	}
	for _, w := range words {
		if w.value == nil {
			return false // a program by name
		}
	}
	for _, w := range words {
		if p, ok := w.value.(*ssa.Parameter); ok && outermost(p.Parent()) == outermost(fn) && (w.path == "" && isWords(p.Type()) || commandField(w.path)) {
			return true
		}
	}
	return false
}

// asGiven reports whether the words behind the program may all be the caller's: none is a constant.
func asGiven(use *flow.Use) bool {
	list := use.Vals[flow.StartArgv]
	for _, a := range list {
		if a.Kind != flow.List || len(a.Elems) == 0 {
			return true
		}
		constant := false
		for _, e := range a.Elems[1:] {
			constant = constant || e.Has(flow.Str)
		}
		if !constant {
			return true
		}
	}
	return len(list) == 0
}

// within reports whether one of two access paths leads on from the other.
func within(a, b string) bool {
	return a == b || strings.HasPrefix(a, b+".") && b != "" || strings.HasPrefix(b, a+".") && a != ""
}

// commandField reports whether the last field of the path is called what a command is called.
func commandField(path string) bool {
	name := strings.ToLower(path[strings.LastIndexByte(path, '.')+1:])
	switch name {
	case "argv", "args", "arguments", "command", "cmd", "cmdline", "commandline", "program":
		return path != ""
	}
	return false
}

// portable turns a word into one that callers can make their own of.
func portable(fn *ssa.Function, w word) (Word, bool) {
	if w.value == nil {
		return Word{Param: -1, Text: w.path}, true
	}
	for i, p := range fn.Params {
		if p == w.value {
			return Word{Param: i, Text: w.path}, true
		}
	}
	return Word{}, false
}

// own turns the words of a callee into those of one call.
func (c *checker) own(call ssa.CallInstruction, words []Word) []word {
	t := c.trace()
	args := call.Common().Args
	if call.Common().IsInvoke() {
		args = append([]ssa.Value{call.Common().Value}, args...)
	}
	for _, w := range words {
		switch {
		case w.Param < 0:
			t.out[constantWord(w.Text)] = true
		case w.Param < len(args) && w.Text == "" && isList(args[w.Param].Type()):
			t.program(args[w.Param])
			t.behind(args[w.Param])
		case w.Param < len(args):
			t.follow(args[w.Param], w.Text)
		}
	}
	return t.words()
}
