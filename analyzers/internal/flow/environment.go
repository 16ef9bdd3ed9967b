package flow

import (
	"go/token"
	"go/types"

	"github.com/sbxkit/sbxkit/analyzers/internal/exectable"
	"golang.org/x/tools/go/ssa"
)

// The kinds of sinks about environments.
const (
	// Environ starts a command with an environment. Vals: the environment, the program's path. An environment that is only Nil, or
	// empty, is the caller's own.
	Environ = "environ"

	// LaunchEnviron puts something in a field of a launch. Vals: what.
	LaunchEnviron = "launchenviron"
)

// HostEnviron is the tag of what os.Environ returns, and of the parts of it.
const HostEnviron = "environ"

func hostEnviron() Value { return listOf(spliceOf(manyOf(Value{{Kind: Tag, Text: HostEnviron}}))) }

// FromHost reports whether the value, or a part of it, comes from the environment of the program itself.
func FromHost(v Value) bool {
	found := false
	v.Walk(func(a Alt) bool {
		found = a.Kind == Tag && a.Text == HostEnviron
		return !found
	})
	return found
}

func hostPart() Value { return Value{{Kind: Tag, Text: HostEnviron}} }

// environModel answers for functions that return the environment or parts of what they are given.
func (r *Result) environModel(name string, call *ssa.Call, i int) (Value, bool) {
	switch name {
	case "os.Environ", "syscall.Environ", "golang.org/x/sys/unix.Environ", "(*os/exec.Cmd).Environ":
		return hostEnviron(), true
	case "strings.Cut", "strings.CutPrefix", "strings.CutSuffix", "strings.TrimPrefix", "strings.ToUpper", "strings.Replace", "strings.ReplaceAll":
		if i < 2 && FromHost(r.eval(call.Call.Args[0])) {
			return hostPart(), true
		}
	case "strings.Split", "strings.SplitN", "strings.SplitAfter", "strings.SplitAfterN":
		if FromHost(r.eval(call.Call.Args[0])) {
			return hostEnviron(), true
		}
	case "slices.DeleteFunc", "slices.Compact", "slices.CompactFunc", "slices.SortedFunc":
		return r.eval(call.Call.Args[0]), true
	}
	return nil, false
}

// withoutHost is a value looked up by name: one setting of the environment is not the environment.
func withoutHost(v Value) Value {
	return mapAlts(v, func(a Alt) (Value, bool) {
		if a.Kind == Tag && a.Text == HostEnviron {
			return unknown(), true
		}
		return nil, false
	})
}

// picked reports whether the block runs only for entries of an environment that were asked for by name.
func picked(b *ssa.BasicBlock) bool {
	for ; b != nil && b.Idom() != nil; b = b.Idom() {
		d := b.Idom()
		cond, ok := lastInstr(d).(*ssa.If)
		if !ok || len(d.Succs) != 2 || d.Succs[0] == d.Succs[1] {
			continue
		}
		then := d.Succs[0]
		if then.Dominates(b) && len(then.Preds) == 1 && asksByName(cond.Cond) {
			return true
		}
		otherwise := d.Succs[1]
		if otherwise.Dominates(b) && len(otherwise.Preds) == 1 && asksNotByName(cond.Cond) {
			return true
		}
	}
	return false
}

func asksByName(cond ssa.Value) bool {
	switch c := cond.(type) {
	case *ssa.BinOp:
		return c.Op == token.EQL && (isText(c.X) || isText(c.Y))
	case *ssa.Call:
		fn := c.Call.StaticCallee()
		if fn == nil {
			return false
		}
		switch fullName(fn) {
		case "strings.HasPrefix":
			return isText(c.Call.Args[1])
		case "slices.Contains":
			return true
		}
	case *ssa.Lookup:
		return true // a set of names
	case *ssa.Extract:
		if l, ok := c.Tuple.(*ssa.Lookup); ok {
			return l.CommaOk && c.Index == 1
		}
	case *ssa.UnOp:
		return c.Op == token.NOT && asksNotByName(c.X)
	}
	return false
}

func asksNotByName(cond ssa.Value) bool {
	switch c := cond.(type) {
	case *ssa.BinOp:
		return c.Op == token.NEQ && (isText(c.X) || isText(c.Y))
	case *ssa.UnOp:
		return c.Op == token.NOT && asksByName(c.X)
	}
	return false
}

// isText reports whether v is a string constant that names something.
func isText(v ssa.Value) bool {
	c, ok := v.(*ssa.Const)
	if !ok || c.Value == nil || c.Value.ExactString() == `""` {
		return false
	}
	b, ok := c.Type().Underlying().(*types.Basic)
	return ok && b.Info()&types.IsString != 0
}

// environSources finds commands started and launches filled.
func environSources(r *Result, _ *ssa.Function, instr ssa.Instruction, emit func(Sink), _ func(Effect)) {
	switch instr := instr.(type) {
	case ssa.CallInstruction:
		fn := instr.Common().StaticCallee()
		if fn == nil || len(instr.Common().Args) == 0 {
			return
		}
		name := r.fullName(fn)
		args := instr.Common().Args
		switch {
		case exectable.StartMethods[name]:
			cmd := r.Value(args[0])
			emit(Sink{Kind: Environ, What: name, Vals: []Value{cmd.Field("Env"), orNil(cmd.Field("Path"))}})
		case name == "os.StartProcess":
			emit(Sink{Kind: Environ, What: name, Vals: []Value{r.Value(args[2]).Field("Env"), r.Value(args[0])}})
		case name == "syscall.Exec" || name == "golang.org/x/sys/unix.Exec":
			if env := r.Value(args[2]); !env.Has(Nil) {
				emit(Sink{Kind: Environ, What: name, Vals: []Value{env, r.Value(args[0])}})
			}
		case name == "syscall.ForkExec" || name == "syscall.StartProcess":
			if env := r.Value(args[2]).Field("Env"); len(env) > 0 && !env.Has(Nil) {
				emit(Sink{Kind: Environ, What: name, Vals: []Value{env, r.Value(args[0])}})
			}
		}
	case *ssa.Store:
		if f := r.launchField(instr.Addr); f != "" {
			if v := r.Value(instr.Val); v.Open() || mentionsEnvironment(v) {
				emit(Sink{Kind: LaunchEnviron, What: f, Vals: []Value{v}})
			}
		}
	case *ssa.MapUpdate:
		load, ok := instr.Map.(*ssa.UnOp)
		if !ok || picked(instr.Block()) {
			return
		}
		if f := r.launchField(load.X); f != "" {
			if v := r.Value(instr.Value); v.Open() || mentionsEnvironment(v) {
				emit(Sink{Kind: LaunchEnviron, What: f, Vals: []Value{v}})
			}
		}
	}
}

func mentionsEnvironment(v Value) bool {
	found := false
	v.Walk(func(a Alt) bool {
		found = a.Kind == Tag
		return !found
	})
	return found
}

// launchField returns the name of the field of a launch that the address is in or below, or "". What a launch runs and its credentials
// are no environment.
func (r *Result) launchField(addr ssa.Value) string {
	for {
		switch a := addr.(type) {
		case *ssa.FieldAddr:
			if r.Directives.Type(a.X.Type()).Launch {
				name := structOf(a.X.Type()).Field(a.Field).Name()
				switch name {
				case "Argv", "Script", "Credentials":
					return ""
				}
				switch structOf(a.X.Type()).Field(a.Field).Type().Underlying().(type) {
				case *types.Map, *types.Slice, *types.Struct:
					return typeName(a.X.Type()) + "." + name
				}
				return ""
			}
			addr = a.X
		case *ssa.IndexAddr:
			addr = a.X
		default:
			return ""
		}
	}
}

// WritesEnviron reports whether the function stores the Env of the command that its parameter i is.
func WritesEnviron(fn *ssa.Function, i int) bool {
	return i < len(fn.Params) && writesEnv(fn.Params[i], 0)
}

func writesEnv(v ssa.Value, depth int) bool {
	if depth > 4 || v.Referrers() == nil {
		return false
	}
	for _, ref := range *v.Referrers() {
		switch ref := ref.(type) {
		case *ssa.FieldAddr:
			if ref.X == v && structOf(v.Type()).Field(ref.Field).Name() == "Env" {
				for _, use := range *ref.Referrers() {
					if st, ok := use.(*ssa.Store); ok && st.Addr == ref {
						return true
					}
				}
			}
		case ssa.CallInstruction:
			fn := ref.Common().StaticCallee()
			if fn == nil {
				continue
			}
			for k, a := range ref.Common().Args {
				if a == v && k < len(fn.Params) && writesEnv(fn.Params[k], depth+1) {
					return true
				}
			}
		}
	}
	return false
}

// FieldName returns the name of the field whose address fa is.
func FieldName(fa *ssa.FieldAddr) string { return structOf(fa.X.Type()).Field(fa.Field).Name() }
