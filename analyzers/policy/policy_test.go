package policy

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/sbxkit/sbxkit/analyzers/internal/rule"
	"go.yaml.in/yaml/v4"
)

var ruleNames = []string{"backendexec", "rawshell"}

// documents are policies with what Load says of them: "" when it takes them. schema says that a schema can tell, too.
var documents = []struct {
	name, text string
	errs       []string // line:column: part of the message
	unschemed  bool     // only Load can tell
}{
	{name: "nothing", text: ""},
	{name: "a comment", text: "# nothing\n"},
	{name: "null", text: "null\n"},
	{name: "everything", text: `exclude:
  - path: gen/**
    rules: [rawshell, backendexec]
    reason: generated
  - path: a/*_test.go
    reason: "tests"
programs: [nsjail, gvisor]
hostenv: {everywhere: true}
rawshell:
  constants: false
`},
	{name: "empty parts", text: "exclude: []\nprograms: []\nhostenv:\nrawshell: {}\n"},
	{name: "unknown key", text: "exclude: []\nprogams: []\n", errs: []string{`2:1: unknown key "progams" in the policy; the keys are exclude, hostenv, programs, rawshell`}},
	{name: "unknown key below", text: "hostenv:\n  everwhere: true\n", errs: []string{`2:3: unknown key "everwhere" in hostenv; the keys are everywhere`}},
	{name: "unknown key in a path rule", text: "exclude:\n  - path: a\n    reason: b\n    rule: [rawshell]\n", errs: []string{`4:5: unknown key "rule" in a path rule`}},
	{name: "two unknown keys", text: "a: 1\nb: 2\n", errs: []string{`1:1: unknown key "a"`, `2:1: unknown key "b"`}},
	{name: "key of another case", text: "Exclude: []\n", errs: []string{`1:1: unknown key "Exclude"`}},
	{name: "no mapping", text: "- exclude\n", errs: []string{"1:1: the policy must be a mapping"}},
	{name: "a word", text: "exclude\n", errs: []string{"1:1: the policy must be a mapping"}},
	{name: "no list", text: "exclude: {path: a}\n", errs: []string{"1:10: exclude must be a list"}},
	{name: "programs no list", text: "programs: nsjail\n", errs: []string{"1:11: programs must be a list"}},
	{name: "program with a directory", text: "programs: [git, /usr/bin/nsjail]\n", errs: []string{`1:17: program "/usr/bin/nsjail" must be a name`}},
	{name: "program empty", text: "programs: ['']\n", errs: []string{`1:12: program "" must be a name`}},
	{name: "program no text", text: "programs: [[a]]\n", errs: []string{"1:12: an item of programs must be a text"}},
	{name: "path rule no mapping", text: "exclude: [a]\n", errs: []string{"1:11: a path rule must be a mapping"}},
	{name: "no reason", text: "exclude:\n  - path: a\n", errs: []string{"2:5: a path rule needs a reason"}},
	{name: "blank reason", text: "exclude:\n  - path: a\n    reason: '  '\n", errs: []string{"2:5: a path rule needs a reason"}},
	{name: "no path", text: "exclude:\n  - reason: a\n", errs: []string{"2:5: a path rule needs a path"}},
	{name: "absolute path", text: "exclude:\n  - {path: /a, reason: b}\n", errs: []string{`2:12: path "/a" must be relative`}},
	{name: "path outside", text: "exclude:\n  - {path: a/../b, reason: b}\n", errs: []string{`path "a/../b" must be relative`}},
	{name: "backslashes", text: `exclude: [{path: 'a\b', reason: b}]`, errs: []string{`must be relative to the policy's directory, with forward slashes`}},
	{name: "dots in a name", text: "exclude:\n  - {path: a..b, reason: b}\n"},
	{name: "no pattern", text: "exclude:\n  - {path: 'a[', reason: b}\n", errs: []string{`path "a[" is not a valid pattern`}, unschemed: true},
	{name: "unknown rule", text: "exclude:\n  - {path: a, reason: b, rules: [rawshell, nonsense]}\n", errs: []string{`unknown rule "nonsense"; the rules are backendexec, rawshell`}},
	{name: "no rules", text: "exclude:\n  - {path: a, reason: b, rules: []}\n", errs: []string{"an empty list of rules excludes nothing"}},
	{name: "rules no list", text: "exclude:\n  - {path: a, reason: b, rules: rawshell}\n", errs: []string{"rules must be a list"}},
	{name: "no flag", text: "hostenv: {everywhere: 1}\n", errs: []string{`1:23: must be true or false, not "1"`}},
	{name: "flag as a text", text: "rawshell: {constants: 'true'}\n", errs: []string{`1:23: must be true or false`}},
	{name: "key twice", text: "programs: []\nprograms: []\n", errs: []string{`2:1: key "programs" appears twice`}, unschemed: true},
}

func write(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), FileName)
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestLoad(t *testing.T) {
	for _, d := range documents {
		t.Run(d.name, func(t *testing.T) {
			name := write(t, d.text)
			p, err := Load(name, ruleNames)
			if len(d.errs) == 0 {
				if err != nil || p == nil || p.Path != name {
					t.Fatalf("got %+v, %v", p, err)
				}
				return
			}
			if err == nil || p != nil {
				t.Fatalf("took it: %+v, %v", p, err)
			}
			for _, want := range d.errs {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error is %q, want one with %q", err, want)
				}
			}
			var e *Error
			if !errors.As(err, &e) || e.Line < 1 || e.Column < 1 || e.File != name {
				t.Errorf("the error has no position: %+v", e)
			}
			if n := strings.Count(err.Error(), FileName+":"); n != len(d.errs) {
				t.Errorf("%d errors, want %d: %v", n, len(d.errs), err)
			}
		})
	}
}

func TestLoadedValues(t *testing.T) {
	i := slices.IndexFunc(documents, func(d struct {
		name, text string
		errs       []string
		unschemed  bool
	}) bool {
		return d.name == "everything"
	})
	name := write(t, documents[i].text)
	got, err := Load(name, ruleNames)
	if err != nil {
		t.Fatal(err)
	}
	want := &Policy{
		Path: name,
		Exclude: []Exclude{
			{Path: "gen/**", Rules: []string{"rawshell", "backendexec"}, Reason: "generated"},
			{Path: "a/*_test.go", Reason: "tests"},
		},
		Programs:          []string{"nsjail", "gvisor"},
		HostEnvEverywhere: true,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestLoadOfNoPolicy(t *testing.T) {
	if _, err := Load(filepath.Join(t.TempDir(), "absent.yaml"), ruleNames); err == nil || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("absent: %v", err)
	}
	for _, text := range []string{"exclude: [\n", "\t- a\n", "a: &x\nb: *y\n"} {
		if _, err := Load(write(t, text), ruleNames); err == nil || !strings.Contains(err.Error(), "line ") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestSchemaAgreesWithLoad holds the schema that editors get to what Load takes.
func TestSchemaAgreesWithLoad(t *testing.T) {
	data, err := Schema(ruleNames)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("policy.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("policy.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range documents {
		var v any
		if err := yaml.Unmarshal([]byte(d.text), &v); err != nil && !d.unschemed {
			t.Fatalf("%s: %v", d.name, err)
		} else if err != nil {
			continue
		}
		err := schema.Validate(v)
		if want := len(d.errs) == 0 || d.unschemed; (err == nil) != want {
			t.Errorf("%s: the schema says %v", d.name, err)
		}
	}
}

func TestFind(t *testing.T) {
	root := t.TempDir()
	touch := func(names ...string) {
		for _, n := range names {
			n = filepath.Join(root, n)
			if err := os.MkdirAll(filepath.Dir(n), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(n, nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	touch("space/go.work", "space/"+FileName, "space/own/go.mod", "space/own/"+FileName, "space/plain/go.mod", "space/plain/in/x.go",
		"alone/go.mod", "alone/in/"+FileName)
	for dir, want := range map[string]string{
		"space/own":      "space/own/" + FileName,
		"space/plain":    "space/" + FileName,
		"space/plain/in": "space/" + FileName,
		"alone":          "",
		"alone/in":       "", // not beside go.mod
	} {
		got, err := Find(filepath.Join(root, dir))
		if err != nil {
			t.Fatal(err)
		}
		if want != "" {
			want = filepath.Join(root, want)
		}
		if got != want {
			t.Errorf("%s: found %q, want %q", dir, got, want)
		}
	}
}

func TestApply(t *testing.T) {
	t.Cleanup(func() { rule.Configure(rule.Settings{}) })
	Apply(nil)
	if got := rule.Current().ProgramNames(); !slices.Equal(got, rule.DefaultPrograms()) || len(got) == 0 {
		t.Errorf("without a policy: %v", got)
	}
	Apply(&Policy{Path: "/m/" + FileName, Programs: []string{"aaa", "docker"}, ConstantShell: true,
		Exclude: []Exclude{{Path: "gen/**", Rules: []string{"rawshell"}, Reason: "r"}}})
	s := rule.Current()
	names := s.ProgramNames()
	if names[0] != "aaa" || !slices.IsSorted(names) || len(names) != len(rule.DefaultPrograms())+1 {
		t.Errorf("programs are %v", names)
	}
	if s.Root != "/m" || !s.ConstantShell || s.HostEnvEverywhere || len(s.Exclude) != 1 || s.Exclude[0].Pattern != "gen/**" {
		t.Errorf("settings are %+v", s)
	}
}
