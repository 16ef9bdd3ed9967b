package gen

import (
	"maps"
	"slices"
	"testing"

	"github.com/sbxkit/sbxkit/spec"
)

func TestEveryNameIsCarriedByARequestOrCannotBeSpelled(t *testing.T) {
	known := map[string]bool{}
	for _, term := range spec.Vocabulary() {
		known[term.Name] = true
		s, carried := subjects[term.Name]
		if carried == unspeakable[term.Name] {
			t.Errorf("%s: carried by a request is %v, impossible to spell is %v; exactly one has to hold", term.Name, carried, unspeakable[term.Name])
			continue
		}
		if !carried {
			continue
		}
		var want []string
		for _, v := range term.Values {
			want = append(want, v.Name)
		}
		slices.Sort(want)
		if got := slices.Sorted(maps.Keys(s.values)); !slices.Equal(got, want) {
			t.Errorf("%s: values %v, the vocabulary has %v", term.Name, got, want)
		}
		if term.Repeats() != (s.list != "") && term.Group() != "mount" {
			t.Errorf("%s: repeats is %v, its list %q", term.Name, term.Repeats(), s.list)
		}
	}
	for name := range subjects {
		if !known[name] {
			t.Errorf("%s is not in the vocabulary", name)
		}
	}
	for name := range unspeakable {
		if !known[name] {
			t.Errorf("%s is not in the vocabulary", name)
		}
	}
}

// Every name, spelled with all its values and under every of its conditions, gives code that compiles.
func TestEveryNameCompilesWhenSpelled(t *testing.T) {
	imported := load(t)
	for _, term := range spec.Vocabulary() {
		if unspeakable[term.Name] {
			continue
		}
		t.Run(term.Name, func(t *testing.T) {
			b := sample()
			private := false
			e := spec.Entry{Pos: at(9), For: []string{term.Name}, Flag: "--flag"}
			join := spec.Arg{Kind: spec.ArgJoin, Pieces: []spec.Piece{{Text: "all="}}}
			csv := spec.Arg{Kind: spec.ArgCSV, Fields: []spec.CSVField{{Text: "all"}}}
			for _, v := range term.Values {
				private = private || v.Private
				e.Args = append(e.Args, spec.Arg{Kind: spec.ArgValue, Value: v})
				join.Pieces = append(join.Pieces, spec.Piece{Value: v})
				csv.Fields = append(csv.Fields, spec.CSVField{Name: v.Name + "=", Value: v})
			}
			e.Private = private
			e.Args = append(e.Args, join)
			if !private {
				e.Args = append(e.Args, csv)
			}
			entries := []spec.Entry{e}
			for _, v := range term.Values {
				if v.Optional {
					entries = append(entries, spec.Entry{Pos: at(9), For: []string{term.Name}, When: v.Name, Flag: "--given"})
				}
			}
			if term.Group() == "mount" {
				kind := term.Name[len("mount."):]
				entries = []spec.Entry{{Pos: at(9), Each: "mount", Spell: []spec.Spelling{{Name: term.Name, Kind: kind, Entries: entries}}}}
			}
			b.Words = entries
			if _, err := generate(b, Options{Out: "generated", Plans: DefaultPlans}, imported); err != nil {
				t.Error(err)
			}
		})
	}
}
