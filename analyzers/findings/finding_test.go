package findings_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/sbxkit/sbxkit/analyzers/findings"
	"github.com/sbxkit/sbxkit/analyzers/unit"
)

func TestParsePosition(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want findings.Position
		ok   bool
	}{
		{"/a/b.go:3:4", findings.Position{File: "/a/b.go", Line: 3, Column: 4}, true},
		{"/a/b.go:3", findings.Position{File: "/a/b.go", Line: 3}, true},
		{`C:\a\b.go:3:4`, findings.Position{File: `C:\a\b.go`, Line: 3, Column: 4}, true},
		{"/a:1/b.go:3:4", findings.Position{File: "/a:1/b.go", Line: 3, Column: 4}, true},
		{"-", findings.Position{}, false},
	} {
		got, err := findings.ParsePosition(tt.in)
		if got != tt.want || (err == nil) != tt.ok {
			t.Errorf("ParsePosition(%q) = %+v, %v", tt.in, got, err)
		}
	}
}

func TestReadOrdersAndDropsRepetitions(t *testing.T) {
	one := `{"m/b [m/b.test]": {"r": [{"posn": "/b.go:9:1", "end": "/b.go:9:1", "message": "y"}, {"posn": "/b.go:2:1", "end": "/b.go:2:1", "message": "x"}]}}`
	two := `{"m/b": {"r": [{"posn": "/b.go:2:1", "end": "/b.go:2:1", "message": "x"}]}, "m/a": {"r": [{"posn": "/a.go:1:1", "end": "/a.go:1:1", "message": "z"}]}}`
	for _, in := range []string{one + "\n" + two, two + "\n" + one} {
		list, err := findings.Read(strings.NewReader(in))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range list {
			got = append(got, f.Posn+" "+f.Message)
		}
		want := []string{"/a.go:1:1 z", "/b.go:2:1 x", "/b.go:9:1 y"}
		if !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
}

func TestReadRefusesWhatIsNoTree(t *testing.T) {
	for _, in := range []string{"not json", `{"m": {"r": {"error": "it broke"}}}`, `{"m": {"r": [{"posn": "nowhere"}]}}`} {
		if _, err := findings.Read(strings.NewReader(in)); err == nil {
			t.Errorf("no error for %s", in)
		}
	}
}

func TestFixLeavesOverlappingFixesForTheNextRun(t *testing.T) {
	src := "package a\n\nvar x = 1\n"
	at := strings.Index(src, "1")
	fix := func(start, end int, text string) findings.Finding {
		var f findings.Finding
		f.SuggestedFixes = []unit.SuggestedFix{{Edits: []unit.TextEdit{{Filename: "a.go", Start: start, End: end, New: text}}}}
		return f
	}
	list := []findings.Finding{fix(at, at+1, "2"), fix(at, at+1, "3"), fix(8, 9, "b"), {}}
	files, remaining, err := findings.Fix(list, func(string) ([]byte, error) { return []byte(src), nil })
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(files["a.go"]), "package b\n\nvar x = 2\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if len(remaining) != 2 {
		t.Errorf("%d findings remain, want 2", len(remaining))
	}
	if _, _, err := findings.Fix([]findings.Finding{fix(100, 101, "")}, func(string) ([]byte, error) { return []byte(src), nil }); err == nil {
		t.Error("an edit past the end of the file is no error")
	}
}
