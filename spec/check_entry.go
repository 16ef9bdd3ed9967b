package spec

import (
	"slices"
	"strings"
)

// mountSum is the one sum whose items are spelled by an each: entry.
const mountSum = "mount"

// entry checks one line of the words.
func (c *checker) entry(d entryDoc) (Entry, bool) {
	before := len(c.list)
	e := Entry{Pos: d.At, Word: d.Word.Text, Flag: d.Flag.Text, Since: d.Since.Text}
	c.form(d)
	c.flag(d.Flag, d.Since)
	if d.Each.given() {
		c.each(d, &e)
		return e, len(c.list) == before
	}
	if d.Spell.given() {
		c.errorf(d.Spell.At, "write each: mount beside it", "spell is for an each entry")
	}
	term := c.names(d, &e)
	e.Pick = Pick(c.oneOf(d.Pick, "pick", pickSet...))
	if d.Pick.given() && !term.Repeats() {
		c.errorf(d.Pick.Pos, "", "pick is for an entry of a list")
	}
	e.When = c.when(d.When, term)
	for _, a := range d.Args {
		arg := c.arg(a, term, false)
		e.Args = append(e.Args, arg)
	}
	e.API = c.bindings(d.API, term, e)
	c.private(&e)
	c.silent(e, d)
	return e, len(c.list) == before
}

// form checks that an entry is one thing.
func (c *checker) form(d entryDoc) {
	given := []string{}
	for _, f := range []struct {
		name string
		ok   bool
	}{{"word", d.Word.given()}, {"flag", d.Flag.given()}, {"each", d.Each.given()}} {
		if f.ok {
			given = append(given, f.name)
		}
	}
	switch {
	case len(given) > 1:
		c.errorf(d.At, "make it two entries", "an entry is one of word, flag and each, not %s", strings.Join(given, " and "))
	case len(given) == 0 && len(d.Args) == 0 && len(d.API) == 0:
		c.errorf(d.At, "a word, a flag, each, args or api", "the entry says nothing")
	case d.Word.given() && len(d.Args) > 0:
		c.errorf(d.Args[0].At, "write flag, or an entry with args alone", "a constant word has no args")
	case d.Each.given() && (d.For != nil || len(d.Args) > 0 || len(d.API) > 0 || d.When.given()):
		c.errorf(d.Each.Pos, "", "an each entry has spell and nothing else")
	}
	if d.Word.given() && d.Word.Text == "" {
		c.errorf(d.Word.Pos, "", "the word is empty")
	}
}

func (c *checker) flag(flag, since Text) {
	if flag.given() && !flagName.MatchString(flag.Text) {
		c.errorf(flag.Pos, "", "flag %s is not one or two dashes with letters, digits and dashes", quote(flag.Text))
	}
	if since.given() && !flag.given() {
		c.errorf(since.Pos, "", "since is for a flag")
	}
	if since.given() && !version.MatchString(since.Text) {
		c.errorf(since.Pos, "", "since %s is no version such as 0.8.0", quote(since.Text))
	}
}

// names checks for: and gives the term the entry's values are of.
func (c *checker) names(d entryDoc, e *Entry) Term {
	var first Term
	for _, t := range d.For {
		term, ok := c.term(t)
		if !ok {
			continue
		}
		switch group := term.Group(); {
		case group == mountSum:
			c.errorf(t.Pos, "spell it in the each: mount entry, where mounts keep their order", "%s is not spelled by an entry of its own", t.Text)
		case slices.Contains(e.For, t.Text):
			c.errorf(t.Pos, "", "%s stands twice", t.Text)
		case group == "gate":
			e.Gate = true
		case group == "run":
			e.Run = true
		}
		if len(e.For) == 0 {
			first = term
		}
		e.For = append(e.For, t.Text)
	}
	if len(d.For) > 1 && usesValues(d) {
		c.errorf(d.For[1].Pos, "make it two entries", "an entry with values is for one name")
	}
	return first
}

func usesValues(d entryDoc) bool {
	return d.When.given() || slices.ContainsFunc(d.Args, func(a argDoc) bool { return !a.Text.given() })
}

func (c *checker) each(d entryDoc, e *Entry) {
	if d.Each.Text != mountSum {
		c.errorf(d.Each.Pos, "", "each is for mount, not for %s", quote(d.Each.Text))
		return
	}
	e.Each = d.Each.Text
	e.Spell = c.spellings(d.Spell)
	if len(d.Spell.Entries) == 0 {
		c.errorf(d.At, "", "an each entry spells no kind")
	}
}

// spellings reads how kinds of mount are spelled.
func (c *checker) spellings(t table[oneEntryOrMore]) []Spelling {
	var out []Spelling
	kinds := below(mountSum)
	for _, r := range t.Entries {
		term, ok := Lookup(mountSum + "." + r.Key)
		if !ok {
			if n := nearest(r.Key, kinds); n != "" {
				c.wanted[mountSum+"."+n] = true
			}
			c.errorf(r.Pos, suggest(r.Key, kinds), "there is no kind of mount %s", quote(r.Key))
			continue
		}
		s := Spelling{Pos: r.Pos, Name: term.Name, Kind: r.Key}
		bound := false
		for _, sd := range r.Value {
			if one, ok := c.spelling(sd, term); ok {
				s.Entries = append(s.Entries, one)
			}
			bound = bound || len(sd.API) > 0
		}
		if c.b.Kind == KindEngine && !bound {
			c.errorf(r.Pos, unbound, "%s is in the words but in no field of the create request", term.Name)
		}
		out = append(out, s)
	}
	return out
}

// respell puts a spec's own spellings of kinds of mount in the place of its base's.
func (c *checker) respell(met map[string]Feature) {
	d := &c.doc.Dialect
	at := slices.IndexFunc(c.b.Words, func(e Entry) bool { return e.Each == mountSum })
	switch {
	case !c.extending() || d.Words != nil:
		c.errorf(d.Spell.At, "write it in the each: mount entry of the words", "spell is for an extending spec that keeps its base's words")
		return
	case at < 0:
		c.errorf(d.Spell.At, "", "the base spells no kind of mount")
		return
	}
	c.needs(d.Spell.At, "dialect.spell", "other words than the base's", d.Because)
	e := c.b.Words[at]
	e.Spell = slices.Clone(e.Spell)
	for _, s := range c.spellings(d.Spell) {
		delete(met, s.Name) // the base met it another way
		if i := slices.IndexFunc(e.Spell, func(o Spelling) bool { return o.Name == s.Name }); i >= 0 {
			e.Spell[i] = s
		} else {
			e.Spell = append(e.Spell, s)
		}
	}
	c.b.Words[at] = e
}

func (c *checker) spelling(d spelledDoc, term Term) (Entry, bool) {
	before := len(c.list)
	e := Entry{Pos: d.At, For: []string{term.Name}, Flag: d.Flag.Text, Since: d.Since.Text}
	if !d.Flag.given() && len(d.Args) == 0 && len(d.API) == 0 {
		c.errorf(d.At, "a flag, args or api", "the entry says nothing")
	}
	c.flag(d.Flag, d.Since)
	e.When = c.when(d.When, term)
	for _, a := range d.Args {
		e.Args = append(e.Args, c.arg(a, term, false))
	}
	e.API = c.bindings(d.API, term, e)
	c.private(&e)
	return e, len(c.list) == before
}

// when checks a condition: it can only be on a value that may be absent.
func (c *checker) when(t Text, term Term) string {
	if !t.given() {
		return ""
	}
	v, ok := c.value(t, term)
	if ok && !v.Optional {
		c.errorf(t.Pos, "", "%s of %s is always there; when is for a value that can be zero", t.Text, term.Name)
	}
	return v.Name
}

func (c *checker) value(t Text, term Term) (Value, bool) {
	if term.Name == "" {
		c.errorf(t.Pos, "write {text: …} for a constant", "%s is a value, and the entry is for no vocabulary name that would have it", quote(t.Text))
		return Value{}, false
	}
	v, ok := term.Value(t.Text)
	if !ok {
		var names []string
		for _, v := range term.Values {
			names = append(names, v.Name)
		}
		hint := term.Name + " has no values; write {text: …} for a constant"
		if len(names) > 0 {
			hint = suggest(t.Text, names)
		}
		c.errorf(t.Pos, hint, "%s has no value %s", term.Name, quote(t.Text))
	}
	return v, ok
}

// arg checks one argument; only an engine field may be a truth value, and only a word can be comma-separated.
func (c *checker) arg(d argDoc, term Term, field bool) Arg {
	a := Arg{Pos: d.At}
	switch {
	case d.Value.given():
		a.Kind = ArgValue
		a.Value, _ = c.value(d.Value, term)
	case d.Text.given():
		a.Kind, a.Text = ArgText, d.Text.Text
	case d.Bool.given():
		a.Kind, a.Bool = ArgBool, d.Bool.Value
		if !field {
			c.errorf(d.At, "write {text: …}", "a truth value is for an engine field, not for a word")
		}
	case d.Join != nil:
		a.Kind = ArgJoin
		for _, p := range d.Join {
			piece := Piece{Pos: p.At, Text: p.Text.Text, When: c.when(p.When, term)}
			if p.Value.given() {
				piece.Value, _ = c.value(p.Value, term)
			}
			a.Pieces = append(a.Pieces, piece)
		}
	case d.CSV != nil:
		a.Kind = ArgCSV
		if field {
			c.errorf(d.At, "", "comma-separated values are for a word, not for an engine field")
		}
		for _, f := range d.CSV {
			a.Fields = append(a.Fields, c.csvField(f, term))
		}
	}
	return a
}

func (c *checker) csvField(d fieldDoc, term Term) CSVField {
	f := CSVField{Pos: d.At, Text: d.Text.Text, Name: d.Name.Text, When: c.when(d.When, term)}
	switch {
	case d.Text.given() == d.Value.given():
		c.errorf(d.At, "", "a field is a text, or a name and a value")
	case d.Value.given():
		f.Value, _ = c.value(d.Value, term)
		if !strings.HasSuffix(f.Name, "=") {
			c.errorf(d.At, "", "the name of a field ends in =")
		}
	case d.Name.given():
		c.errorf(d.Name.Pos, "", "a field with a text has no name")
	}
	if strings.ContainsAny(f.Text+f.Name, ",\"\n") {
		c.errorf(d.At, "", "a field's own text holds no comma, quote or line break")
	}
	return f
}

// private marks an entry whose words hold a value that can be a credential, and refuses it where they would stand in an argv.
func (c *checker) private(e *Entry) {
	for _, a := range e.Args {
		if a.private() {
			e.Private = true
			if p := c.b.Program; p == nil || p.Arguments != ArgumentsDescriptor || slices.Contains(e.For, "command") {
				c.errorf(a.Pos, "give the name alone and let the value go by the launcher's environment or the API, or set program.arguments: descriptor",
					"the value of %s can be a credential and would stand in the argument vector", e.For[0])
			}
		}
	}
}

func (a Arg) private() bool {
	return a.Value.Private || slices.ContainsFunc(a.Pieces, func(p Piece) bool { return p.Value.Private }) ||
		slices.ContainsFunc(a.Fields, func(f CSVField) bool { return f.Value.Private })
}

// silent reports an engine's entry that the API would not see: the words would say it and the container would not have it.
func (c *checker) silent(e Entry, d entryDoc) {
	if c.b.Kind == KindEngine && len(e.For) > 0 && len(d.API) == 0 {
		c.errorf(d.At, unbound, "%s is in the words but in no field of the create request", e.For[0])
	}
}

const unbound = "name the field with api:, or say api: room where the engine's room sets it"

// bindings checks the engine fields of an entry.
func (c *checker) bindings(ds apiDocs, term Term, e Entry) []Binding {
	var out []Binding
	for _, d := range ds {
		if d.room {
			continue
		}
		if c.b.Kind != KindEngine {
			c.errorf(d.At, "leave it out", "only kind engine has an api")
			continue
		}
		b := Binding{Pos: d.At, Path: d.Path.Text, Op: OpSet}
		if d.Path.given() && !fieldPath.MatchString(b.Path) {
			c.errorf(d.Path.Pos, "", "api path %s is not exported names with dots, as HostConfig.PidsLimit", quote(b.Path))
		}
		if d.Value != nil && d.Append != nil {
			c.errorf(d.At, "", "an api field is set by value or by append, not by both")
		}
		if d.Key != nil {
			k := c.arg(*d.Key, term, true)
			b.Key, b.Op = &k, OpKey
		}
		switch {
		case d.Append != nil:
			v := c.apiValue(*d.Append, term)
			b.Value, b.Op = &v, OpAppend
			if d.Key != nil {
				b.Op = OpKeyAdd
			}
		case d.Value != nil:
			v := c.apiValue(*d.Value, term)
			b.Value = &v
		case d.Key != nil:
		case len(e.Args) == 0:
			b.Value = &APIValue{Pos: d.At, Arg: &Arg{Pos: d.At, Kind: ArgBool, Bool: true}}
		case len(e.Args) == 1 && e.Args[0].Kind != ArgCSV:
			b.Value = &APIValue{Pos: d.At, Arg: &e.Args[0]}
		default:
			c.errorf(d.At, "write value:", "which of the arguments the api field gets is not said")
		}
		out = append(out, b)
	}
	return out
}

func (c *checker) apiValue(d valueDoc, term Term) APIValue {
	v := APIValue{Pos: d.At}
	if d.Fields == nil {
		if d.Arg != nil {
			a := c.arg(*d.Arg, term, true)
			v.Arg = &a
		}
		return v
	}
	for _, r := range d.Fields.Entries {
		if !fieldName.MatchString(r.Key) {
			c.errorf(r.Pos, "", "%s is no exported field name", quote(r.Key))
		}
		v.Fields = append(v.Fields, APIField{r.Pos, r.Key, c.apiValue(r.Value, term)})
	}
	return v
}
