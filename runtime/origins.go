package runtime

import (
	"strconv"
	"strings"
)

// Origins collects an argv with where each word comes from. It takes the same calls as Words, so that a generated explain reads like
// the argv builder it explains: From names the origin of the words that follow.
//
// The zero value is ready for use. It is not safe for concurrent use and must not be copied after use.
type Origins struct {
	Words
	explained []Word
	from      Word
}

// From names the origin of the words added from here on: the spec's file:line, the vocabulary name (empty for a constant word) and the
// field of the launch or policy that asked for it.
func (o *Origins) From(spec, name, field string) {
	o.settle()
	o.from = Word{Spec: spec, For: name, Field: field}
}

// FromItem is From for one item of a list: field is followed by its index in brackets.
func (o *Origins) FromItem(spec, name, field string, index int) {
	o.From(spec, name, field+"["+strconv.Itoa(index)+"]")
}

// FromGate is From for words of the seam's own start gate.
func (o *Origins) FromGate(spec, name string) {
	o.From(spec, name, "")
	o.from.Gate = true
}

// FromRun is From for words that name this one run.
func (o *Origins) FromRun(spec, name, field string) {
	o.From(spec, name, field)
	o.from.Run = true
}

// Value ends the word being composed with the value of v: a private value is replaced by a reference to the variable of that name.
func (o *Origins) Value(v Variable) {
	if v.Public {
		o.Text(v.Value).End()
		return
	}
	o.private(v.Reference())
}

// Secret ends the word being composed with the value of a credential that is delivered as the variable name: always a reference.
func (o *Origins) Secret(name string) { o.private(Variable{Name: name}.Reference()) }

// private ends the word being composed with reference, which the reader's shell expands; what stands before it is quoted for that shell.
func (o *Origins) private(reference string) {
	o.End()
	o.settle()
	last := &o.explained[len(o.explained)-1]
	if last.Text != "" {
		last.Text = ShellQuote(last.Text)
	}
	last.Text += reference
	last.Private = true
}

// Explained gives the words with their origins.
func (o *Origins) Explained() []Word {
	o.settle()
	return o.explained
}

// settle gives the words added since the last call the current origin.
func (o *Origins) settle() {
	for _, text := range o.List()[len(o.explained):] {
		w := o.from
		w.Text = text
		o.explained = append(o.explained, w)
	}
}

// Field says where the variable comes from, as Word.Field has it.
func (v Variable) Field() string {
	role, credential := strings.CutPrefix(v.Origin, "credential ")
	switch {
	case credential:
		return CredentialGrant{Role: role}.Field()
	case v.Origin == "launch":
		return "launch.Env[" + v.Name + "]"
	case v.Origin == "forward":
		return "policy.environment.forward[" + v.Name + "]"
	case v.Origin == "policy":
		return "policy.environment.set[" + v.Name + "]"
	default:
		return v.Origin
	}
}

// Reserved is true for the seam's own labels.
func (l Label) Reserved() bool {
	return strings.HasPrefix(l.Name, LabelPrefix)
}

// Field says where the credential comes from, as Word.Field has it.
func (c CredentialGrant) Field() string { return "launch.Credentials[" + c.Role + "]" }

// CommandField is the field of the launch that the command's words come from.
func (r *Request) CommandField() string {
	if r.Script != nil {
		return "launch.Script"
	}
	return "launch.Argv"
}
