package flow

import (
	"strings"

	"github.com/sbxkit/sbxkit/analyzers/internal/exectable"
	"golang.org/x/tools/go/ssa"
)

// passThrough are functions whose result, for our purposes, is the argument with that index: the base name of the program, or the
// words of the command, survive them.
var passThrough = map[string]int{
	"os/exec.LookPath":                  0,
	"golang.org/x/sys/execabs.LookPath": 0,
	"github.com/cli/safeexec.LookPath":  0,

	"path/filepath.Clean":        0,
	"path/filepath.Abs":          0,
	"path/filepath.EvalSymlinks": 0,
	"path/filepath.FromSlash":    0,
	"path/filepath.ToSlash":      0,
	"path.Clean":                 0,
	"strings.TrimSpace":          0,
	"strings.ToLower":            0,
	"strings.Clone":              0,
	"strings.TrimSuffix":         0,
	"os.Expand":                  0,
	"os.ExpandEnv":               0,

	"slices.Clone":  0,
	"slices.Clip":   0,
	"slices.Grow":   0,
	"slices.Values": 0,
	"maps.Clone":    0,
	"maps.Values":   0,

	"syscall.UTF16PtrFromString":                  0,
	"syscall.UTF16FromString":                     0,
	"syscall.StringToUTF16Ptr":                    0,
	"golang.org/x/sys/windows.UTF16PtrFromString": 0,
	"golang.org/x/sys/windows.UTF16FromString":    0,
	"golang.org/x/sys/windows.StringToUTF16Ptr":   0,
	"golang.org/x/sys/windows.ComposeCommandLine": 0,
	"syscall.BytePtrFromString":                   0,
	"syscall.SlicePtrFromStrings":                 0,
	"(*sync/atomic.Pointer).Load":                 0,
}

// model answers for functions of the standard library, whose bodies are not analysed.
func (r *Result) model(name string, call *ssa.Call, i int) (Value, bool) {
	args := call.Call.Args
	if n, ok := passThrough[name]; ok {
		if i != 0 || n >= len(args) {
			return unknown(), true
		}
		return r.eval(args[n]), true
	}
	if start, ok := exectable.Starts[name]; ok {
		if !exectable.Makers[name] {
			if v, ok := r.pidModel(name, call, i); ok {
				return v, true
			}
			return unknown(), true
		}
		path := r.eval(args[start.Path])
		return Value{{
			Kind: Struct, Text: exectable.Cmd,
			Names: []string{"Path", "Args", "Env"},
			Elems: []Value{path, listOf(path, spliceOf(r.eval(args[start.Args]))), {{Kind: Nil}}},
		}}, true
	}
	if v, ok := r.pidModel(name, call, i); ok {
		return v, true
	}
	if v, ok := r.environModel(name, call, i); ok {
		return v, true
	}
	switch name {
	case "os.Getenv", "os.LookupEnv":
		key := r.eval(args[0])
		if i == 0 && len(key) == 1 && key[0].Kind == Str {
			return Value{{Kind: Tag, Text: "env:" + key[0].Text}}, true
		}
		return unknown(), true
	case "path/filepath.Join", "path.Join":
		// Only the last element matters for a program's name; it is a whole one.
		return r.joined(r.eval(args[0]), str("/", 0)), true
	case "strings.Join":
		return r.joined(r.eval(args[0]), r.eval(args[1])), true
	case "strings.Fields":
		return splitWords(r.eval(args[0]), strings.Fields), true
	case "strings.Split":
		sep := r.eval(args[1])
		if len(sep) == 1 && sep[0].Kind == Str {
			return splitWords(r.eval(args[0]), func(s string) []string { return strings.Split(s, sep[0].Text) }), true
		}
		return listOf(spliceOf(unknown())), true
	case "fmt.Sprintf":
		return r.sprintf(call), true
	case "fmt.Sprint":
		return r.joined(r.eval(args[0]), str("", 0)), true
	case "slices.Concat":
		return r.spliced(r.eval(args[0])), true
	case "slices.Insert":
		at := r.eval(args[1])
		list, more := r.eval(args[0]), r.eval(args[2])
		if len(at) == 1 && at[0].Kind == Int {
			n := int(at[0].N)
			if n == 0 {
				return listOf(spliceOf(more), spliceOf(list)), true
			}
			return listOf(spliceOf(list.Until(n)), spliceOf(more), spliceOf(list.From(n))), true
		}
		return listOf(spliceOf(manyOf(join(list.Element(), more.Element())))), true
	case "slices.Collect", "slices.Sorted":
		return r.eval(args[0]), true
	case "slices.AppendSeq":
		return listOf(spliceOf(r.eval(args[0])), spliceOf(r.eval(args[1]))), true
	case "cmp.Or":
		return r.eval(args[0]).Element(), true
	}
	return nil, false
}

// spliced puts the lists that are the elements of v behind each other.
func (r *Result) spliced(v Value) Value {
	var out []Value
	for _, a := range v {
		if a.Kind != List {
			out = append(out, listOf(spliceOf(unknown())))
			continue
		}
		elems := make([]Value, len(a.Elems))
		for i, e := range a.Elems {
			if s, ok := e.splice(); ok {
				e = s.Element()
			}
			elems[i] = spliceOf(e)
		}
		out = append(out, listOf(elems...))
	}
	return join(out...)
}

// joined is the string of a list's elements with sep between them.
func (r *Result) joined(v, sep Value) Value {
	var out []Value
	for _, a := range v {
		if a.Kind != List || len(a.Elems) == 0 {
			out = append(out, unknown())
			continue
		}
		var text Value
		for i, e := range a.Elems {
			if _, ok := e.splice(); ok {
				e = unknown()
			}
			if i == 0 {
				text = e
				continue
			}
			text = concat(concat(text, sep), e)
		}
		out = append(out, text)
	}
	return join(out...)
}

func splitWords(v Value, split func(string) []string) Value {
	var out []Value
	for _, a := range v {
		switch a.Kind {
		case Str:
			var words []Value
			for _, w := range split(a.Text) {
				words = append(words, str(w, a.pos))
			}
			out = append(out, listOf(words...))
		case Concat:
			// The words of the constant start are known, but for the last one, which may go on.
			first := a.Elems[0]
			var words []Value
			if len(first) == 1 && first[0].Kind == Str {
				known := split(first[0].Text + "\x00")
				for _, w := range known[:len(known)-1] {
					words = append(words, str(w, first[0].pos))
				}
			}
			out = append(out, listOf(append(words, spliceOf(unknown()))...))
		default:
			out = append(out, listOf(spliceOf(unknown())))
		}
	}
	return join(out...)
}

// sprintf folds the verbs %s and %v of a constant format; the value of any other verb is not known.
func (r *Result) sprintf(call *ssa.Call) Value {
	format := r.eval(call.Call.Args[0])
	args := r.eval(call.Call.Args[1])
	if len(format) != 1 || format[0].Kind != Str {
		return unknown()
	}
	text := format[0].Text
	out := str("", format[0].pos)
	n := 0
	for text != "" {
		i := strings.IndexByte(text, '%')
		if i < 0 || i+1 >= len(text) {
			out = concat(out, str(text, format[0].pos))
			break
		}
		if i > 0 {
			out = concat(out, str(text[:i], format[0].pos))
		}
		verb := text[i+1]
		text = text[i+2:]
		switch verb {
		case '%':
			out = concat(out, str("%", format[0].pos))
		case 's', 'v':
			v := args.Index(n)
			if len(v) == 0 || v.Has(Int) || v.Has(List) {
				v = unknown()
			}
			out = concat(out, v)
			n++
		case 'd', 'q', 'x', 't':
			out = concat(out, unknown())
			n++
		default:
			return concat(out, unknown())
		}
	}
	return out
}

func (r *Result) builtin(b *ssa.Builtin, call *ssa.Call) Value {
	args := call.Call.Args
	switch b.Name() {
	case "append":
		list := r.eval(args[0])
		if len(list) == 0 {
			list = listOf()
		}
		if len(args) == 1 {
			return list
		}
		more := r.eval(args[1])
		if len(more) == 0 {
			more = listOf()
		}
		if len(more) == 1 && more[0].Kind == Str {
			return unknown() // append([]byte, string...)
		}
		if FromHost(more) && !FromHost(list) && picked(call.Block()) {
			more = withoutHost(more)
		}
		return listOf(spliceOf(list), spliceOf(more))
	case "min", "max":
		return unknown()
	}
	return unknown()
}
