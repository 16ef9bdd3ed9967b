package spec

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzLoad: no text makes Load panic, and it gives a backend or diagnostics, never both or neither. What it gives holds what the model
// promises to the generator.
func FuzzLoad(f *testing.F) {
	for _, name := range Builtins() {
		text, err := BuiltinSource(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	for _, name := range []string{"good/tool.yaml", "good/small.yaml", "good/widened.yaml", "good/text.yaml", "bad/alias-bomb.yaml", "bad/no-yaml.yaml"} {
		text, err := readFixture(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		b, diagnostics := Load("fuzz.yaml", func(name string) ([]byte, error) {
			if name == "fuzz.yaml" {
				return []byte(text), nil
			}
			return nil, errors.New("there is no such file")
		})
		if (b == nil) == (len(diagnostics) == 0) {
			t.Fatalf("a backend (%v) and %d diagnostics", b != nil, len(diagnostics))
		}
		for _, d := range diagnostics {
			if d.Pos.Line < 1 || d.Pos.Column < 1 || d.Message == "" {
				t.Errorf("a diagnostic without a place: %q", d)
			}
			if strings.ContainsRune(d.String(), 0x1b) || !utf8.ValidString(d.String()) {
				t.Errorf("a diagnostic that a terminal would act on: %q", d)
			}
		}
		if b != nil {
			promised(t, b)
		}
	})
}

// promised checks what the generator relies on.
func promised(t *testing.T, b *Backend) {
	t.Helper()
	if bad := badPackage(b.Name); bad != "" {
		t.Errorf("backend %q %s", b.Name, bad)
	}
	if len(b.Features) != len(terms) {
		t.Errorf("%d features, want %d", len(b.Features), len(terms))
	}
	for _, f := range b.Features {
		if f.Name == "" || f.How == "" {
			t.Errorf("a feature is not answered: %+v", f)
		}
	}
	for _, e := range b.Words {
		if e.Pos.Line < 1 || strings.ContainsRune(e.Word+e.Flag, 0) {
			t.Errorf("entry %+v", e)
		}
	}
	if b.Policy.Network.Default == "" || len(b.Lifecycle.Stop) == 0 {
		t.Error("the policy or lifecycle is not whole")
	}
}
