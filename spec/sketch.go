package spec

import "strings"

// String gives the words of an entry as a person writes them, values in angle brackets: "--ulimit nofile=<soft>:<hard>". What depends on a
// condition stands in square brackets. An entry that is no words but engine fields gives "".
func (e Entry) String() string {
	var parts []string
	switch {
	case e.Word != "":
		parts = append(parts, e.Word)
	case e.Flag != "":
		parts = append(parts, e.Flag)
	case e.Each != "":
		return "each " + e.Each
	}
	for _, a := range e.Args {
		parts = append(parts, a.String())
	}
	text := strings.Join(parts, " ")
	if term, ok := e.Term(); ok && (term.Repeats() && e.Pick != PickFirst) {
		text += " …"
	}
	if e.When != "" {
		text = "[" + text + "]"
	}
	return text
}

// String gives the argument with values in angle brackets.
func (a Arg) String() string {
	var b strings.Builder
	part := func(text string, v Value, when string) {
		if when != "" {
			b.WriteByte('[')
		}
		b.WriteString(text)
		if v.Name != "" {
			b.WriteString("<" + v.Name + ">")
		}
		if when != "" {
			b.WriteByte(']')
		}
	}
	switch a.Kind {
	case ArgValue:
		part("", a.Value, "")
	case ArgText:
		part(a.Text, Value{}, "")
	case ArgBool:
		if a.Bool {
			return "true"
		}
		return "false"
	case ArgJoin:
		for _, p := range a.Pieces {
			part(p.Text, p.Value, p.When)
		}
	case ArgCSV:
		for i, f := range a.Fields {
			text := f.Text + f.Name
			if i > 0 {
				text = "," + text
			}
			part(text, f.Value, f.When)
		}
	}
	return b.String()
}
