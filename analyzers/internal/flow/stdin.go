package flow

import (
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/sbxkit/sbxkit/analyzers/internal/directive"
	"golang.org/x/tools/go/ssa"
)

// The kinds of effects and sinks that are about the agent's stdin.
const (
	// StdinUse is the effect of touching stdin. What names it as a reader of the code knows it: "Run.Stdin", "os.Stdin".
	StdinUse = "stdin"

	// StdinField is the effect of using a stream that is kept in the field or package variable What, which is stdin if some package
	// puts it there.
	StdinField = "stdin-field"

	// StdinStore is a sink: the stream Vals[0] is kept in the field or package variable What.
	StdinStore = "stdin-store"

	// StdinNumber is a sink: descriptor Vals[0] is used.
	StdinNumber = "stdin-number"

	// StdinHook is a sink: the function values Vals[0] become liveness hooks.
	StdinHook = "stdin-hook"
)

// StdinTag is the text of the Tag that is the agent's stdin.
const StdinTag = "stdin"

// IsStdin reports whether v may be the agent's stdin, a collection it is in, or a function that took it along. A struct that holds it in a
// field is not it.
func (v Value) IsStdin() bool {
	for _, a := range v {
		switch a.Kind {
		case Tag:
			if a.Text == StdinTag {
				return true
			}
		case List, Map, Splice, Many, Func:
			if slices.ContainsFunc(a.Elems, Value.IsStdin) || slices.ContainsFunc(a.Base, Value.IsStdin) {
				return true
			}
		}
	}
	return false
}

// stdinEffects finds uses of stdin, and of streams that may turn out to be it.
func stdinEffects(r *Result, fn *ssa.Function, instr ssa.Instruction, emit func(Sink), effect func(Effect)) {
	use := func(what string) { effect(Effect{Kind: StdinUse, What: what}) }
	switch instr := instr.(type) {
	case *ssa.UnOp:
		if instr.Op == token.MUL {
			r.streamLoad(instr, instr.X, use, effect)
		}
	case *ssa.Field:
		r.streamField(instr, instr.X, instr.Field, use, effect)
	case *ssa.Store:
		r.streamStore(instr, use, emit)
	}
	for _, v := range r.hooksMade(instr) {
		emit(Sink{Kind: StdinHook, What: "liveness hook", Vals: []Value{r.Value(v)}})
	}
	if call, ok := instr.(ssa.CallInstruction); ok {
		r.stdinCall(call.Common(), use, emit)
	}
}

func (r *Result) stdinCall(call *ssa.CallCommon, use func(string), emit func(Sink)) {
	var obj *types.Func
	if call.IsInvoke() {
		obj = call.Method
	} else if fn := call.StaticCallee(); fn != nil {
		obj, _ = fn.Object().(*types.Func)
	}
	if obj == nil {
		// A function value: only those of the standard library have no body to look into.
		if _, ok := call.Value.(*ssa.Builtin); !ok && !call.IsInvoke() {
			for _, c := range r.funcsIn(r.Value(call.Value)) {
				if c.Obj != nil && (stdinMethod(c.Obj) || readsStdin[c.Name]) {
					use(stdinName(c.Obj))
				}
			}
		}
		return
	}
	switch {
	case stdinMethod(obj):
		if len(call.Args) > 0 && typeName(call.Args[0].Type()) == "os/exec.Cmd" && freshCmd(call.Args[0], 0) {
			return
		}
		use(stdinName(obj))
	case readsStdin[obj.FullName()]:
		use(stdinName(obj))
	case opensFile[obj.FullName()] && len(call.Args) > 0:
		for _, a := range r.Value(call.Args[0]) {
			if a.Kind == Str && stdinPath(a.Text) {
				use(a.Text)
			}
		}
	case obj.Pkg() != nil && numbered[obj.Pkg().Path()]:
		r.numberedCall(obj, call, emit)
	}
}

// numberedCall finds descriptors handed over by number. The parameters that are descriptors say so by their names.
func (r *Result) numberedCall(obj *types.Func, call *ssa.CallCommon, emit func(Sink)) {
	what := obj.Pkg().Name() + "." + obj.Name()
	sig := obj.Signature()
	if sig.Recv() != nil {
		return
	}
	if strings.HasSuffix(strings.TrimSuffix(obj.Name(), "6"), "Syscall") || obj.Name() == "SyscallNoError" {
		if len(call.Args) > 1 && rawDescriptorCall(obj.Pkg(), call.Args[0]) {
			emit(Sink{Kind: StdinNumber, What: what, Vals: []Value{r.Value(call.Args[1])}})
		}
		return
	}
	for i := range sig.Params().Len() {
		p := sig.Params().At(i)
		b, ok := p.Type().Underlying().(*types.Basic)
		if !ok || b.Info()&types.IsInteger == 0 || i >= len(call.Args) || !strings.Contains(strings.ToLower(p.Name()), "fd") {
			continue
		}
		emit(Sink{Kind: StdinNumber, What: what, Vals: []Value{r.Value(call.Args[i])}})
	}
}

// rawDescriptorCall reports whether the system call number is one whose first argument is a descriptor.
func rawDescriptorCall(pkg *types.Package, number ssa.Value) bool {
	c, ok := number.(*ssa.Const)
	if !ok || c.Value == nil {
		return false
	}
	for _, name := range []string{"READ", "WRITE", "PREAD64", "PWRITE64", "READV", "WRITEV", "CLOSE", "DUP", "DUP2", "DUP3", "SENDFILE", "SPLICE", "TEE", "FCNTL", "IOCTL"} {
		if k, ok := pkg.Scope().Lookup("SYS_" + name).(*types.Const); ok && k.Val().ExactString() == c.Value.ExactString() {
			return true
		}
	}
	return false
}

// numberedStdin are the effects of the uses in which the descriptor is number 0.
func numberedStdin(uses []*Use) []Effect {
	var out []Effect
	for _, u := range uses {
		if u.Kind != StdinNumber || u.Literal {
			continue
		}
		zero := false
		other := slices.ContainsFunc(u.Vals[0], func(a Alt) bool {
			zero = zero || a.Kind == Int && a.N == 0
			return a.Kind != Param && (a.Kind != Int || a.N != 0)
		})
		if zero && !other {
			out = append(out, Effect{Kind: StdinUse, What: "descriptor 0 (" + u.What + ")", Via: u.Via, at: u.Pos})
		}
	}
	return out
}

// numbered are the packages whose functions take descriptors as numbers.
var numbered = map[string]bool{
	"syscall": true, "golang.org/x/sys/unix": true, "os": true, "golang.org/x/term": true, "golang.org/x/sys/windows": true,
}

// readsStdin are functions that read os.Stdin without saying so.
var readsStdin = map[string]bool{"fmt.Scan": true, "fmt.Scanf": true, "fmt.Scanln": true}

// opensFile are the functions that open a file by its name, the first argument.
var opensFile = map[string]bool{
	"os.Open": true, "os.OpenFile": true, "os.Create": true, "os.ReadFile": true, "os.WriteFile": true,
	"syscall.Open": true, "golang.org/x/sys/unix.Open": true,
}

func stdinPath(name string) bool {
	return name == "/dev/stdin" || name == "/dev/fd/0" || name == "/proc/self/fd/0" || name == "/proc/thread-self/fd/0"
}

// stdinMethod reports whether fn gives or closes the stdin of something that runs: Stdin and StdinPipe that return a writer, CloseStdin,
// and CloseWrite of what has a Stdin or is an engine's attached stream.
func stdinMethod(fn *types.Func) bool {
	sig := fn.Signature()
	if sig.Recv() == nil {
		return false
	}
	switch fn.Name() {
	case "Stdin", "StdinPipe":
		return sig.Params().Len() == 0 && sig.Results().Len() > 0 && hasMethod(sig.Results().At(0).Type(), "Write")
	case "CloseStdin":
		return sig.Params().Len() == 0
	case "CloseWrite":
		name := typeName(sig.Recv().Type())
		return sig.Params().Len() == 0 && (strings.HasSuffix(name, ".HijackedResponse") || hasMethod(sig.Recv().Type(), "Stdin"))
	}
	return false
}

func hasMethod(t types.Type, name string) bool {
	obj, _, _ := types.LookupFieldOrMethod(t, true, nil, name)
	_, ok := obj.(*types.Func)
	return ok
}

// stdinName is what a message calls a function that touches stdin: "Run.Stdin", "Cmd.StdinPipe", "fmt.Scanln".
func stdinName(fn *types.Func) string {
	if recv := fn.Signature().Recv(); recv != nil {
		name := typeName(recv.Type())
		if i := strings.LastIndexByte(name, '.'); i >= 0 {
			name = name[i+1:]
		}
		return name + "." + fn.Name()
	}
	return fn.Pkg().Name() + "." + fn.Name()
}

// freshCmd reports whether the exec.Cmd is one that the function has made for itself: its stdin is not the agent's.
func freshCmd(v ssa.Value, depth int) bool {
	if depth > maxDepth {
		return false
	}
	switch v := v.(type) {
	case *ssa.Call:
		fn := v.Call.StaticCallee()
		return fn != nil && (fullName(fn) == "os/exec.Command" || fullName(fn) == "os/exec.CommandContext")
	case *ssa.Phi:
		for _, e := range v.Edges {
			if !freshCmd(e, depth+1) {
				return false
			}
		}
		return true
	case *ssa.Alloc:
		return typeName(v.Type()) == "os/exec.Cmd"
	case *ssa.UnOp:
		cell, ok := v.X.(*ssa.Alloc)
		if !ok || v.Op != token.MUL {
			return false
		}
		for _, ref := range *cell.Referrers() {
			if st, ok := ref.(*ssa.Store); ok && !freshCmd(st.Val, depth+1) {
				return false
			}
		}
		return true
	}
	return false
}

// streamLoad looks at a load: of os.Stdin, of a field, a package variable or a variable taken along.
func (r *Result) streamLoad(load *ssa.UnOp, addr ssa.Value, use func(string), effect func(Effect)) {
	switch addr := addr.(type) {
	case *ssa.FieldAddr:
		r.streamField(load, addr.X, addr.Field, use, effect)
	case *ssa.Global:
		if addr.Pkg.Pkg.Path() == "os" && addr.Name() == "Stdin" {
			if !onlyCompared(load) {
				use("os.Stdin")
			}
			return
		}
		if !isStream(load.Type()) || onlyCompared(load) {
			return
		}
		if r.Value(load).IsStdin() {
			use(addr.Name())
		} else if r.own() && !directive.StandardPath(addr.Pkg.Pkg.Path()) {
			effect(Effect{Kind: StdinField, What: addr.Pkg.Pkg.Path() + "." + addr.Name()})
		}
	case *ssa.FreeVar:
		if isStream(load.Type()) && !onlyCompared(load) && r.Value(load).IsStdin() {
			use(addr.Name())
		}
	}
}

// streamField looks at the load of a field.
func (r *Result) streamField(load, x ssa.Value, i int, use func(string), effect func(Effect)) {
	if onlyCompared(load) {
		return
	}
	st := structOf(x.Type())
	if st == nil {
		return
	}
	f := st.Field(i)
	owner := typeName(x.Type())
	if owner == "os/exec.Cmd" && f.Name() == "Stdin" {
		if !freshCmd(x, 0) {
			use("Cmd.Stdin")
		}
		return
	}
	if !isStream(f.Type()) {
		return
	}
	name := owner[strings.LastIndexByte(owner, '.')+1:] + "." + f.Name()
	switch {
	case hasMethod(f.Type(), "Write") && strings.Contains(strings.ToLower(f.Name()), "stdin"):
		use(name)
	case r.FieldStores(f).IsStdin():
		use(name)
	case owner != "" && r.own() && !directive.StandardPath(f.Pkg().Path()):
		effect(Effect{Kind: StdinField, What: owner + "." + f.Name()})
	}
}

// streamStore looks at a store into a field or a package variable.
func (r *Result) streamStore(st *ssa.Store, use func(string), emit func(Sink)) {
	what := ""
	switch addr := st.Addr.(type) {
	case *ssa.FieldAddr:
		owner, s := typeName(addr.X.Type()), structOf(addr.X.Type())
		if s == nil || owner == "" {
			return
		}
		f := s.Field(addr.Field)
		if owner == "os/exec.Cmd" && f.Name() == "Stdin" {
			if !freshCmd(addr.X, 0) {
				use("Cmd.Stdin")
			}
			return
		}
		what = owner + "." + f.Name()
	case *ssa.Global:
		what = addr.Pkg.Pkg.Path() + "." + addr.Name()
	default:
		return
	}
	if !r.own() || !holdsStream(st.Val.Type()) {
		return
	}
	v := streamsIn(r.Value(st.Val))
	if v.IsStdin() || v.Open() {
		emit(Sink{Kind: StdinStore, What: what, Vals: []Value{v}})
	}
}

// own reports whether the package is of a main module.
func (r *Result) own() bool { return r.pass.Module == nil || r.pass.Module.Version == "" }

// onlyCompared reports whether nothing is done with v but to compare it.
func onlyCompared(v ssa.Value) bool {
	for _, ref := range *v.Referrers() {
		switch ref.(type) {
		case *ssa.BinOp, *ssa.DebugRef:
		default:
			return false
		}
	}
	return len(*v.Referrers()) > 0
}

// isStream reports whether values of type t can be a stream or wrap one: interfaces that read, write or close, types of the standard library
// that wrap a stream, and collections of them.
func isStream(t types.Type) bool { return isStreamAt(t, 0) }

func isStreamAt(t types.Type, depth int) bool {
	if depth > maxDepth {
		return false // a type that is made of itself
	}
	switch u := types.Unalias(t).Underlying().(type) {
	case *types.Interface:
		for _, m := range []string{"Write", "Read", "Close", "WriteString"} {
			if hasMethod(t, m) {
				return true
			}
		}
		return false
	case *types.Slice:
		return isStreamAt(u.Elem(), depth+1)
	case *types.Array:
		return isStreamAt(u.Elem(), depth+1)
	case *types.Map:
		return isStreamAt(u.Elem(), depth+1)
	case *types.Chan:
		return isStreamAt(u.Elem(), depth+1)
	}
	name := typeName(t)
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		switch name[:i] {
		case "os", "bufio", "io", "log", "log/slog", "text/tabwriter", "net/textproto", "encoding/json", "encoding/gob", "encoding/csv", "encoding/xml", "compress/gzip":
			return true
		}
	}
	return false
}

// maxStreamPath is how far from a parameter a stream may be found that a function keeps: w, o.Out, o.streams.Out.
const maxStreamPath = 3

// streamsIn keeps of a value that is stored what is the agent's stdin, or may be for some caller.
func streamsIn(v Value) Value {
	var out Value
	for _, a := range v {
		if a.Kind == Param && len(a.Path) <= maxStreamPath || a.Kind != Param && (Value{a}).IsStdin() {
			out = join(out, Value{a})
			continue
		}
		for _, e := range a.Elems {
			if (Value{a}).Open() && (a.Kind == List || a.Kind == Map || a.Kind == Splice || a.Kind == Many || a.Kind == Func) {
				out = join(out, streamsIn(e))
			}
		}
	}
	return out
}

// holdsStream reports whether values of type t can be a stream or have one behind them: besides the types of isStream, an interface that a stream of
// the standard library satisfies. What else may be behind an interface holds a stream in a field of its own, if at all.
func holdsStream(t types.Type) bool {
	if isStream(t) {
		return true
	}
	iface, ok := t.Underlying().(*types.Interface)
	if !ok {
		return false
	}
	for m := range iface.Methods() {
		if !streamMethods[m.Name()] {
			return false
		}
	}
	return true
}

// streamMethods are the names of the methods of os.File, of what os/exec gives for a pipe, and of bufio.Writer.
var streamMethods = map[string]bool{}

func init() {
	for _, name := range strings.Fields(`Available AvailableBuffer Buffered Chdir Chmod Chown Close Fd Flush Name Read ReadAt ReadDir ReadFrom
		Readdir Readdirnames Reset Seek SetDeadline SetReadDeadline SetWriteDeadline Size Stat Sync SyscallConn Truncate Write WriteAt WriteByte
		WriteRune WriteString WriteTo`) {
		streamMethods[name] = true
	}
}

// stdinResult is the value of a call that gives stdin, or that wraps a stream and is not looked into: then it is the stream.
func (r *Result) stdinResult(call *ssa.Call, i int, callees []Callee) (Value, bool) {
	common := &call.Call
	if common.IsInvoke() {
		if stdinMethod(common.Method) {
			if i == 0 {
				return Value{{Kind: Tag, Text: StdinTag}}, true
			}
			return unknown(), true
		}
	}
	for _, c := range callees {
		if c.Obj != nil && stdinMethod(c.Obj) {
			if i == 0 {
				return Value{{Kind: Tag, Text: StdinTag}}, true
			}
			return unknown(), true
		}
	}
	if common.IsInvoke() || i != 0 {
		return nil, false
	}
	fn := common.StaticCallee()
	if fn == nil || len(fn.Blocks) > 0 || fn.Pkg == nil || fn.Signature.Results().Len() == 0 || !isStream(fn.Signature.Results().At(0).Type()) {
		return nil, false
	}
	if len(callees) == 1 && callees[0].Obj != nil && r.imported(callees[0].Obj) != nil {
		return nil, false
	}
	out := unknown()
	for _, a := range common.Args {
		if !isStream(a.Type()) {
			continue
		}
		for _, alt := range r.eval(a) {
			if alt.Kind == Param || (Value{alt}).IsStdin() {
				out = join(out, Value{alt})
			}
		}
		if l := r.eval(a).Element(); l.IsStdin() {
			out = join(out, Value{{Kind: Tag, Text: StdinTag}})
		}
	}
	return out, true
}

// hooksMade returns the function values that the instruction makes liveness hooks: by a conversion to a type marked //sbx:liveness, or by
// storing them in a field or variable so marked.
func (r *Result) hooksMade(instr ssa.Instruction) []ssa.Value {
	switch instr := instr.(type) {
	case *ssa.ChangeType:
		if _, ok := instr.Type().Underlying().(*types.Signature); ok && r.Directives.Type(instr.Type()).Liveness {
			return []ssa.Value{instr.X}
		}
	case *ssa.Store:
		if _, ok := instr.Val.Type().Underlying().(*types.Signature); !ok {
			return nil
		}
		switch addr := instr.Addr.(type) {
		case *ssa.FieldAddr:
			if st := structOf(addr.X.Type()); st != nil {
				f := st.Field(addr.Field).Origin()
				if r.Directives.Object(f).Liveness || f.Name() == "Liveness" && r.Directives.Type(addr.X.Type()).Launch {
					return []ssa.Value{instr.Val}
				}
			}
		case *ssa.Global:
			if obj := addr.Object(); obj != nil && r.Directives.Object(obj).Liveness {
				return []ssa.Value{instr.Val}
			}
		}
	}
	return nil
}

// HooksMade is hooksMade for a rule.
func (r *Result) HooksMade(instr ssa.Instruction) []ssa.Value { return r.hooksMade(instr) }
