package spec

import (
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Load reads the spec called name, and what it extends, through read. A base is a built-in spec's name, or a slash-separated path
// relative to the directory of the spec that extends it. The result is nil where there is any diagnostic.
//
// Load looks at nothing but what read gives: the same bytes, the same result.
func Load(name string, read func(path string) ([]byte, error)) (*Backend, Diagnostics) {
	l := loader{read: read}
	data, err := l.bytes(name, false)
	if err != nil {
		s := &source{file: name}
		s.errorf(s.top(), "", "the spec cannot be read: %v", err)
		return nil, s.list
	}
	b := l.load(name, "", data, nil)
	if len(l.list) > 0 {
		return nil, l.list.sorted()
	}
	return b, nil
}

type loader struct {
	read func(path string) ([]byte, error)
	list Diagnostics
}

// load reads one file; chain is what extends it, outermost first, by identity. It gives nil where the file or what it extends has
// faults. prefix is part of a built-in file's identity.
func (l *loader) load(name, prefix string, data []byte, chain []string) *Backend {
	s := &source{file: name}
	defer func() { l.list = append(l.list, s.list...) }()
	root := s.parse(data)
	if root == nil {
		return nil
	}
	if root.Kind != yaml.MappingNode {
		s.wrong(root, "", "a mapping")
		return nil
	}
	doc := new(document)
	s.decode(root, reflect.ValueOf(doc).Elem(), "")
	c := &checker{source: s, doc: doc, keys: make(map[string]bool), b: &Backend{File: name}, wanted: make(map[string]bool),
		mounts: make(map[string]Position), knobSets: make(map[string]Position)}
	for i := 0; i+1 < len(root.Content); i += 2 {
		c.keys[root.Content[i].Value] = true
	}
	digests := [][]byte{data}
	if doc.Extends.given() {
		c.base = l.extend(s, doc.Extends, name, append(chain, prefix+name), &digests)
		if c.base == nil {
			return nil
		}
	}
	c.check()
	if len(s.list) > 0 {
		return nil
	}
	c.b.Digest = digest(digests)
	c.b.bytes = digests
	return c.b
}

func (l *loader) bytes(name string, builtin bool) ([]byte, error) {
	if builtin {
		return files.ReadFile("backends/" + name)
	}
	if l.read == nil {
		return nil, fmt.Errorf("no reader was given")
	}
	return l.read(name)
}

// extend loads the base of a spec. A base with faults of its own gives nil: its faults are reported, and the extending spec's that
// would follow from them are not.
func (l *loader) extend(s *source, extends Text, name string, chain []string, digests *[][]byte) *Backend {
	base, prefix, builtin := extends.Text, "", packageName.MatchString(extends.Text)
	switch {
	case builtin && !slices.Contains(Builtins(), base):
		s.errorf(extends.Pos, suggest(base, Builtins()), "there is no built-in spec %q", base)
		return nil
	case builtin:
		base, prefix = base+".yaml", "built-in "
	case strings.HasPrefix(base, "/") || strings.Contains(base, `\`):
		s.errorf(extends.Pos, "", "extends must be a built-in spec's name or a relative path with slashes, not %s", quote(base))
		return nil
	default:
		base = path.Join(path.Dir(name), base)
	}
	id := prefix + base
	if slices.Contains(chain, id) {
		s.errorf(extends.Pos, "", "extends goes in a circle: %s", strings.Join(append(chain[slices.Index(chain, id):], id), " → "))
		return nil
	}
	if len(chain) > maxExtends {
		s.errorf(extends.Pos, "", "extends goes over more than %d levels", maxExtends)
		return nil
	}
	data, err := l.bytes(base, builtin)
	if err != nil {
		s.errorf(extends.Pos, "", "the spec it extends cannot be read: %v", err)
		return nil
	}
	b := l.load(base, prefix, data, chain)
	if b != nil {
		*digests = append(*digests, b.bytes...)
	}
	return b
}

// checker turns a document into a Backend and reports what is wrong with it.
type checker struct {
	*source
	doc *document
	// base is what the spec extends, nil for nothing.
	base *Backend
	b    *Backend
	// keys are the file's top-level keys, whatever their values are.
	keys map[string]bool
	// wanted are vocabulary names a misspelled name most likely meant; they are not reported as missing on top.
	wanted map[string]bool
	// mounts and knobs are where this file's own are, by target and by what they set.
	mounts, knobSets map[string]Position
}

// missing reports a key that a spec without a base must have.
func (c *checker) missing(key, hint string) {
	if !c.extending() && !c.keys[key] {
		c.errorf(c.doc.At, hint, "key %q is missing", key)
	}
}

func (c *checker) extending() bool { return c.base != nil }

func (c *checker) check() {
	if c.base != nil {
		*c.b = c.base.copy(c.b.File)
		c.b.Extends = append([]string{c.base.File}, c.base.Extends...)
	}
	c.b.Pos = c.doc.At
	c.identity()
	c.dialect()
	c.policy()
	c.lifecycle()
	if len(c.list) == 0 {
		c.keeps()
	}
}

// copy gives a copy that can be changed without changing b: lists are copied, what they hold is shared and never changed in place.
func (b *Backend) copy(file string) Backend {
	n := *b
	n.File = file
	n.Words = slices.Clone(b.Words)
	n.Features = slices.Clone(b.Features)
	n.Because = slices.Clone(b.Because)
	n.Policy.Limits = slices.Clone(b.Policy.Limits)
	n.Policy.Hardening = slices.Clone(b.Policy.Hardening)
	n.Policy.Mounts = slices.Clone(b.Policy.Mounts)
	n.Policy.Credentials = slices.Clone(b.Policy.Credentials)
	n.Policy.Sockets = slices.Clone(b.Policy.Sockets)
	n.Policy.Knobs = slices.Clone(b.Policy.Knobs)
	n.Policy.Environment.Set = slices.Clone(b.Policy.Environment.Set)
	n.Policy.Environment.Deny = slices.Clone(b.Policy.Environment.Deny)
	if b.Program != nil {
		p := *b.Program
		n.Program = &p
	}
	if b.Engine != nil {
		e := *b.Engine
		n.Engine = &e
	}
	return n
}

// here gives p where it is in this file, and else the first place that is: a fault that an extending spec makes of its base's lines is
// shown where the extending spec makes it.
func (c *checker) here(p Position, instead ...Position) Position {
	for _, q := range append([]Position{p}, instead...) {
		if q.File == c.file && q.Line > 0 {
			return q
		}
	}
	return c.doc.At
}

// reason keeps a because.
func (c *checker) reason(because Text, what string) {
	if because.given() {
		c.b.Because = append(c.b.Because, Reason{because.Pos, what, because.Text})
	}
}

// sentence checks text that ends up in comments and documentation: something, in one line.
func (c *checker) sentence(t Text, what string) {
	switch {
	case !t.given():
	case strings.TrimSpace(t.Text) == "":
		c.errorf(t.Pos, "", "%s says nothing", what)
	case strings.ContainsAny(t.Text, "\n\t"):
		c.errorf(t.Pos, "", "%s is more than one line", what)
	}
}

// oneOf checks a word of a closed set; an absent one is fine.
func (c *checker) oneOf(t Text, what string, set ...string) string {
	if t.given() && !slices.Contains(set, t.Text) {
		c.errorf(t.Pos, suggest(t.Text, set), "%s cannot be %s", what, quote(t.Text))
		return ""
	}
	return t.Text
}
