package spec

import (
	"slices"
	"sort"
	"strings"
)

// covers reports whether a name, or a group written as NAME.*, stands for a vocabulary name.
func covers(written, name string) bool {
	group, all := strings.CutSuffix(written, ".*")
	return group == name || all && strings.HasPrefix(name, group+".")
}

// under gives the vocabulary names that a written name stands for.
func under(written string) []string {
	var names []string
	for _, t := range terms {
		if covers(written, t.Name) {
			names = append(names, t.Name)
		}
	}
	return names
}

func termNames() []string {
	names := make([]string, len(terms))
	for i, t := range terms {
		names[i] = t.Name
	}
	return names
}

// term finds a vocabulary name or reports it as unknown.
func (c *checker) term(t Text) (Term, bool) {
	term, ok := Lookup(t.Text)
	if !ok {
		c.unknown(t.Pos, t.Text)
	}
	return term, ok
}

func (c *checker) unknown(p Position, name string) {
	hint := ""
	if n := nearest(name, termNames()); n != "" {
		c.wanted[n] = true
		hint = "did you mean " + quote(n) + "?"
	} else if inGroup := under(strings.SplitN(name, ".", 2)[0] + ".*"); len(inGroup) > 0 {
		hint = "it is one of " + strings.Join(inGroup, ", ")
	}
	c.errorf(p, hint, "there is no %s in the vocabulary", quote(name))
}

// dialect builds the words, and says of every vocabulary name how it is met.
func (c *checker) dialect() {
	d := &c.doc.Dialect
	c.sentence(d.Because, "because")
	c.missing("dialect", "write one, or extend a built-in spec")
	if d.At.Line == 0 && !c.extending() {
		return
	}
	met := make(map[string]Feature)
	for _, f := range c.b.Features {
		met[f.Name] = f
	}
	if d.Words != nil {
		c.replaceWords(met)
	}
	if d.Spell.given() {
		c.respell(met)
	}
	c.tables(met)
	spelled := c.spelled()
	for name, f := range spelled {
		if old, ok := met[name]; ok && old.How != HowSpelled {
			c.errorf(f.Pos, "", "%s is spelled here and %s on line %d; one of them", name, old.How, old.Pos.Line)
		}
		met[name] = f
	}
	c.descriptorShape()
	c.commandShape()
	names := termNames()
	sort.Strings(names)
	c.b.Features = nil
	for _, name := range names {
		f, ok := met[name]
		if !ok && !c.wanted[name] {
			c.errorf(c.top(), "", "%s is neither spelled, implied nor unsupported", name)
		}
		c.b.Features = append(c.b.Features, f)
	}
	c.reason(d.Because, "dialect")
}

// replaceWords reads a spec's own words in place of a base's.
func (c *checker) replaceWords(met map[string]Feature) {
	d := &c.doc.Dialect
	if c.extending() {
		c.needs(d.At, "dialect.words", "other words than the base's", d.Because)
	}
	for name, f := range met {
		if f.How == HowSpelled {
			delete(met, name)
		}
	}
	c.b.Words = nil
	for _, e := range d.Words {
		entry, ok := c.entry(e)
		if ok {
			c.b.Words = append(c.b.Words, entry)
			continue
		}
		for _, name := range spelledBy(entry) {
			c.wanted[name] = true // it is spelled, if badly
		}
	}
	for _, e := range c.b.Words {
		for _, name := range spelledBy(e) {
			if f, ok := met[name]; ok && f.How != HowSpelled {
				delete(met, name) // the base met it another way
			}
		}
	}
}

func spelledBy(e Entry) []string {
	names := slices.Clone(e.For)
	for _, s := range e.Spell {
		names = append(names, s.Name)
	}
	return names
}

// tables reads by, implied and unsupported. In an extending spec a name given there is met that way from here on, and the base's words for
// it fall.
func (c *checker) tables(met map[string]Feature) {
	d := &c.doc.Dialect
	own := make(map[string]Feature)
	set := func(how How, t table[Text]) {
		for _, r := range t.Entries {
			names := under(r.Key)
			if len(names) == 0 {
				c.unknown(r.Pos, r.Key)
				continue
			}
			for _, name := range names {
				f := Feature{Pos: r.Pos, Name: name, How: how}
				if how == HowBy {
					f.By = c.by(name, r.Value)
				} else {
					c.sentence(r.Value, "the reason of "+name)
					f.Reason = r.Value.Text
				}
				if old, twice := own[name]; twice {
					c.errorf(r.Pos, "", "%s is %s here and %s on line %d; one of them", name, how, old.How, old.Pos.Line)
					continue
				}
				own[name] = f
				c.replace(met, f)
			}
		}
	}
	set(HowBy, d.By)
	set(HowImplied, d.Implied)
	set(HowUnsupported, d.Unsupported)
}

// replace makes f how its name is met; a base's other way falls. Only a refusal is surely no weaker.
func (c *checker) replace(met map[string]Feature, f Feature) {
	old, ok := met[f.Name]
	met[f.Name] = f
	if !ok || !c.extending() {
		return
	}
	if f.How != HowUnsupported && (old.How != f.How || old.By != f.By) {
		c.needs(f.Pos, "dialect "+f.Name, f.Name+" is met in another way than in the base", c.doc.Dialect.Because)
	}
	if old.How == HowSpelled && c.doc.Dialect.Words == nil {
		c.b.Words = without(c.b.Words, f.Name)
	}
}

// without gives words with nothing for name.
func without(words []Entry, name string) []Entry {
	var out []Entry
	for _, e := range words {
		if i := slices.Index(e.For, name); i >= 0 {
			if len(e.For) == 1 {
				continue
			}
			e.For = slices.Delete(slices.Clone(e.For), i, i+1)
		}
		if e.Spell != nil {
			e.Spell = slices.DeleteFunc(slices.Clone(e.Spell), func(s Spelling) bool { return s.Name == name })
		}
		out = append(out, e)
	}
	return out
}

func (c *checker) by(name string, t Text) string {
	p, ok := findPrimitive(t.Text)
	switch {
	case !t.given():
	case !ok || !slices.Contains(p.kinds, c.b.Kind) && c.b.Kind != "":
		known := primitiveNames(c.b.Kind)
		c.errorf(t.Pos, suggest(t.Text, known), "there is no primitive %s for kind %s", quote(t.Text), c.b.Kind)
	case !p.meets(name):
		c.errorf(t.Pos, "", "%s, %s, cannot do %s", p.name, p.sentence, name)
	}
	return t.Text
}

// spelled gives the features that words spell, with their flags.
func (c *checker) spelled() map[string]Feature {
	out := make(map[string]Feature)
	add := func(name string, pos Position, entries ...Entry) {
		f, ok := out[name]
		if !ok {
			f = Feature{Pos: pos, Name: name, How: HowSpelled}
		}
		for _, e := range entries {
			flag := Flag{e.Flag, e.Since}
			if e.Flag != "" && !slices.Contains(f.Flags, flag) {
				f.Flags = append(f.Flags, flag)
			}
		}
		out[name] = f
	}
	for _, e := range c.b.Words {
		for _, name := range e.For {
			add(name, e.Pos, e)
		}
		for _, s := range e.Spell {
			add(s.Name, s.Pos, s.Entries...)
		}
	}
	return out
}

// descriptorShape checks what ArgumentsDescriptor promises.
func (c *checker) descriptorShape() {
	p, words := c.b.Program, c.b.Words
	if p == nil || p.Arguments != ArgumentsDescriptor || len(words) == 0 {
		return
	}
	at := func(e Entry) Position {
		if a := c.doc.Program.Arguments; a.given() {
			return c.here(e.Pos, a.Pos)
		}
		return c.here(e.Pos, c.doc.Dialect.At)
	}
	if !slices.Equal(words[0].For, []string{"gate.args"}) {
		c.errorf(at(words[0]), "", "with program.arguments: descriptor the first of the words is for gate.args")
	}
	if n := len(words); n < 3 || words[n-2].Word != "--" || !slices.Equal(words[n-1].For, []string{"command"}) {
		c.errorf(at(words[n-1]), "", "with program.arguments: descriptor the last two of the words are the word -- and the command")
	}
}

// commandShape checks that the command stands once and at the end, where no flag can be taken for part of it.
func (c *checker) commandShape() {
	words := c.b.Words
	for i, e := range words {
		if slices.Contains(e.For, "command") && e.Pick != PickFirst && i != len(words)-1 {
			c.errorf(words[i+1].Pos, "", "words after the command would be taken for words of the command")
			return
		}
	}
}
