package flow

import (
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"github.com/sbxkit/sbxkit/analyzers/internal/exectable"
	"golang.org/x/tools/go/ssa"
)

// The kinds of sinks about processes.
const (
	// Kill signals a process or a group. Vals: the process id (see PidStruct), the signal.
	Kill = "kill"

	// Reap waits for a process, after which its id may belong to another. Vals: the process id.
	Reap = "reap"
)

// IdentityChecked is the effect of a function that looks whether a process is the one it should be: by its start time, or by a
// descriptor of it.
const IdentityChecked = "identity"

// The names of structs that stand for processes and their ids.
const (
	ProcessStruct = "os.Process" // of a child: Attr; of another: Found
	PidStruct     = "pid"        // the id of a process, with the same fields
	GroupStruct   = "pgid"       // Of: the id of a process whose group it is
	NegatedStruct = "neg"        // Of: the id with its sign changed

	// Attr holds the syscall.SysProcAttr a child was started with.
	Attr = "attr"
	// Found holds the id a process was looked up by.
	Found = "found"
	// Of holds the value the struct was made from.
	Of = "of"
)

// The tags of process ids.
const (
	PidSelf     = "pid:self"
	PidParent   = "pid:parent"
	PidGroup    = "pid:group"    // the caller's own group
	PidTerminal = "pid:terminal" // the foreground group of a terminal
	Read        = "read"         // a number or record parsed from text
)

const sysProcAttr = "syscall.SysProcAttr"

var killers = map[string]bool{
	"syscall.Kill":                true,
	"golang.org/x/sys/unix.Kill":  true,
	"(*os.Process).Signal":        true,
	"(*os.Process).Kill":          true,
	"(*os.Process).Wait":          true,
	"(*os/exec.Cmd).Wait":         true,
	"(*os/exec.Cmd).Run":          true,
	"(*os/exec.Cmd).Output":       true,
	"syscall.Wait4":               true,
	"golang.org/x/sys/unix.Wait4": true,

	"(*os/exec.Cmd).CombinedOutput": true,
}

// processCalls finds what signals or reaps a process.
func processCalls(r *Result, _ *ssa.Function, instr ssa.Instruction, emit func(Sink), effect func(Effect)) {
	call, ok := instr.(ssa.CallInstruction)
	if !ok {
		return
	}
	common := call.Common()
	if common.IsInvoke() {
		if identityName.MatchString(common.Method.Name()) {
			effect(Effect{Kind: IdentityChecked, What: common.Method.Name()})
		}
		return
	}
	if fn := common.StaticCallee(); fn != nil {
		name := r.fullName(fn)
		if killers[name] && !mayStop(fn, call) {
			emit(r.processSink(name, r.Args(common)))
		}
		if checksIdentity(name, fn.Name(), common) {
			effect(Effect{Kind: IdentityChecked, What: name})
		}
		return
	}
	if _, ok := common.Value.(*ssa.Builtin); ok {
		return
	}
	for _, c := range r.funcsIn(r.Value(common.Value)) {
		if killers[c.Name] {
			emit(r.processSink(c.Name, r.Args(common)))
		}
	}
}

// mayStop reports whether the call is a wait that may return while the child lives: it does not wait, or it waits for a child that is
// traced or stopped as well.
func mayStop(fn *ssa.Function, instr ssa.CallInstruction) bool {
	if fn.Name() != "Wait4" {
		return false
	}
	if n, ok := intOf(instr.Common().Args[2]); !ok || n != 0 {
		return true
	}
	for _, b := range instr.Parent().Blocks {
		for _, other := range b.Instrs {
			call, ok := other.(ssa.CallInstruction)
			if !ok || call.Common().StaticCallee() == nil {
				continue
			}
			if n := call.Common().StaticCallee().Name(); n == "Stopped" || n == "StopSignal" {
				return true
			}
		}
	}
	return false
}

// processSink is the sink that calling the function with args is. A method value has its receiver bound.
func (r *Result) processSink(name string, args []Value) Sink {
	at := func(i int) Value {
		if i < len(args) {
			return args[i]
		}
		return unknown()
	}
	switch name {
	case "syscall.Kill", "golang.org/x/sys/unix.Kill":
		return Sink{Kind: Kill, What: name, Vals: []Value{at(0), at(1)}}
	case "(*os.Process).Signal":
		return Sink{Kind: Kill, What: name, Vals: []Value{pidOf(at(0)), at(1)}}
	case "(*os.Process).Kill":
		return Sink{Kind: Kill, What: name, Vals: []Value{pidOf(at(0)), {{Kind: Int, N: 9}}}}
	case "(*os.Process).Wait":
		return Sink{Kind: Reap, What: name, Vals: []Value{pidOf(at(0))}}
	case "syscall.Wait4", "golang.org/x/sys/unix.Wait4":
		return Sink{Kind: Reap, What: name, Vals: []Value{at(0)}}
	}
	return Sink{Kind: Reap, What: name, Vals: []Value{pidOf(processOf(at(0)))}}
}

// identityName matches what functions are called that compare or read what tells a process from a later one with its id.
var identityName = regexp.MustCompile(`(?i)start_?time|create_?time|started_?at|birth|pidfd|same_?(process|proc)|still_?(the_?)?same|boot_?id`)

// checksIdentity reports whether a call of the function tells a process from a later one with the same id: it opens a descriptor
// of the process, reads its record in /proc, or says so by its name.
func checksIdentity(full, name string, call *ssa.CallCommon) bool {
	if identityName.MatchString(name) {
		return true
	}
	switch full {
	case "os.ReadFile", "os.Open", "path/filepath.Join", "fmt.Sprintf":
	default:
		return false
	}
	for _, a := range call.Args {
		if procStat(a, 0) {
			return true
		}
	}
	return false
}

// procStat reports whether a constant in the expression ends in the file with a process's start time.
func procStat(v ssa.Value, depth int) bool {
	if depth > 4 {
		return false
	}
	switch v := v.(type) {
	case *ssa.Const:
		if v.Value == nil {
			return false
		}
		text := strings.Trim(v.Value.String(), `"`)
		return text == "stat" || strings.HasSuffix(text, "/stat")
	case *ssa.BinOp:
		return procStat(v.X, depth+1) || procStat(v.Y, depth+1)
	case *ssa.Slice:
		if al, ok := v.X.(*ssa.Alloc); ok {
			for _, ref := range *al.Referrers() {
				if ia, ok := ref.(*ssa.IndexAddr); ok {
					for _, use := range *ia.Referrers() {
						if st, ok := use.(*ssa.Store); ok && procStat(st.Val, depth+1) {
							return true
						}
					}
				}
			}
		}
	case *ssa.MakeInterface:
		return procStat(v.X, depth+1)
	case *ssa.Convert:
		return procStat(v.X, depth+1)
	}
	return false
}

// negated is the number with its sign changed.
func negated(v Value) Value {
	var out []Value
	for _, a := range v {
		switch {
		case a.Kind == Int:
			out = append(out, Value{{Kind: Int, N: -a.N}})
		case a.Kind == Struct && a.Text == NegatedStruct:
			out = append(out, a.Elems[0])
		case a.Kind == Struct || a.Kind == Tag || a.Kind == Param:
			out = append(out, Value{{Kind: Struct, Text: NegatedStruct, Names: []string{Of}, Elems: []Value{{a}}}})
		default:
			out = append(out, unknown())
		}
	}
	return join(out...)
}

// arithmetic is what a subtraction from zero or a multiplication by minus one makes of a number.
func (r *Result) arithmetic(op *ssa.BinOp) Value {
	x, y := r.eval(op.X), r.eval(op.Y)
	is := func(v Value, n int64) bool { return len(v) == 1 && v[0].Kind == Int && v[0].N == n }
	switch {
	case op.Op == token.SUB && is(x, 0):
		return negated(y)
	case op.Op == token.MUL && is(x, -1):
		return negated(y)
	case op.Op == token.MUL && is(y, -1):
		return negated(x)
	}
	return unknown()
}

// processOf is the os.Process of an exec.Cmd: what it is started with is all that counts.
func processOf(cmd Value) Value {
	return Value{{Kind: Struct, Text: ProcessStruct, Names: []string{Attr}, Elems: []Value{orNil(cmd.Field("SysProcAttr"))}}}
}

// pidOf is the id of an os.Process.
func pidOf(process Value) Value {
	var out []Value
	for _, a := range process {
		switch {
		case a.Kind == Struct && a.Text == ProcessStruct && len(a.Names) > 0:
			if i := slices.Index(a.Names, Found); i >= 0 {
				out = append(out, Value{{Kind: Struct, Text: PidStruct, Names: []string{Found}, Elems: []Value{a.Elems[i]}}})
			} else {
				out = append(out, Value{{Kind: Struct, Text: PidStruct, Names: a.Names, Elems: a.Elems}})
			}
		case a.Kind == Param:
			out = append(out, Value{{Kind: Struct, Text: PidStruct, Names: []string{Of}, Elems: []Value{{a}}}})
		default:
			out = append(out, unknown())
		}
	}
	return join(out...)
}

// isCommand reports whether the type is a pointer to an exec.Cmd.
func isCommand(t types.Type) bool {
	p, ok := types.Unalias(t).(*types.Pointer)
	if !ok {
		return false
	}
	n, ok := types.Unalias(p.Elem()).(*types.Named)
	return ok && typeName(n) == exectable.Cmd
}

func orNil(v Value) Value {
	if len(v) == 0 {
		return Value{{Kind: Nil}}
	}
	return v
}

// processField answers for the fields that lead from a command to its process and on to its id.
func (r *Result) processField(x ssa.Value, f *types.Var) (Value, bool) {
	switch t := typeName(x.Type()); {
	case t == ProcessStruct && f.Name() == "Pid":
		return pidOf(r.eval(x)), true
	case t == exectable.Cmd && f.Name() == "Process":
		return processOf(r.eval(x)), true
	}
	return nil, false
}

// commandStorage joins to the value of a command what is stored in it out of sight of its variable: through other loads of the variable
// or field that holds it, through the pointer to its attributes, and by functions it is handed to.
func (r *Result) commandStorage(v ssa.Value, val Value) Value {
	for _, a := range r.aliases(v, 0) {
		if a != v {
			val = r.storage(a, val)
		}
	}
	return val
}

// attributeStorage is what one use of a command adds to the attributes it is started with.
func (r *Result) attributeStorage(v ssa.Value, ref ssa.Instruction, val Value) Value {
	set := false
	switch ref := ref.(type) {
	case *ssa.FieldAddr:
		set = ref.X == v && structOf(v.Type()).Field(ref.Field).Name() == "SysProcAttr" && r.writesAttributes(ref, 1)
	case ssa.CallInstruction:
		common := ref.Common()
		for i, a := range common.Args {
			set = set || a == v && r.setsAttributes(common, i)
		}
	}
	if !set {
		return val
	}
	return setField(val, "SysProcAttr", unknown())
}

// fieldCommand joins to the command that a field holds what the package stores in it through the field.
func (r *Result) fieldCommand(f *types.Var, val Value) Value {
	for _, load := range r.commands[f] {
		val = r.storage(load, val)
	}
	return val
}

// setsAttributes reports whether the function called sets what the command that is argument i is started with.
func (r *Result) setsAttributes(call *ssa.CallCommon, i int) bool {
	fn := call.StaticCallee()
	if fn == nil {
		return !call.IsInvoke() // a function value: whatever it does
	}
	if len(fn.Blocks) > 0 {
		return i < len(fn.Params) && r.writesAttributes(fn.Params[i], 0)
	}
	obj, ok := fn.Object().(*types.Func)
	if !ok {
		return false
	}
	if sum := r.imported(obj); sum != nil {
		for _, s := range sum.Sinks {
			if s.Kind == attributes && len(s.Vals) > 0 && slices.ContainsFunc(s.Vals[0], func(a Alt) bool { return a.Kind == Param && a.N == int64(i) }) {
				return true
			}
		}
	}
	return false
}

// writesAttributes reports whether the function that has the parameter stores what the command is started with.
func (r *Result) writesAttributes(v ssa.Value, depth int) bool {
	if depth > 5 || v.Referrers() == nil {
		return false
	}
	for _, ref := range *v.Referrers() {
		switch ref := ref.(type) {
		case *ssa.FieldAddr:
			name := structOf(ref.X.Type()).Field(ref.Field).Name()
			if ref.X == v && name == "SysProcAttr" && r.written(ref, 0) || attributeNames[name] && r.written(ref, 0) {
				return true
			}
			if name == "SysProcAttr" && r.writesAttributes(ref, depth+1) {
				return true
			}
		case *ssa.UnOp:
			if ref.X == v && r.writesAttributes(ref, depth+1) {
				return true
			}
		case ssa.CallInstruction:
			common := ref.Common()
			for i, a := range common.Args {
				if fn := common.StaticCallee(); a == v && fn != nil && len(fn.Blocks) > 0 && i < len(fn.Params) && r.writesAttributes(fn.Params[i], depth+1) {
					return true
				}
			}
		}
	}
	return false
}

var attributeNames = map[string]bool{"Setpgid": true, "Setsid": true, "Foreground": true}

// attributes is the sink that sets the SysProcAttr of a command. Vals: the command.
const attributes = "attributes"

// attributeWrites tells importers which of their commands a function starts in a session or group of its own.
func attributeWrites(r *Result, _ *ssa.Function, instr ssa.Instruction, emit func(Sink), _ func(Effect)) {
	store, fa, name := fieldStore(instr)
	if store == nil {
		return
	}
	switch {
	case name == "SysProcAttr" && typeName(fa.X.Type()) == exectable.Cmd:
		emit(Sink{Kind: attributes, What: "os/exec.Cmd.SysProcAttr", Vals: []Value{onlyParams(r.Value(fa.X))}})
	case attributeNames[name] && typeName(fa.X.Type()) == sysProcAttr:
		var out Value
		for _, a := range r.Value(fa.X) {
			if n := len(a.Path); a.Kind == Param && n > 0 && a.Path[n-1] == ".SysProcAttr" {
				a.Path = a.Path[:n-1]
				out = append(out, a)
			}
		}
		emit(Sink{Kind: attributes, What: sysProcAttr + "." + name, Vals: []Value{out}})
	}
}

func onlyParams(v Value) Value {
	var out Value
	for _, a := range v {
		switch {
		case a.Kind == Param:
			out = append(out, a)
		case a.Kind == Struct && len(a.Base) > 0:
			out = append(out, onlyParams(a.Base[0])...) // with what the function stores in it
		}
	}
	return out
}

// pidModel answers for the functions that make process ids.
func (r *Result) pidModel(name string, call *ssa.Call, i int) (Value, bool) {
	args := call.Call.Args
	tag := func(t string) (Value, bool) { return Value{{Kind: Tag, Text: t}}, true }
	name = strings.Replace(name, "golang.org/x/sys/unix.", "syscall.", 1)
	switch name {
	case "os.Getpid", "syscall.Getpid":
		return tag(PidSelf)
	case "os.Getppid", "syscall.Getppid":
		return tag(PidParent)
	case "syscall.Getpgrp":
		return tag(PidGroup)
	}
	if i != 0 {
		return nil, false
	}
	switch name {
	case "syscall.Getpgid", "syscall.Getsid":
		return Value{{Kind: Struct, Text: GroupStruct, Names: []string{Of}, Elems: []Value{r.eval(args[0])}}}, true
	case "syscall.IoctlGetInt", "syscall.IoctlGetUint32", "syscall.Tcgetpgrp":
		return tag(PidTerminal)
	case "os.FindProcess":
		return Value{{Kind: Struct, Text: ProcessStruct, Names: []string{Found}, Elems: []Value{r.eval(args[0])}}}, true
	case "os.StartProcess":
		return Value{{Kind: Struct, Text: ProcessStruct, Names: []string{Attr}, Elems: []Value{orNil(r.eval(args[2]).Field("Sys"))}}}, true
	case "syscall.ForkExec", "syscall.StartProcess":
		return Value{{Kind: Struct, Text: PidStruct, Names: []string{Attr}, Elems: []Value{orNil(r.eval(args[2]).Field("Sys"))}}}, true
	case "strconv.Atoi", "strconv.ParseInt", "strconv.ParseUint":
		return tag(Read)
	}
	return nil, false
}

// decoders fill what a pointer among their arguments points to from text.
var decoders = map[string]bool{
	"encoding/json.Unmarshal": true, "(*encoding/json.Decoder).Decode": true, "(*encoding/gob.Decoder).Decode": true,
	"(*encoding/xml.Decoder).Decode": true, "encoding/xml.Unmarshal": true, "encoding/binary.Read": true,
	"fmt.Sscan": true, "fmt.Sscanf": true, "fmt.Sscanln": true, "fmt.Fscan": true, "fmt.Fscanf": true, "fmt.Fscanln": true,
	"gopkg.in/yaml.v3.Unmarshal": true, "gopkg.in/yaml.v2.Unmarshal": true, "sigs.k8s.io/yaml.Unmarshal": true,
	"github.com/goccy/go-yaml.Unmarshal": true, "github.com/BurntSushi/toml.Decode": true, "go.yaml.in/yaml/v3.Unmarshal": true,
}

// decoded reports whether a decoder fills the variable.
func (r *Result) decoded(al *ssa.Alloc) bool {
	for _, ref := range *al.Referrers() {
		mk, ok := ref.(*ssa.MakeInterface)
		if !ok {
			continue
		}
		for _, use := range *mk.Referrers() {
			if call, ok := use.(ssa.CallInstruction); ok && decodes(call) {
				return true
			}
			st, ok := use.(*ssa.Store)
			if !ok {
				continue
			}
			ia, ok := st.Addr.(*ssa.IndexAddr)
			if !ok {
				continue
			}
			list, ok := ia.X.(*ssa.Alloc)
			if !ok {
				continue
			}
			for _, lu := range *list.Referrers() {
				sl, ok := lu.(*ssa.Slice)
				if !ok {
					continue
				}
				for _, su := range *sl.Referrers() {
					if call, ok := su.(ssa.CallInstruction); ok && decodes(call) {
						return true
					}
				}
			}
		}
	}
	return false
}

func decodes(call ssa.CallInstruction) bool {
	fn := call.Common().StaticCallee()
	return fn != nil && decoders[fullName(fn)]
}

// namesProcess reports whether the value says whose process an integer or a process is, so that an importer has use for it.
func namesProcess(v Value) bool {
	found := false
	v.Walk(func(a Alt) bool {
		switch a.Kind {
		case Tag:
			found = a.Text == Read || strings.HasPrefix(a.Text, "pid:")
		case Struct:
			found = a.Text == PidStruct || a.Text == GroupStruct || a.Text == NegatedStruct || a.Text == ProcessStruct && len(a.Names) > 0
		}
		return !found
	})
	return found
}

// groupNumber reports whether the value is 0 or -1, which stand for groups of processes.
func groupNumber(v Value) bool {
	return len(v) == 1 && v[0].Kind == Int && (v[0].N == 0 || v[0].N == -1)
}

// identifies reports whether values of type t are process ids or processes, as far as a type tells.
func identifies(t types.Type) bool {
	if _, ok := types.Unalias(t).(*types.TypeParam); ok {
		return true
	}
	if b, ok := t.Underlying().(*types.Basic); ok {
		return b.Info()&types.IsInteger != 0
	}
	return typeName(t) == ProcessStruct
}
