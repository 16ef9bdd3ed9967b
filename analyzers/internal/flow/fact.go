package flow

import "strings"

// A FuncFact is the summary of a function or method. One that was read is understood only when somebody asks for the summary.
type FuncFact struct {
	sum     *Summary
	encoded string // when sum is nil
}

// AFact marks the type as a fact.
func (*FuncFact) AFact() {}

func (f *FuncFact) String() string { return "summary " + f.summary().String() }

// summary panics when the fact cannot be read, which a driver reports as what it is, an internal error: to go on without the fact would be
// to miss findings.
func (f *FuncFact) summary() *Summary {
	if f.sum != nil {
		return f.sum
	}
	r := &reader{s: f.encoded}
	sum := r.summary()
	if err := r.done(); err != nil {
		panic(err)
	}
	return sum
}

// GobEncode implements gob.GobEncoder.
func (f *FuncFact) GobEncode() ([]byte, error) { return appendSummary(nil, f.summary()), nil }

// GobDecode implements gob.GobDecoder.
func (f *FuncFact) GobDecode(data []byte) error {
	f.sum, f.encoded = nil, string(data)
	return nil
}

// A ValueFact is what a package variable or a field may hold.
type ValueFact struct{ Value Value }

// AFact marks the type as a fact.
func (*ValueFact) AFact() {}

func (f *ValueFact) String() string { return "value " + f.Value.String() }

// GobEncode implements gob.GobEncoder.
func (f *ValueFact) GobEncode() ([]byte, error) { return appendValue(nil, f.Value), nil }

// GobDecode implements gob.GobDecoder.
func (f *ValueFact) GobDecode(data []byte) error {
	r := &reader{s: string(data)}
	f.Value = r.value()
	return r.done()
}

// A HiddenFact holds the summaries of the methods of a package's unexported types. An importer cannot name those types, so a fact on
// the method would be lost; it can hold such a value in an interface.
type HiddenFact struct{ Methods []HiddenMethod }

// A HiddenMethod is a method of an unexported type.
type HiddenMethod struct {
	Type    string   // package path and name
	Name    string   // of the method
	Full    string   // full name
	Methods []string // the names of all methods of the type's pointer, sorted
	Summary Summary
}

// AFact marks the type as a fact.
func (*HiddenFact) AFact() {}

func (f *HiddenFact) String() string {
	var names []string
	for _, m := range f.Methods {
		names = append(names, m.Full)
	}
	return "hidden " + strings.Join(names, " ")
}

// GobEncode implements gob.GobEncoder.
func (f *HiddenFact) GobEncode() ([]byte, error) {
	return appendList(nil, f.Methods, func(b []byte, m HiddenMethod) []byte {
		b = appendString(appendString(appendString(b, m.Type), m.Name), m.Full)
		return appendSummary(appendList(b, m.Methods, appendString), &m.Summary)
	}), nil
}

// GobDecode implements gob.GobDecoder.
func (f *HiddenFact) GobDecode(data []byte) error {
	r := &reader{s: string(data)}
	f.Methods = readList(r, func(r *reader) HiddenMethod {
		return HiddenMethod{r.string(), r.string(), r.string(), readList(r, (*reader).string), *r.summary()}
	})
	return r.done()
}
