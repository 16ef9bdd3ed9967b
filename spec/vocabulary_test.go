package spec

import (
	"slices"
	"strings"
	"testing"
)

func TestEveryTermIsWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, term := range Vocabulary() {
		if seen[term.Name] {
			t.Errorf("%s stands twice", term.Name)
		}
		seen[term.Name] = true
		if !strings.HasSuffix(term.Sentence, ".") || strings.Contains(term.Sentence, "\n") {
			t.Errorf("%s has no sentence: %q", term.Name, term.Sentence)
		}
		seam := term.Group() == "run" || term.Group() == "gate"
		if (term.Field == "") != seam {
			t.Errorf("%s: the launch's field is %q", term.Name, term.Field)
		}
		if term.Shape == ShapeSum && !strings.Contains(term.Name, ".") {
			t.Errorf("%s is a choice of no sum", term.Name)
		}
		for i, v := range term.Values {
			if v.Name == "" || v.Format == "" || slices.ContainsFunc(term.Values[:i], func(o Value) bool { return o.Name == v.Name }) {
				t.Errorf("%s: value %+v", term.Name, v)
			}
		}
	}
}

func TestVocabularyIsSortedAndTheCallers(t *testing.T) {
	all := Vocabulary()
	if !slices.IsSortedFunc(all, func(a, b Term) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("the vocabulary is not sorted")
	}
	all[0].Name = "changed"
	if Vocabulary()[0].Name == "changed" {
		t.Error("a caller can change the vocabulary")
	}
}

func TestOnlyValuesOfTheEnvironmentArePrivate(t *testing.T) {
	var private []string
	for _, term := range Vocabulary() {
		for _, v := range term.Values {
			if v.Private {
				private = append(private, term.Name+"."+v.Name)
			}
		}
	}
	if want := []string{"credentials.env.value", "environment.value"}; !slices.Equal(private, want) {
		t.Errorf("private are %v, want %v", private, want)
	}
}

func TestNearestName(t *testing.T) {
	for word, want := range map[string]string{
		"limits.outptu": "limits.output", "Hostname": "hostname", "hardening.seccmop": "hardening.seccomp", "wholly-other": "", "": "",
	} {
		if got := nearest(word, termNames()); got != want {
			t.Errorf("nearest to %q is %q, want %q", word, got, want)
		}
	}
}
