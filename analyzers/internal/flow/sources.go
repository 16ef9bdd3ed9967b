package flow

import (
	"go/token"
	"go/types"

	"github.com/sbxkit/sbxkit/analyzers/internal/exectable"
	"golang.org/x/tools/go/ssa"
)

// A source finds the sinks and effects that an instruction is by itself. A rule that needs a new kind adds its function here.
type source func(r *Result, fn *ssa.Function, instr ssa.Instruction, emit func(Sink), effect func(Effect))

var sources = []source{startCalls, cmdWrites, launchWrites, processCalls, attributeWrites, stdinEffects, environSources, unsandboxedCalls}

// startCalls finds calls that start a program, or make an exec.Cmd that something else can start.
func startCalls(r *Result, _ *ssa.Function, instr ssa.Instruction, emit func(Sink), _ func(Effect)) {
	call, ok := instr.(ssa.CallInstruction)
	if !ok {
		return
	}
	common := call.Common()
	if common.IsInvoke() {
		return
	}
	if fn := common.StaticCallee(); fn != nil {
		// Spare the rest of the work for what is not in the table.
		name := r.fullName(fn)
		if start, ok := exectable.Starts[name]; ok {
			if v, ok := instr.(ssa.Value); ok && exectable.Makers[name] && r.onlyLookedAt(v) {
				return
			}
			emit(r.startSink(name, start, r.Args(common)))
		}
		return
	}
	if _, ok := common.Value.(*ssa.Builtin); ok {
		return
	}
	for _, c := range r.funcsIn(r.Value(common.Value)) {
		if start, ok := exectable.Starts[c.Name]; ok {
			emit(r.startSink(c.Name, start, r.Args(common)))
		}
	}
}

func (r *Result) startSink(name string, start exectable.Start, args []Value) Sink {
	at := func(i int) Value {
		if i < 0 || i >= len(args) {
			return nil
		}
		return args[i]
	}
	path, list, env := at(start.Path), at(start.Args), at(start.Env)
	var argv Value
	switch {
	case start.CommandLine:
		argv = commandLine(path, list)
	case start.WithName:
		argv = listOf(path, spliceOf(list.From(1)))
	default:
		argv = listOf(path, spliceOf(list))
	}
	if start.EnvField != "" {
		env = env.Field(start.EnvField)
	}
	return Sink{Kind: Start, What: name, Vals: []Value{path, argv, env}}
}

// commandLine is the argument list of a Windows call, which names the program in either of two places.
func commandLine(path, line Value) Value {
	words := splitWords(line, windowsWords)
	var out []Value
	for _, a := range path {
		switch a.Kind {
		case Nil:
			out = append(out, words)
		default:
			out = append(out, listOf(Value{a}, spliceOf(words)))
		}
	}
	return join(out...)
}

// onlyLookedAt reports whether nothing is done with the exec.Cmd v but to print it or read its fields: it is never started.
func (r *Result) onlyLookedAt(v ssa.Value) bool {
	refs := v.Referrers()
	if refs == nil || len(*refs) == 0 {
		return true
	}
	for _, ref := range *refs {
		switch ref := ref.(type) {
		case *ssa.DebugRef:
		case *ssa.FieldAddr:
			for _, use := range *ref.Referrers() {
				if _, ok := use.(*ssa.UnOp); !ok {
					return false
				}
			}
		case *ssa.Call:
			fn := ref.Call.StaticCallee()
			if fn == nil || !exectable.HarmlessMethods[fullName(fn)] {
				return false
			}
		case *ssa.MakeInterface:
			// Printed, or handed to who knows whom.
			if !onlyFormatted(ref) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// onlyFormatted reports whether the interface value ends up in nothing but the variadic arguments of package fmt.
func onlyFormatted(v *ssa.MakeInterface) bool {
	for _, ref := range *v.Referrers() {
		st, ok := ref.(*ssa.Store)
		if !ok {
			return false
		}
		ia, ok := st.Addr.(*ssa.IndexAddr)
		if !ok {
			return false
		}
		al, ok := ia.X.(*ssa.Alloc)
		if !ok {
			return false
		}
		for _, use := range *al.Referrers() {
			sl, ok := use.(*ssa.Slice)
			if !ok {
				continue
			}
			for _, c := range *sl.Referrers() {
				call, ok := c.(*ssa.Call)
				if !ok || call.Call.StaticCallee() == nil || call.Call.StaticCallee().Pkg == nil ||
					call.Call.StaticCallee().Pkg.Pkg.Path() != "fmt" {
					return false
				}
			}
		}
	}
	return true
}

// cmdWrites finds writes of the fields of an exec.Cmd that say what it starts.
func cmdWrites(r *Result, _ *ssa.Function, instr ssa.Instruction, emit func(Sink), _ func(Effect)) {
	store, fa, name := fieldStore(instr)
	if store == nil || name != "Path" && name != "Args" || typeName(fa.X.Type()) != exectable.Cmd {
		return
	}
	whole := r.Value(fa.X)
	var path, argv Value
	if name == "Path" {
		path = r.Value(store.Val)
		argv = listOf(path, spliceOf(unknown()))
		if !r.sibling(fa, "Args") {
			// Nobody writes the arguments: they are those the Cmd was made with.
			argv = listOf(path, spliceOf(whole.Field("Args").From(1)))
		}
	} else {
		// Args[0] is only a name; Path says what runs. Where that is written too, its own sink names the program.
		argv = r.Value(store.Val)
		if at := whole.Field("Path"); len(at) > 0 && !at.Has(Unknown) && !onlyEmpty(at) {
			argv = listOf(at, spliceOf(argv.From(1)))
		}
	}
	emit(Sink{Kind: Start, What: exectable.Cmd + "." + name, Vals: []Value{path, argv, nil}})
}

// sibling reports whether the function writes the field called name of the same struct value.
func (r *Result) sibling(fa *ssa.FieldAddr, name string) bool {
	for _, x := range r.aliases(fa.X, 0) {
		for _, ref := range r.referrers(x) {
			other, ok := ref.(*ssa.FieldAddr)
			if ok && other.X == x && structOf(x.Type()).Field(other.Field).Name() == name && r.written(other, 0) {
				return true
			}
		}
	}
	return false
}

// aliases returns the values that are the same address as v because they take the same path from the same value, v among them.
func (r *Result) aliases(v ssa.Value, depth int) []ssa.Value {
	if depth > 3 {
		return []ssa.Value{v}
	}
	var out []ssa.Value
	switch v := v.(type) {
	case *ssa.FieldAddr:
		for _, x := range r.aliases(v.X, depth+1) {
			for _, ref := range r.referrers(x) {
				if other, ok := ref.(*ssa.FieldAddr); ok && other.X == x && other.Field == v.Field {
					out = append(out, other)
				}
			}
		}
	case *ssa.Field:
		// Of a struct that is loaded as a whole, as for a promoted method.
		if whole, ok := v.X.(*ssa.UnOp); ok && whole.Op == token.MUL {
			for _, x := range r.aliases(whole.X, depth+1) {
				out = append(out, r.loadsOf(x, v.Field)...)
			}
		}
	case *ssa.UnOp:
		for _, x := range r.aliases(v.X, depth+1) {
			for _, ref := range r.referrers(x) {
				if other, ok := ref.(*ssa.UnOp); ok && other.X == x && other.Op == v.Op {
					out = append(out, other)
				}
			}
		}
		if fa, ok := v.X.(*ssa.FieldAddr); ok && v.Op == token.MUL {
			for _, x := range r.aliases(fa.X, depth+1) {
				for _, load := range r.loadsOf(x, fa.Field) {
					if _, ok := load.(*ssa.Field); ok {
						out = append(out, load)
					}
				}
			}
		}
	}
	if len(out) == 0 {
		return []ssa.Value{v}
	}
	return out
}

// loadsOf returns the values that are loaded of a field of the struct at the address, alone or with the whole.
func (r *Result) loadsOf(addr ssa.Value, field int) []ssa.Value {
	var out []ssa.Value
	for _, ref := range r.referrers(addr) {
		v, ok := ref.(ssa.Value)
		if !ok {
			continue
		}
		switch ref := ref.(type) {
		case *ssa.FieldAddr:
			if ref.X != addr || ref.Field != field {
				continue
			}
		case *ssa.UnOp:
			if ref.X != addr || ref.Op != token.MUL {
				continue
			}
		default:
			continue
		}
		for _, use := range r.referrers(v) {
			switch use := use.(type) {
			case *ssa.UnOp:
				if use.X == v && use.Op == token.MUL {
					out = append(out, use)
				}
			case *ssa.Field:
				if use.X == v && use.Field == field {
					out = append(out, use)
				}
			}
		}
	}
	return out
}

func onlyEmpty(v Value) bool {
	for _, a := range v {
		if a.Kind != Str || a.Text != "" {
			return false
		}
	}
	return true
}

// fieldStore returns the parts of a store to a field of a struct.
func fieldStore(instr ssa.Instruction) (*ssa.Store, *ssa.FieldAddr, string) {
	store, ok := instr.(*ssa.Store)
	if !ok {
		return nil, nil, ""
	}
	fa, ok := store.Addr.(*ssa.FieldAddr)
	if !ok {
		return nil, nil, ""
	}
	st := structOf(fa.X.Type())
	if st == nil {
		return nil, nil, ""
	}
	return store, fa, st.Field(fa.Field).Name()
}

// launchWrites finds argument lists handed to the seam: a store to the field Argv of a type marked //sbx:launch.
func launchWrites(r *Result, _ *ssa.Function, instr ssa.Instruction, emit func(Sink), _ func(Effect)) {
	store, fa, _ := fieldStore(instr)
	if store == nil || !isLaunchArgv(r, fa.X.Type(), structOf(fa.X.Type()).Field(fa.Field)) {
		return
	}
	if _, ok := store.Val.Type().Underlying().(*types.Slice); !ok {
		return
	}
	emit(Sink{Kind: Launch, What: typeName(fa.X.Type()) + ".Argv", Vals: []Value{r.Value(store.Val)}})
}

// windowsWords splits a command line roughly as Windows programs do: at blanks outside double quotes.
func windowsWords(s string) []string {
	var words []string
	word, quoted, open := "", false, false
	for _, c := range s {
		switch {
		case c == '"':
			quoted = !quoted
			open = true
		case !quoted && (c == ' ' || c == '\t'):
			if open {
				words = append(words, word)
			}
			word, open = "", false
		default:
			word += string(c)
			open = true
		}
	}
	if open {
		words = append(words, word)
	}
	return words
}
