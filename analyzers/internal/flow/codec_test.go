package flow

import (
	"bytes"
	"encoding/gob"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
)

// everything is a summary with each part of each type in it.
func everything() *Summary {
	via := []Step{{Name: "run", Full: "example.com/m.run"}, {Name: "(*R).start", Full: "(*example.com/m.R).start"}}
	inner := &Summary{Effects: []Effect{{Kind: StdinUse, What: "os.Stdin", Via: via}}}
	return &Summary{
		Returns: []Value{nil, {{Kind: Unknown}, {Kind: Str, Text: "sh"}}},
		Sinks: []Sink{{Kind: Start, What: "os/exec.Command", Via: via, Vals: []Value{
			{{Kind: Param, N: 1, Path: []string{".Argv", "[0]"}}, {Kind: Param, N: FreeVar + 2}},
			{{Kind: List, Elems: []Value{str("-c", 0), spliceOf(manyOf(unknown()))}}, {Kind: List}},
			{{Kind: Struct, Text: "os/exec.Cmd", Names: []string{"Path"}, Elems: []Value{{{Kind: Int, N: -7}}}, Base: []Value{{{Kind: Nil}}}}},
			{{Kind: Func, Text: "example.com/m.run$1", Elems: []Value{nil}, Sum: inner}},
		}}},
		Effects: []Effect{{Kind: IdentityChecked, What: "os.FindProcess"}},
	}
}

func facts() map[string]analysis.Fact {
	return map[string]analysis.Fact{
		"function":       &FuncFact{sum: everything()},
		"empty function": &FuncFact{sum: &Summary{}},
		"value":          &ValueFact{everything().Sinks[0].Vals[2]},
		"hidden": &HiddenFact{[]HiddenMethod{
			{Type: "m.t", Name: "Run", Full: "(m.t).Run", Methods: []string{"Run", "Stop"}, Summary: *everything()},
			{Type: "m.u", Name: "Run", Full: "(m.u).Run"},
		}},
	}
}

func TestFactsComeBack(t *testing.T) {
	for name, fact := range facts() {
		t.Run(name, func(t *testing.T) {
			// As other drivers do it.
			var stream bytes.Buffer
			if err := gob.NewEncoder(&stream).Encode(fact); err != nil {
				t.Fatal(err)
			}
			got := reflect.New(reflect.TypeOf(fact).Elem()).Interface().(analysis.Fact)
			if err := gob.NewDecoder(&stream).Decode(got); err != nil {
				t.Fatal(err)
			}
			want := fact
			if f, ok := got.(*FuncFact); ok {
				got, want = &FuncFact{sum: f.summary()}, &FuncFact{sum: fact.(*FuncFact).sum}
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("came back as\n%v\n%+v, want\n%v", got, got, want)
			}
			// What was read and not looked at is written as it was.
			first, err := fact.(gob.GobEncoder).GobEncode()
			if err != nil {
				t.Fatal(err)
			}
			again := reflect.New(reflect.TypeOf(fact).Elem()).Interface().(analysis.Fact)
			if err := again.(gob.GobDecoder).GobDecode(first); err != nil {
				t.Fatal(err)
			}
			if second, err := again.(gob.GobEncoder).GobEncode(); err != nil || !bytes.Equal(first, second) {
				t.Errorf("written as %q, then as %q, %v", first, second, err)
			}
		})
	}
}

// TestBrokenFactsAreRefused cuts facts anywhere, and adds to them: none is taken for a smaller one.
func TestBrokenFactsAreRefused(t *testing.T) {
	read := func(fact analysis.Fact, data []byte) (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = p.(error)
			}
		}()
		got := reflect.New(reflect.TypeOf(fact).Elem()).Interface().(analysis.Fact)
		if err := got.(gob.GobDecoder).GobDecode(data); err != nil {
			return err
		}
		if f, ok := got.(*FuncFact); ok {
			f.summary()
		}
		return nil
	}
	for name, fact := range facts() {
		t.Run(name, func(t *testing.T) {
			data, err := fact.(gob.GobEncoder).GobEncode()
			if err != nil {
				t.Fatal(err)
			}
			broken := [][]byte{append(bytes.Clone(data), 0), bytes.Repeat([]byte{0xff}, 20)}
			for n := range data {
				broken = append(broken, data[:n])
			}
			for _, b := range broken {
				if err := read(fact, b); err == nil || !strings.Contains(err.Error(), "cut short") {
					t.Errorf("%q of %q: %v", b, data, err)
				}
			}
		})
	}
	unfinished := []byte{1, byte(loop), 0}
	if err := read(&ValueFact{}, unfinished); err == nil {
		t.Error("a value that was not finished was taken")
	}
}

// TestMapAltsKeepsWhatItDoesNotChange: most of what it is asked about stays as it is, and is then compared by where it is.
func TestMapAltsKeepsWhatItDoesNotChange(t *testing.T) {
	v := everything().Sinks[0].Vals[2]
	same := mapAlts(v, func(Alt) (Value, bool) { return nil, false })
	if &same[0] != &v[0] {
		t.Error("a value without a change was built anew")
	}
	list := Value{{Kind: Unknown}, {Kind: Str, Text: "z"}, {Kind: List, Elems: []Value{str("sh", 0), {{Kind: Param}}}}}
	got := mapAlts(list, func(a Alt) (Value, bool) { return str("-c", 0), a.Kind == Param })
	if want := `?|s"z"|l(s"sh",s"-c",)`; got.String() != want || !strings.Contains(list.String(), "P") {
		t.Errorf("got %v, want %s; the original is %v", got, want, list)
	}
}
