package flow

import (
	"cmp"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// A Kind says what an Alt is.
type Kind uint8

// The kinds of alternatives.
const (
	Unknown Kind = iota // anything
	Str                 // the string Text
	Int                 // the integer N
	Nil                 // a nil pointer, slice, map, function or interface
	List                // a slice or array: Elems in order; an element may be a Splice
	Splice              // only as an element of a List: the elements of the list Elems[0], in place
	Many                // only below a Splice: any number of elements, each one of Elems[0]
	Map                 // a map: Names are constant keys, Elems their values; Base joins the values of other keys
	Struct              // a struct or a pointer to one: Names are fields, Elems their values; other fields are those of Base
	Param               // parameter N of the function (receiver first), or free variable FreeVar+n, followed along Path
	Func                // a function: Text its full name, Elems the values of its free variables
	Concat              // a string put together of Elems, not all of them constant
	Tag                 // a value that a rule's source has named Text
	loop                // while a value is computed: the value itself, N numbers it
)

// FreeVar is added to the index of a function literal's free variable to tell it from a parameter.
const FreeVar = 1000

// A Value is what an SSA value may be: one of its alternatives. Alternatives are sorted and distinct.
// A Value with an Unknown alternative may be anything besides.
type Value []Alt

// An Alt is one alternative of a Value. It is immutable once built; it is also what facts carry, so it holds no pointer into one
// package's syntax but the ones in unexported fields, which are lost on the way.
type Alt struct {
	Kind  Kind
	Text  string
	N     int64
	Path  []string // Param: ".Field", "[2]" (element), "[2:]" (without the first two), "[]" (any element)
	Elems []Value
	Names []string
	Base  []Value  // zero or one
	Sum   *Summary // Func: the summary of a function literal that left its package

	fn     *ssa.Function
	pos    token.Pos // of the constant or the expression, NoPos when another package holds it
	stored bool      // read from a launch's argument list that something else stored
}

// Stored reports whether the alternative was read from the argument list of a launch that is not known, where it is because something stores
// it in such a list: that store is a sink of its own.
func (a Alt) Stored() bool { return a.stored }

// Pos returns the position in the current package of the constant that the alternative is, if known.
func (a Alt) Pos() token.Pos { return a.pos }

// Fn returns the SSA function of a Func alternative of the current package, or nil.
func (a Alt) Fn() *ssa.Function { return a.fn }

const (
	maxAlts  = 512 // constants in one table
	maxWide  = 24  // alternatives that are not plain constants
	maxDepth = 7   // of nesting
	maxElems = 128 // elements of a list
	maxNodes = 600 // alternatives at all depths
)

func unknown() Value                    { return Value{{Kind: Unknown}} }
func str(s string, pos token.Pos) Value { return Value{{Kind: Str, Text: s, pos: pos}} }

// compareAlts orders alternatives. It is 0 for those that are the same; positions and summaries do not count.
func compareAlts(a, b *Alt) int {
	if c := cmp.Or(cmp.Compare(a.Kind, b.Kind), strings.Compare(a.Text, b.Text), cmp.Compare(a.N, b.N)); c != 0 {
		return c
	}
	if c := cmp.Or(slices.Compare(a.Path, b.Path), slices.Compare(a.Names, b.Names)); c != 0 {
		return c
	}
	if c := cmp.Or(compareLists(a.Elems, b.Elems), compareLists(a.Base, b.Base)); c != 0 || a.stored == b.stored {
		return c
	}
	if a.stored {
		return 1
	}
	return -1
}

func compareLists(a, b []Value) int {
	if len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) {
		return 0 // values are shared, and never changed
	}
	return slices.CompareFunc(a, b, compareValues)
}

func compareValues(a, b Value) int {
	if len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) {
		return 0
	}
	for i := range min(len(a), len(b)) {
		if c := compareAlts(&a[i], &b[i]); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

func (a Alt) write(b *strings.Builder) {
	b.WriteByte("?sinlpmMSPFCTo"[a.Kind])
	if a.Text != "" {
		b.WriteString(strconv.Quote(a.Text))
	}
	if a.N != 0 {
		b.WriteString(strconv.FormatInt(a.N, 10))
	}
	for _, p := range a.Path {
		b.WriteString(p)
	}
	if len(a.Elems) > 0 {
		b.WriteByte('(')
		for i, e := range a.Elems {
			if i < len(a.Names) {
				b.WriteString(a.Names[i])
				b.WriteByte('=')
			}
			e.write(b)
			b.WriteByte(',')
		}
		b.WriteByte(')')
	}
	for _, e := range a.Base {
		b.WriteByte('&')
		e.write(b)
	}
}

func (v Value) write(b *strings.Builder) {
	for i, a := range v {
		if i > 0 {
			b.WriteByte('|')
		}
		a.write(b)
	}
}

// String renders the value for messages of tests and for keys.
func (v Value) String() string {
	var b strings.Builder
	v.write(&b)
	return b.String()
}

// join returns the union of the values, sorted, distinct and bounded.
func join(values ...Value) Value {
	n := 0
	var last Value
	for _, v := range values {
		if len(v) > 0 {
			n++
			last = v
		}
	}
	if n == 0 {
		return nil
	}
	if n == 1 {
		return last
	}
	size := 0
	for _, v := range values {
		size += len(v)
	}
	all := make([]*Alt, 0, size)
	for _, v := range values {
		for i := range v {
			all = append(all, &v[i])
		}
	}
	slices.SortStableFunc(all, compareAlts)
	all = slices.CompactFunc(all, func(x, y *Alt) bool { return compareAlts(x, y) == 0 })
	out := make(Value, 0, len(all))
	wide := 0
	cut := false
	for _, a := range all {
		if a.Kind != Str && a.Kind != Int {
			if wide++; wide > maxWide {
				cut = true
				continue
			}
		}
		if len(out) >= maxAlts {
			cut = true
			break
		}
		out = append(out, *a)
	}
	if cut && !out.Has(Unknown) {
		out = append(Value{{Kind: Unknown}}, out...)
	}
	return out
}

// Has reports whether an alternative of the value is of kind k.
func (v Value) Has(k Kind) bool {
	for _, a := range v {
		if a.Kind == k {
			return true
		}
	}
	return false
}

// Open reports whether the value depends on a parameter or a free variable.
func (v Value) Open() bool {
	for _, a := range v {
		if a.open() {
			return true
		}
	}
	return false
}

// nearParam reports whether the value may be a parameter, or a field not far from one.
func (v Value) nearParam() bool {
	for _, a := range v {
		if a.Kind == Param && len(a.Path) <= maxCallPath {
			return true
		}
	}
	return false
}

func (a Alt) open() bool {
	if a.Kind == Param {
		return true
	}
	for _, e := range a.Elems {
		if e.Open() {
			return true
		}
	}
	for _, e := range a.Base {
		if e.Open() {
			return true
		}
	}
	return false
}

// Walk calls f for every alternative of the value at any depth, outer ones first, until f returns false.
func (v Value) Walk(f func(Alt) bool) bool {
	for _, a := range v {
		if !f(a) {
			return false
		}
		for _, e := range a.Elems {
			if !e.Walk(f) {
				return false
			}
		}
		for _, e := range a.Base {
			if !e.Walk(f) {
				return false
			}
		}
	}
	return true
}

// Field returns the value of the field called name.
func (v Value) Field(name string) Value {
	var out []Value
	for _, a := range v {
		switch a.Kind {
		case Struct:
			if i := slices.Index(a.Names, name); i >= 0 {
				out = append(out, a.Elems[i])
			} else if len(a.Base) > 0 {
				out = append(out, a.Base[0].Field(name))
			}
		case Param:
			out = append(out, a.follow("."+name))
		case Nil:
		case Tag:
			if a.Text != Read {
				a = Alt{Kind: Unknown}
			}
			out = append(out, Value{a}) // what is part of a record came with it
		default:
			out = append(out, unknown())
		}
	}
	return join(out...)
}

func (a Alt) follow(step string) Value {
	if len(a.Path) >= maxDepth || step[0] == '.' && a.goesRound(step) {
		return unknown()
	}
	a.Path = append(slices.Clip(a.Path), step)
	return Value{a}
}

// goesRound reports whether the path takes the field twice already: then it goes along a list or down a tree, with a path for each of its nodes.
func (a Alt) goesRound(field string) bool {
	n := 0
	for _, p := range a.Path {
		if p == field {
			n++
		}
	}
	return n > 1
}

// Index returns element i of a list.
func (v Value) Index(i int) Value {
	var out []Value
	for _, a := range v {
		switch a.Kind {
		case List:
			out = append(out, a.index(i))
		case Param:
			out = append(out, a.follow("["+strconv.Itoa(i)+"]"))
		case Map:
			out = append(out, v.Element())
		case Nil:
		default:
			out = append(out, unknown())
		}
	}
	return join(out...)
}

func (a Alt) index(i int) Value {
	for k, e := range a.Elems {
		if s, ok := e.splice(); ok {
			// The element is in the splice or behind it.
			var out []Value
			if s.Open() || s.Has(Many) {
				if s.Has(Many) {
					out = append(out, s.Element())
				} else {
					out = append(out, s.Index(i-k))
				}
			} else {
				out = append(out, unknown())
			}
			for _, rest := range a.Elems[k+1:] {
				if s2, ok := rest.splice(); ok {
					out = append(out, s2.Element())
				} else {
					out = append(out, rest)
				}
			}
			return join(out...)
		}
		if k == i {
			return e
		}
	}
	return nil
}

// Element returns what any element of a list or map may be.
func (v Value) Element() Value {
	var out []Value
	for _, a := range v {
		switch a.Kind {
		case List:
			for _, e := range a.Elems {
				if s, ok := e.splice(); ok {
					out = append(out, s.Element())
				} else {
					out = append(out, e)
				}
			}
		case Many:
			out = append(out, a.Elems[0])
		case Map:
			out = append(out, a.Elems...)
			out = append(out, a.Base...)
		case Param:
			out = append(out, a.follow("[]"))
		case Nil:
		default:
			out = append(out, unknown())
		}
	}
	return join(out...)
}

// From returns the list without its first n elements.
func (v Value) From(n int) Value {
	if n == 0 {
		return v
	}
	var out []Value
	for _, a := range v {
		switch a.Kind {
		case List:
			rest := a.Elems
			k := 0
			for k < n && len(rest) > 0 {
				if s, ok := rest[0].splice(); ok {
					if s.Open() && !s.Has(Many) {
						s = s.From(n - k)
						rest = append([]Value{spliceOf(s)}, rest[1:]...)
					}
					break
				}
				rest = rest[1:]
				k++
			}
			out = append(out, listOf(rest...))
		case Param:
			out = append(out, a.follow("["+strconv.Itoa(n)+":]"))
		case Nil:
			out = append(out, Value{a})
		default:
			out = append(out, unknown())
		}
	}
	return join(out...)
}

// Until returns the first n elements of the list.
func (v Value) Until(n int) Value {
	var out []Value
	for _, a := range v {
		if a.Kind == List && len(a.Elems) >= n && !slices.ContainsFunc(a.Elems[:n], func(e Value) bool { _, ok := e.splice(); return ok }) {
			out = append(out, listOf(a.Elems[:n]...))
		} else {
			out = append(out, unknown())
		}
	}
	return join(out...)
}

// Key returns the value that a map holds under the constant key, or any of its values when it may be another's.
func (v Value) Key(name string) Value {
	var out []Value
	for _, a := range v {
		switch a.Kind {
		case Map:
			if i := slices.Index(a.Names, name); i >= 0 {
				out = append(out, a.Elems[i])
			}
			out = append(out, a.Base...)
		case Param:
			out = append(out, a.follow("[]"))
		case Nil:
		default:
			out = append(out, unknown())
		}
	}
	return join(out...)
}

// splice returns the list of a value that is a splice.
func (v Value) splice() (Value, bool) {
	if len(v) == 1 && v[0].Kind == Splice {
		return v[0].Elems[0], true
	}
	return nil, false
}

func spliceOf(v Value) Value { return Value{{Kind: Splice, Elems: []Value{v}}} }
func manyOf(v Value) Value   { return Value{{Kind: Many, Elems: []Value{v}}} }

// listOf builds a list and puts the elements of known spliced lists in place.
func listOf(elems ...Value) Value {
	lists := [][]Value{nil}
	for _, e := range elems {
		s, ok := e.splice()
		if !ok {
			for i := range lists {
				lists[i] = append(lists[i], e)
			}
			continue
		}
		// One list per alternative of what is spliced.
		var grown [][]Value
		for _, prefix := range lists {
			for _, a := range s {
				next := slices.Clone(prefix)
				switch a.Kind {
				case List:
					next = append(next, a.Elems...)
				case Nil:
				default:
					next = append(next, spliceOf(Value{a}))
				}
				grown = append(grown, next)
			}
			if len(s) == 0 {
				grown = append(grown, append(slices.Clone(prefix), spliceOf(unknown())))
			}
		}
		if len(grown) > maxWide {
			for i := range lists {
				lists[i] = append(lists[i], spliceOf(manyOf(s.Element())))
			}
			continue
		}
		lists = grown
	}
	var out []Value
	for _, l := range lists {
		if len(l) > maxElems {
			l = append(slices.Clone(l[:maxElems]), spliceOf(unknown()))
		}
		out = append(out, Value{{Kind: List, Elems: l}})
	}
	return join(out...)
}

// concat puts strings together, folding constants.
func concat(x, y Value) Value {
	if len(x) == 0 {
		x = unknown()
	}
	if len(y) == 0 {
		y = unknown()
	}
	if len(x)*len(y) > maxWide {
		return unknown()
	}
	var out []Value
	for _, a := range x {
		for _, b := range y {
			if a.Kind == Str && b.Kind == Str {
				out = append(out, str(a.Text+b.Text, a.pos))
				continue
			}
			var parts []Value
			for _, p := range []Alt{a, b} {
				if p.Kind == Concat {
					parts = append(parts, p.Elems...)
				} else {
					parts = append(parts, Value{p})
				}
			}
			if len(parts) > maxElems {
				parts = append(parts[:maxElems:maxElems], unknown())
			}
			merged := parts[:1]
			for _, p := range parts[1:] {
				last := merged[len(merged)-1]
				if len(last) == 1 && len(p) == 1 && last[0].Kind == Str && p[0].Kind == Str {
					merged = append(slices.Clone(merged[:len(merged)-1]), str(last[0].Text+p[0].Text, last[0].pos))
					continue
				}
				merged = append(slices.Clip(merged), p)
			}
			out = append(out, Value{{Kind: Concat, Elems: merged}})
		}
	}
	return join(out...)
}

// BaseName returns the last path element of a program's name, without ".exe": of a constant, or of a string whose constant end
// holds a whole element. ok is false when the value is neither.
func (a Alt) BaseName() (name string, ok bool) {
	switch a.Kind {
	case Str:
		name = a.Text
	case Concat:
		last := a.Elems[len(a.Elems)-1]
		if len(last) != 1 || last[0].Kind != Str || !strings.ContainsAny(last[0].Text, `/\`) {
			return "", false
		}
		name = last[0].Text
	default:
		return "", false
	}
	if i := strings.LastIndexByte(name, '\\'); i >= 0 {
		name = name[i+1:]
	}
	name = filepath.Base(filepath.ToSlash(name))
	if len(name) > 4 && strings.EqualFold(name[len(name)-4:], ".exe") {
		name = name[:len(name)-4]
	}
	return name, true
}

// bound replaces parts of a value that nest too deep, or deeper parts when it is too large as a whole.
func bound(v Value) Value {
	depth, nodes := v.measure()
	if depth > maxDepth {
		v = cutAt(v, maxDepth)
		depth = maxDepth
		_, nodes = v.measure()
	}
	for nodes > maxNodes && depth > 1 {
		depth--
		v = cutAt(v, depth)
		_, nodes = v.measure()
	}
	if nodes > maxNodes+maxAlts {
		return unknown()
	}
	return v
}

// measure returns the depth, and the number of alternatives at all depths. It looks one level below maxDepth and no further.
func (v Value) measure() (depth, nodes int) {
	v.count(1, &depth, &nodes)
	return depth, nodes
}

func (v Value) count(level int, depth, nodes *int) {
	if len(v) > 0 {
		*depth = max(*depth, level)
	}
	*nodes += len(v)
	if level > maxDepth {
		return
	}
	for i := range v {
		for _, e := range v[i].Elems {
			e.count(level+1, depth, nodes)
		}
		for _, e := range v[i].Base {
			e.count(level+1, depth, nodes)
		}
	}
}

// deeper reports whether the alternative nests deeper than d levels.
func (a *Alt) deeper(d int) bool {
	if d == 0 {
		return true
	}
	for _, list := range [2][]Value{a.Elems, a.Base} {
		for _, e := range list {
			for i := range e {
				if e[i].deeper(d - 1) {
					return true
				}
			}
		}
	}
	return false
}

func cutAt(v Value, d int) Value {
	if d == 0 {
		if _, ok := v.splice(); ok {
			return spliceOf(unknown())
		}
		return unknown()
	}
	var out []Value // what stands for v[:kept]
	kept := 0
	for i := range v {
		if !v[i].deeper(d) {
			continue
		}
		a := v[i]
		a.Elems, a.Base = cutList(a.Elems, d-1), cutList(a.Base, d-1)
		if kept < i {
			out = append(out, v[kept:i:i])
		}
		out = append(out, Value{a})
		kept = i + 1
	}
	if kept == 0 {
		return v
	}
	return join(append(out, v[kept:])...)
}

func cutList(list []Value, d int) []Value {
	if len(list) == 0 {
		return nil
	}
	out := make([]Value, len(list))
	for i, v := range list {
		out[i] = cutAt(v, d)
	}
	return out
}
