package spec

import (
	"reflect"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// A node reads itself from YAML; what is its path, for messages ("policy.limits").
type node interface {
	read(s *source, n *yaml.Node, what string)
}

// quote gives text as a message shows it: quoted, and cut where it is long.
func quote(text string) string {
	if c := []rune(text); len(c) > 60 {
		text = string(c[:60]) + "…"
	}
	return strconv.Quote(text)
}

var nodeType = reflect.TypeFor[node]()

// decode reads n into v, which is a node, a struct whose fields carry json tags, or a slice of either. Every fault is reported; what is
// at fault stays zero. A struct's field At gets its place.
func (s *source) decode(n *yaml.Node, v reflect.Value, what string) {
	if v.CanAddr() && v.Addr().Type().Implements(nodeType) {
		v.Addr().Interface().(node).read(s, n, what)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		s.decode(n, v.Elem(), what)
	case reflect.Struct:
		s.object(n, v, what)
	case reflect.Slice:
		if n.Kind != yaml.SequenceNode {
			s.wrong(n, what, "a list")
			return
		}
		list := reflect.MakeSlice(v.Type(), 0, len(n.Content))
		for _, c := range n.Content {
			item := reflect.New(v.Type().Elem()).Elem()
			s.decode(c, item, what)
			if placed(item) {
				list = reflect.Append(list, item)
			}
		}
		v.Set(list)
	}
}

// placed reports whether a struct was read: one of the wrong type was reported and is not to be looked at further.
func placed(v reflect.Value) bool {
	at := v.FieldByName("At")
	return !at.IsValid() || at.Interface() != Position{}
}

func (s *source) object(n *yaml.Node, v reflect.Value, what string) {
	if n.Kind != yaml.MappingNode {
		s.wrong(n, what, "a mapping")
		return
	}
	fields, names, required := fieldsOf(v.Type())
	if at := v.FieldByName("At"); at.IsValid() {
		at.Set(reflect.ValueOf(s.at(n)))
	}
	seen := make(map[string]bool)
	for _, pair := range s.pairs(n, what) {
		seen[pair.key] = true
		i, known := fields[pair.key]
		if !known {
			s.errorf(pair.pos, suggest(pair.key, names), "unknown key %q%s", pair.key, in(what))
			continue
		}
		s.decode(pair.value, v.Field(i), join(what, pair.key))
	}
	for _, name := range required {
		if !seen[name] {
			s.errorf(s.at(n), "", "key %q is missing%s", name, in(what))
		}
	}
}

func in(what string) string {
	if what == "" {
		return ""
	}
	return " in " + what
}

func join(what, key string) string {
	if what == "" {
		return key
	}
	return what + "." + key
}

// fieldsOf gives a struct's fields by their json names, the names in order, and those that must be given.
func fieldsOf(t reflect.Type) (byName map[string]int, names, required []string) {
	byName = make(map[string]int)
	for i := range t.NumField() {
		name, option, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if name == "-" || name == "" {
			continue
		}
		byName[name] = i
		names = append(names, name)
		if option != "omitzero" {
			required = append(required, name)
		}
	}
	return byName, names, required
}

type pair struct {
	pos   Position
	key   string
	value *yaml.Node
}

// pairs gives a mapping's entries in file order and reports keys that are no texts or stand twice.
func (s *source) pairs(n *yaml.Node, what string) []pair {
	seen := make(map[string]Position, len(n.Content)/2)
	out := make([]pair, 0, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		p := pair{s.at(k), k.Value, n.Content[i+1]}
		if k.Kind != yaml.ScalarNode {
			s.errorf(p.pos, "", "a key%s is text", in(what))
			continue
		}
		if k.ShortTag() == "!!merge" {
			s.errorf(p.pos, "write it out, or use extends", "merge keys are not part of the language")
			continue
		}
		if first, twice := seen[p.key]; twice {
			s.errorf(p.pos, "", "key %q stands twice%s; first on line %d", p.key, in(what), first.Line)
			continue
		}
		seen[p.key] = p.pos
		out = append(out, p)
	}
	return out
}

// wrong reports a node of the wrong type.
func (s *source) wrong(n *yaml.Node, what, want string) {
	s.errorf(s.at(n), "", "%s must be %s, not %s", called(what), want, kindOf(n))
}

func called(what string) string {
	if what == "" {
		return "a spec"
	}
	return what
}

func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	switch n.ShortTag() {
	case "!!null":
		return "nothing"
	case "!!bool":
		return "the truth value " + n.Value
	case "!!int", "!!float":
		return "the number " + n.Value
	case "!!timestamp":
		return "the date " + n.Value
	}
	return "the text " + quote(n.Value)
}

// read reads a text. A number or truth value is no text: quoting says what is meant.
func (t *Text) read(s *source, n *yaml.Node, what string) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null" {
		s.wrong(n, what, "text")
		return
	}
	if n.ShortTag() != "!!str" {
		s.errorf(s.at(n), "quote it: "+quote(n.Value), "%s must be text, not %s", called(what), kindOf(n))
		return
	}
	t.Pos, t.Text = s.at(n), n.Value
}

func (t Text) given() bool { return t.Pos.Line > 0 }

// raw is a scalar whose text is read by what it is for: a number, size, duration, permission, level.
type raw struct {
	Pos  Position
	Text string
}

func (r *raw) read(s *source, n *yaml.Node, what string) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null" {
		s.wrong(n, what, "a number or text")
		return
	}
	r.Pos, r.Text = s.at(n), n.Value
}

func (r raw) given() bool { return r.Pos.Line > 0 }

// boolean is true or false.
type boolean struct {
	Pos   Position
	Value bool
}

func (b *boolean) read(s *source, n *yaml.Node, what string) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!bool" {
		s.wrong(n, what, "true or false")
		return
	}
	b.Pos, b.Value = s.at(n), strings.EqualFold(n.Value, "true")
}

func (b boolean) given() bool { return b.Pos.Line > 0 }

// texts is a list of texts.
type texts []Text

func (ts *texts) read(s *source, n *yaml.Node, what string) {
	if n.Kind != yaml.SequenceNode {
		s.wrong(n, what, "a list")
		return
	}
	*ts = make(texts, 0, len(n.Content))
	for _, c := range n.Content {
		var t Text
		t.read(s, c, "an item of "+what)
		if t.given() {
			*ts = append(*ts, t)
		}
	}
}

// oneOrMore is a text or a list of texts.
type oneOrMore []Text

func (ts *oneOrMore) read(s *source, n *yaml.Node, what string) {
	if n.Kind == yaml.SequenceNode {
		if len(n.Content) == 0 {
			s.errorf(s.at(n), "", "%s is an empty list", what)
		}
		(*texts)(ts).read(s, n, what)
		return
	}
	var t Text
	t.read(s, n, what)
	if t.given() {
		*ts = oneOrMore{t}
	}
}

// table is a mapping with free keys, in file order.
type table[T any] struct {
	At      Position
	Entries []row[T]
}

type row[T any] struct {
	Pos   Position // of the key
	Key   string
	Value T
}

func (t table[T]) given() bool { return t.At.Line > 0 }

func (t *table[T]) read(s *source, n *yaml.Node, what string) { t.readBut(s, n, what, nil) }

// readBut reads all keys but those of own, which it gives to their readers.
func (t *table[T]) readBut(s *source, n *yaml.Node, what string, own map[string]node) {
	if n.Kind != yaml.MappingNode {
		s.wrong(n, what, "a mapping")
		return
	}
	t.At = s.at(n)
	for _, p := range s.pairs(n, what) {
		if r, ok := own[p.key]; ok {
			r.read(s, p.value, join(what, p.key))
			continue
		}
		r := row[T]{Pos: p.pos, Key: p.key}
		s.decode(p.value, reflect.ValueOf(&r.Value).Elem(), join(what, p.key))
		t.Entries = append(t.Entries, r)
	}
}

// section is a table whose key because is the reason for what is in it.
type section[T any] struct {
	table[T]
	Because Text
}

func (t *section[T]) read(s *source, n *yaml.Node, what string) {
	t.readBut(s, n, what, map[string]node{"because": &t.Because})
}
