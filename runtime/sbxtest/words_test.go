package sbxtest

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sbxkit/sbxkit/runtime"
)

func TestDifferFindsWhatAnExplanationGetsWrong(t *testing.T) {
	r := &runtime.Request{
		Command: []string{"true"}, Env: []runtime.Variable{{Name: "TOKEN", Value: privateValue, Origin: "launch"}},
	}
	argv := []string{"tool", "--env", privateValue, "true"}
	right := func() []runtime.Word {
		return []runtime.Word{
			{Text: "tool", Spec: "a:1"}, {Text: "--env", Spec: "a:2"}, {Text: `"${TOKEN?}"`, Spec: "a:2", Private: true}, {Text: "true", Spec: "a:3"},
		}
	}
	if problem := differ(r, argv, right()); problem != "" {
		t.Fatalf("a right explanation: %s", problem)
	}
	for name, tc := range map[string]struct {
		spoil func([]runtime.Word) []runtime.Word
		want  string
	}{
		"too few words": {func(w []runtime.Word) []runtime.Word { return w[1:] }, "argv has 4 words, its explanation 3"},
		"another order": {func(w []runtime.Word) []runtime.Word { w[0], w[1] = w[1], w[0]; return w }, `argv has "tool", its explanation "--env"`},
		"no origin":     {func(w []runtime.Word) []runtime.Word { w[3].Spec = ""; return w }, `word 3, "true", has no place in the spec`},
		"a private word as it is": {
			func(w []runtime.Word) []runtime.Word { w[2].Text = privateValue; return w }, "is private, and is no reference",
		},
		"a private value in a public word": {
			func(w []runtime.Word) []runtime.Word { w[2] = runtime.Word{Text: privateValue, Spec: "a:2"}; return w }, "shows the private value of TOKEN",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := differ(r, argv, tc.spoil(right())); !strings.Contains(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestChangedShowsHowLinesBecameOthers(t *testing.T) {
	for name, tc := range map[string]struct{ old, new, want string }{
		"nothing":   {"a\nb\n", "a\nb\n", ""},
		"replaced":  {"a\nb\nc\n", "a\nx\nc\n", "-b\n+x\n"},
		"added":     {"a\n", "a\nb\n", "+b\n"},
		"from none": {"", "a\n", "+a\n"},
		"moved":     {"a\nb\nc\n", "b\nc\na\n", "-a\n+a\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := changed(tc.old, tc.new); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestArchiveIsReadAsItWasWritten(t *testing.T) {
	want := archive{{"bare", "words:\n  -- not a head\n"}, {"empty", ""}, {"last", "refused: no\n"}}
	file := filepath.Join(t.TempDir(), "plans.txtar")
	if err := want.write(file); err != nil {
		t.Fatal(err)
	}
	got, err := readArchive(file)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSpareKeepsWhatSaysSomething(t *testing.T) {
	got, err := spare(map[string]any{
		"empty": "", "none": nil, "no": false, "zero": 0, "object": map[string]any{"empty": ""}, "list": []int{0, 0},
		"set": map[string]any{"80/tcp": map[string]any{}}, "value": []string{privateValue, ""},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"set":{"80/tcp":{}},"value":["(private)",""]}`
	if compact := strings.NewReplacer(" ", "", "\n", "").Replace(string(got)); compact != want {
		t.Errorf("got %s, want %s", compact, want)
	}
}
