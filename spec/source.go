package spec

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// Bounds of a spec. They are far above what a spec needs and keep the cost of a hostile one small.
const (
	maxBytes   = 1 << 20 // of one document
	maxDepth   = 24      // of mappings and lists in each other
	maxExtends = 10      // levels
	maxText    = 4096    // characters of one text
)

// source is one file being read: where its diagnostics go, and its lines to show in them.
type source struct {
	file  string
	lines []string
	// anchored is true once an anchor was reported.
	anchored bool
	faults
}

// faults collects diagnostics.
type faults struct{ list Diagnostics }

// errorf reports a fault at p with a hint, which may be empty.
func (s *source) errorf(p Position, hint, format string, args ...any) {
	d := Diagnostic{Pos: p, Message: fmt.Sprintf(format, args...), Hint: hint}
	if p.File == s.file && p.Line > 0 && p.Line <= len(s.lines) {
		d.Line = s.lines[p.Line-1]
	}
	s.list = append(s.list, d)
}

func (s *source) at(n *yaml.Node) Position {
	return Position{File: s.file, Line: max(n.Line, 1), Column: max(n.Column, 1)}
}

func (s *source) top() Position { return Position{File: s.file, Line: 1, Column: 1} }

// parse reads the one document of a file as a tree in which there are mappings, lists and plain scalars only, or reports why not.
func (s *source) parse(data []byte) *yaml.Node {
	if len(data) > maxBytes {
		s.errorf(s.top(), "", "the file has %d bytes; a spec has at most %d", len(data), maxBytes)
		return nil
	}
	if i := invalidUTF8(data); i >= 0 {
		s.lines = nil // it cannot be shown
		line := 1 + strings.Count(string(data[:i]), "\n")
		s.errorf(Position{s.file, line, 1}, "", "the file is not UTF-8 text from byte %d on", i)
		return nil
	}
	s.lines = strings.Split(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n")
	var documents []yaml.Node
	if err := yaml.Load(data, &documents, yaml.WithV4Defaults(), yaml.WithAllDocuments()); err != nil {
		s.syntax(err)
		return nil
	}
	if len(documents) == 0 || len(documents[0].Content) == 0 {
		s.errorf(s.top(), "start with \"sbx: 1\"", "the file is empty")
		return nil
	}
	if len(documents) > 1 {
		s.errorf(s.at(&documents[1]), "put the second one into a file of its own", "a spec is one document, this is a second one")
		return nil
	}
	root := documents[0].Content[0]
	before := len(s.list)
	s.plain(root, 0)
	if len(s.list) > before {
		return nil
	}
	return root
}

func invalidUTF8(data []byte) int {
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// syntax reports what the YAML library says.
func (s *source) syntax(err error) {
	p, message := s.top(), err.Error()
	var load *yaml.LoadError
	if errors.As(err, &load) {
		message = load.Message
		if load.Mark.Line > 0 {
			p.Line, p.Column = load.Mark.Line, max(load.Mark.Column, 1)
		} else if load.ContextMark.Line > 0 {
			p.Line, p.Column = load.ContextMark.Line, max(load.ContextMark.Column, 1)
		}
		if load.ContextMsg != "" {
			message = load.ContextMsg + ": " + message
		}
	}
	s.errorf(p, "", "this is not YAML: %s", message)
}

// plain reports what of YAML is not part of the language: anchors, aliases, merge keys and tags. They make one text mean another
// text elsewhere, and let a short file stand for an endless one.
func (s *source) plain(n *yaml.Node, depth int) {
	if depth > maxDepth {
		s.errorf(s.at(n), "", "mappings and lists are more than %d deep", maxDepth)
		return
	}
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		if !s.anchored {
			s.errorf(s.at(n), "write it out, or use extends", "anchors and aliases are not part of the language")
		}
		s.anchored = true // the others follow from the first
		return
	case n.Style&yaml.TaggedStyle != 0:
		s.errorf(s.at(n), "leave it out; a type follows from the key", "tags are not part of the language")
		return
	}
	if n.Kind == yaml.ScalarNode {
		s.text(s.at(n), n.Value)
	}
	for _, c := range n.Content {
		s.plain(c, depth+1)
	}
}

// text reports what no text of a spec may hold: it would not reach a program whole, or would not look to a reader like what it is.
func (s *source) text(p Position, text string) {
	if n := utf8.RuneCountInString(text); n > maxText {
		s.errorf(p, "", "a text of %d characters; at most %d", n, maxText)
		return
	}
	for _, c := range text {
		if c == '\n' || c == '\t' || printable(c) {
			continue
		}
		s.errorf(p, "", "the text holds %U, which is a control or invisible character", c)
		return
	}
}

// printable reports whether a reader sees c as what it is: no control, no format character (among them those that turn the direction
// of text), no line or paragraph separator, nothing private or unassigned.
func printable(c rune) bool { return c == ' ' || unicode.IsGraphic(c) && !unicode.Is(unicode.Z, c) }

func digest(files [][]byte) string {
	h := sha256.New()
	for _, f := range files {
		one := sha256.Sum256(f)
		h.Write(one[:])
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}
