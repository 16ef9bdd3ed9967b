package gen

import (
	"fmt"
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/sbxkit/sbxkit/spec"
)

// line is one entry of a dialect made ready for writing: its condition, what it repeats over and its words, over the request.
type line struct {
	entry spec.Entry
	// name is the vocabulary name its values are of; empty for a constant.
	name    string
	subject subject
	// asked is the condition of the whole line; nil for always.
	asked *jen.Statement
	// when is a value that has to be given, on top.
	when  *operand
	words []word
	spell []spelling
}

// spelling is how one kind of mount is spelled.
type spelling struct {
	constant string // of the kind, in package runtime
	lines    []line
}

// word is one word of an argv: pieces one after the other.
type word struct {
	csv    bool
	pieces []piece
}

// piece is a fixed text, or a value with what stands before it in a field of comma-separated values.
type piece struct {
	text  string
	name  string
	value *operand
	when  *operand
}

// private is true where a piece can be a private value.
func (w word) private() bool {
	return slices.ContainsFunc(w.pieces, func(p piece) bool { return p.value != nil && p.value.private })
}

// whole gives the word as one Go expression, where it needs no composing.
func (w word) whole() (jen.Code, bool) {
	if w.csv || len(w.pieces) != 1 || w.pieces[0].when != nil {
		return nil, false
	}
	if v := w.pieces[0].value; v != nil {
		return v.whole()
	}
	return literal(w.pieces[0].text), true
}

// lines makes the words of a dialect ready. An error carries the place in the spec.
func lines(entries []spec.Entry) ([]line, error) {
	out := make([]line, 0, len(entries))
	for _, e := range entries {
		l, err := newLine(e)
		if err != nil {
			return nil, err
		}
		out = append(out, l)
	}
	return out, nil
}

func newLine(e spec.Entry) (line, error) {
	l := line{entry: e}
	if e.Each != "" {
		return newEach(l)
	}
	if err := l.bind(); err != nil {
		return line{}, err
	}
	if e.When != "" {
		v, err := l.value(e.Pos, e.When)
		if err != nil {
			return line{}, err
		}
		l.when = &v
	}
	for _, constant := range []string{e.Word, e.Flag} {
		if constant != "" {
			l.words = append(l.words, word{pieces: []piece{{text: constant}}})
		}
	}
	for _, a := range e.Args {
		w, err := l.word(a)
		if err != nil {
			return line{}, err
		}
		l.words = append(l.words, w)
	}
	return l, nil
}

func newEach(l line) (line, error) {
	for _, s := range l.entry.Spell {
		constant, ok := mountKinds[s.Kind]
		if l.entry.Each != "mount" || !ok {
			return line{}, fmt.Errorf("%s: each: %s has no kind %q to write code for", s.Pos, l.entry.Each, s.Kind)
		}
		inner, err := lines(s.Entries)
		if err != nil {
			return line{}, err
		}
		for i := range inner {
			// The loop and the switch say already that such a mount is asked for.
			inner[i].subject.list, inner[i].asked = "", nil
		}
		l.spell = append(l.spell, spelling{constant: constant, lines: inner})
	}
	l.subject.list, l.subject.item = "r.Mounts", "m"
	return l, nil
}

// bind finds the subjects of the line's names and joins their conditions.
func (l *line) bind() error {
	always := len(l.entry.For) == 0
	for i, name := range l.entry.For {
		term, ok := spec.Lookup(name)
		if !ok {
			return fmt.Errorf("%s: %s is not in the vocabulary", l.entry.Pos, name)
		}
		s, ok := subjectOf(term)
		if !ok {
			return fmt.Errorf("%s: no word can spell %s: it is done before the command line is built; say by: driver", l.entry.Pos, name)
		}
		if i == 0 {
			l.name, l.subject = name, s
		}
		condition := s.given()
		switch {
		case condition == nil:
			always = true
		case l.asked == nil:
			l.asked = condition
		default:
			l.asked = l.asked.Op("||").Add(condition)
		}
	}
	if always {
		l.asked = nil
	}
	if len(l.entry.For) > 1 && l.entry.When != "" {
		return fmt.Errorf("%s: a line for several names has no when; write a line for each", l.entry.Pos)
	}
	if l.subject.list != "" && len(l.entry.For) > 1 {
		return fmt.Errorf("%s: %s repeats for each item: it cannot share a line with other names", l.entry.Pos, l.name)
	}
	return nil
}

// given is when the subject is asked for; nil for always.
func (s subject) given() *jen.Statement {
	switch {
	case s.list != "":
		return jen.Len(expr(s.list)).Op("!=").Lit(0)
	case s.asked == "":
		return nil
	default:
		return expr(s.asked)
	}
}

func (l *line) value(pos spec.Position, name string) (operand, error) {
	v, ok := l.subject.values[name]
	if !ok {
		return operand{}, fmt.Errorf("%s: %s has no value %q", pos, l.name, name)
	}
	return v, nil
}

func (l *line) word(a spec.Arg) (word, error) {
	switch a.Kind {
	case spec.ArgText:
		return word{pieces: []piece{{text: a.Text}}}, nil
	case spec.ArgValue:
		p, err := l.piece(a.Pos, "", "", a.Value.Name, "")
		return word{pieces: []piece{p}}, err
	case spec.ArgJoin:
		var w word
		for _, part := range a.Pieces {
			p, err := l.piece(part.Pos, part.Text, "", part.Value.Name, part.When)
			if err != nil {
				return word{}, err
			}
			w.pieces = append(w.pieces, p)
		}
		return w, l.endsPrivate(a.Pos, w)
	case spec.ArgCSV:
		w := word{csv: true}
		for _, field := range a.Fields {
			p, err := l.piece(field.Pos, field.Text, field.Name, field.Value.Name, field.When)
			if err != nil {
				return word{}, err
			}
			w.pieces = append(w.pieces, p)
		}
		if w.private() {
			return word{}, fmt.Errorf("%s: a private value cannot stand among comma-separated values", a.Pos)
		}
		return w, nil
	default:
		return word{}, fmt.Errorf("%s: an argument of kind %q is not a word", a.Pos, a.Kind)
	}
}

// endsPrivate refuses a private value anywhere but at the end of a word: a reference in its place is for a shell to expand, and what
// follows it could not be told from it.
func (l *line) endsPrivate(pos spec.Position, w word) error {
	for i, p := range w.pieces {
		if p.value != nil && p.value.private && (i != len(w.pieces)-1 || p.when != nil) {
			return fmt.Errorf("%s: a private value can only be the last piece of a word", pos)
		}
	}
	return nil
}

func (l *line) piece(pos spec.Position, text, name, value, when string) (piece, error) {
	p := piece{text: text, name: name}
	if value != "" {
		v, err := l.value(pos, value)
		if err != nil {
			return piece{}, err
		}
		p.value = &v
	}
	if when != "" {
		v, err := l.value(pos, when)
		if err != nil {
			return piece{}, err
		}
		p.when = &v
	}
	return p, nil
}
