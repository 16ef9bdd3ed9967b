package analyzers_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sbxkit/sbxkit/analyzers"
	"github.com/sbxkit/sbxkit/analyzers/policy"
	"golang.org/x/tools/go/analysis"
)

var update = flag.Bool("update", false, "write docs/vet anew")

const pages = "../docs/vet"

// TestPagesAreWhatTheRulesSay keeps docs/vet equal to the rules' doc comments. Run it with -update after changing one.
func TestPagesAreWhatTheRulesSay(t *testing.T) {
	want := map[string]string{"README.md": index(analyzers.All())}
	for _, a := range analyzers.All() {
		want[a.Name+".md"] = page(a)
	}
	want["policy.schema.json"] = schema(t)
	if *update {
		if err := os.MkdirAll(pages, 0o755); err != nil {
			t.Fatal(err)
		}
		for name, text := range want {
			if err := os.WriteFile(filepath.Join(pages, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, text := range want {
		got, err := os.ReadFile(filepath.Join(pages, name))
		if err != nil {
			t.Errorf("%v; run: go test ./analyzers -run Pages -update", err)
			continue
		}
		if diff := cmp.Diff(text, string(got)); diff != "" {
			t.Errorf("%s is stale; run: go test ./analyzers -run Pages -update\n%s", name, diff)
		}
	}
	names, err := filepath.Glob(filepath.Join(pages, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		if base := filepath.Base(n); want[base] == "" {
			t.Errorf("%s is the page of no rule; remove it", base)
		}
	}
}

// TestEveryPageHasItsParts holds every rule to what a page must tell.
func TestEveryPageHasItsParts(t *testing.T) {
	for _, a := range analyzers.All() {
		t.Run(a.Name, func(t *testing.T) {
			if !strings.HasPrefix(a.Doc, a.Name+": ") {
				t.Errorf("the doc does not start with %q", a.Name+": ")
			}
			for _, part := range []string{"\nBad:\n", "\nGood", "# How to allow it", "# What it cannot see"} {
				if !strings.Contains(a.Doc, part) {
					t.Errorf("the doc has no part %q", strings.TrimSpace(part))
				}
			}
			if !strings.HasSuffix(a.URL, "/docs/vet/"+a.Name+".md") {
				t.Errorf("URL is %q", a.URL)
			}
		})
	}
}

// TestEveryRulePinsWhatItCannotSee holds every rule to a package of violations that it is silent about: the proof of that part of its page.
// Whoever makes a rule see more moves the case out of it.
func TestEveryRulePinsWhatItCannotSee(t *testing.T) {
	for _, a := range analyzers.All() {
		if a.Name == "allow" {
			continue // it looks at comments alone
		}
		files, err := filepath.Glob(filepath.Join(a.Name, "testdata", "src", "unseen", "*.go"))
		if err != nil || len(files) == 0 {
			t.Errorf("%s has no testdata/src/unseen (%v)", a.Name, err)
		}
		test, err := os.ReadFile(filepath.Join(a.Name, a.Name+"_test.go"))
		if err != nil || !strings.Contains(string(test), `"unseen"`) {
			t.Errorf("the test of %s leaves unseen out (%v)", a.Name, err)
		}
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil || strings.Contains(string(text), "// want") {
				t.Errorf("%s wants a finding (%v)", name, err)
			}
		}
	}
}

func schema(t *testing.T) string {
	t.Helper()
	var names []string
	for _, a := range analyzers.All() {
		names = append(names, a.Name)
	}
	data, err := policy.Schema(names)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func index(rules []*analysis.Analyzer) string {
	var b strings.Builder
	b.WriteString("# The rules of sbxvet\n\n<!-- Made from the rules' doc comments by go test ./analyzers -update. Do not edit. -->\n\n| rule | reports |\n|---|---|\n")
	for _, a := range rules {
		title, _, _ := strings.Cut(a.Doc, "\n")
		fmt.Fprintf(&b, "| [%[1]s](%[1]s.md) | %[2]s |\n", a.Name, strings.TrimPrefix(title, a.Name+": "))
	}
	b.WriteString("\nWhat `.sbxvet.yaml` may say is in [policy.schema.json](policy.schema.json); `sbxvet -schema` prints it.\n")
	return b.String()
}

// page renders the doc comment as Markdown: its headings one level down, its indented blocks fenced.
func page(a *analysis.Analyzer) string {
	var b strings.Builder
	title, body, _ := strings.Cut(a.Doc, "\n")
	fmt.Fprintf(&b, "# %s\n\n<!-- Made from analyzers/%[1]s/doc.go by go test ./analyzers -update. Do not edit. -->\n\n%s.\n", a.Name, capital(strings.TrimPrefix(title, a.Name+": ")))
	lines := strings.Split(body, "\n")
	code := false
	for i, line := range lines {
		indented := strings.HasPrefix(line, "\t")
		if indented && !code {
			b.WriteString("```go\n")
			code = true
		}
		if code && !indented && (line != "" || i+1 == len(lines) || !strings.HasPrefix(lines[i+1], "\t")) {
			b.WriteString("```\n")
			code = false
		}
		switch {
		case code:
			line = strings.TrimPrefix(line, "\t")
		case strings.HasPrefix(line, "# "):
			line = "#" + line
		}
		b.WriteString(line + "\n")
	}
	if code {
		b.WriteString("```\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
