package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sbxkit/sbxkit/analyzers/findings"
	"github.com/sbxkit/sbxkit/internal/codebase"
)

var (
	runCodebases  = flag.Bool("codebases", false, "run sbxvet on large code bases of others, and hold what it finds to "+judgedPage)
	writeJudgment = flag.Bool("write", false, "with -codebases: write what is found to "+judgedPage+", for somebody to judge")
)

const judgedPage = "../../docs/codebases.md"

// codebases are what this module depends on that is large, starts programs, or makes much use of what is new in the language.
var codebases = []string{
	"github.com/docker/docker", "golang.org/x/tools", "honnef.co/go/tools", "mvdan.cc/sh/v3", "github.com/cilium/ebpf", "golang.org/x/net",
	"golang.org/x/sys", "go.opentelemetry.io/otel", "go.opentelemetry.io/otel/sdk",
}

// The verdicts on a finding: it is what the rule is against; it is, and right where it stands; it is not.
var verdicts = []string{"true", "harmless", "false alarm"}

const unjudged = "?"

// A judgment is a row of the page.
type judgment struct{ rule, where, finding, verdict, why string }

func (j judgment) key() string { return j.rule + " " + j.where + " " + j.finding }

// A chapter is what the page says of one code base.
type chapter struct {
	module, version string
	contents        string // what kinds of code there are
	rows            []judgment
}

const judgedHead = `# What sbxvet finds in the code of others

` + "`make vet-codebases`" + ` runs sbxvet, with every rule and on tests and generated files too, on large modules that this one depends on, and fails
when a finding is not in these tables or one of them is no longer found. Each was read where it stands. *true*: what the rule is against.
*harmless*: that too, but right there, for a program that is not about sandboxes; it would be allowed with this reason. *false
alarm*: not what the rule is against; there is to be none.

`

var (
	chapterLine  = regexp.MustCompile(`^## (\S+) (\S+)$`)
	contentsLine = regexp.MustCompile(`^\d+ packages with `)
)

func readJudgments(data string) (map[string]*chapter, error) {
	out := make(map[string]*chapter)
	var c *chapter
	for n, line := range strings.Split(data, "\n") {
		if m := chapterLine.FindStringSubmatch(line); m != nil {
			c = &chapter{module: m[1], version: m[2]}
			out[c.module] = c
			continue
		}
		if c != nil && contentsLine.MatchString(line) {
			c.contents = line
		}
		if c == nil || !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| rule ") {
			continue
		}
		cells := strings.Split(strings.TrimSuffix(strings.TrimPrefix(line, "| "), " |"), " | ")
		if len(cells) != 5 {
			return nil, fmt.Errorf("line %d has %d cells, want 5", n+1, len(cells))
		}
		c.rows = append(c.rows, judgment{cells[0], cells[1], cells[2], cells[3], cells[4]})
	}
	return out, nil
}

func writeJudgments(chapters map[string]*chapter) string {
	var b strings.Builder
	b.WriteString(judgedHead)
	for i, module := range codebases {
		c := chapters[module]
		if c == nil {
			continue
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "## %s %s\n\n%s\n", c.module, c.version, c.contents)
		if len(c.rows) == 0 {
			b.WriteString("\nNothing is found.\n")
			continue
		}
		b.WriteString("\n| rule | where | finding | verdict | why |\n|---|---|---|---|---|\n")
		for _, r := range c.rows {
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", r.rule, r.where, r.finding, r.verdict, r.why)
		}
	}
	return b.String()
}

// TestEveryFindingIsJudged holds the page to the versions that are required, and each of its rows to a verdict.
func TestEveryFindingIsJudged(t *testing.T) {
	data, err := os.ReadFile(judgedPage)
	if err != nil {
		t.Fatal(err)
	}
	chapters, err := readJudgments(string(data))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := slices.Sorted(maps.Keys(chapters)), slices.Sorted(slices.Values(codebases)); !slices.Equal(got, want) {
		t.Errorf("the page is about %q, want %q", got, want)
	}
	for _, c := range chapters {
		out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Version}}", c.module).Output()
		if err != nil {
			t.Fatalf("go list -m %s: %v", c.module, err)
		}
		if version := strings.TrimSpace(string(out)); version != c.version {
			t.Errorf("the page is about %s %s, and %s is required: make vet-codebases, and judge what is new", c.module, c.version, version)
		}
		for _, r := range c.rows {
			if !slices.Contains(verdicts, r.verdict) || r.why == unjudged || r.why == "" {
				t.Errorf("%s: %s: %s (%s): the verdict is %q because %q, want one of %q with a reason", c.module, r.where, r.finding, r.rule, r.verdict, r.why, verdicts)
			}
		}
	}
}

// TestCodebases runs sbxvet on the code bases and holds what it finds to the page.
func TestCodebases(t *testing.T) {
	if !*runCodebases {
		t.Skip("takes long: make vet-codebases")
	}
	tool := filepath.Join(build(t), "sbxvet")
	data, err := os.ReadFile(judgedPage)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	judged, err := readJudgments(string(data))
	if err != nil {
		t.Fatal(err)
	}
	for _, module := range codebases {
		t.Run(module, func(t *testing.T) {
			b, err := codebase.Lay(t.Context(), module, filepath.Join(t.TempDir(), "base"))
			if err != nil {
				t.Fatal(err)
			}
			if len(b.Without) > 0 {
				t.Errorf("without %q, which do not compile here", b.Without)
			}
			c := &chapter{module: b.Module, version: b.Version}
			if c.contents, err = contents(t.Context(), b); err != nil {
				t.Fatal(err)
			}
			found, err := findingsIn(t.Context(), tool, b)
			if err != nil {
				t.Fatal(err)
			}
			known := make(map[string]judgment)
			if old := judged[module]; old != nil {
				for _, r := range old.rows {
					known[r.key()] = r
				}
			}
			for _, r := range found {
				if j, ok := known[r.key()]; ok {
					r = j
				} else if !*writeJudgment {
					t.Errorf("not judged: %s: %s (%s)", r.where, r.finding, r.rule)
				}
				delete(known, r.key())
				c.rows = append(c.rows, r)
			}
			if !*writeJudgment {
				for _, r := range known {
					t.Errorf("not found any more: %s: %s (%s)", r.where, r.finding, r.rule)
				}
			}
			t.Logf("%d findings; %s", len(found), c.contents)
			if *writeJudgment {
				judged[module] = c
				if err := os.WriteFile(judgedPage, []byte(writeJudgments(judged)), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// findingsIn returns what sbxvet finds in the code base. It is an error when it could not look at all of it.
func findingsIn(ctx context.Context, tool string, b *codebase.Base) ([]judgment, error) {
	cmd := b.Command(ctx, tool, append([]string{"-json"}, b.Packages...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil && cmd.ProcessState.ExitCode() != exitFound {
		return nil, fmt.Errorf("sbxvet: %w\n%s", err, &stderr)
	}
	if stderr.Len() > 0 {
		return nil, fmt.Errorf("sbxvet says\n%s", &stderr)
	}
	list, err := findings.Read(&stdout)
	if err != nil {
		return nil, err
	}
	var out []judgment
	for _, f := range list {
		where := fmt.Sprintf("%s:%d:%d", filepath.ToSlash(findings.Relative(b.Dir, f.Pos.File)), f.Pos.Line, f.Pos.Column)
		text := strings.TrimSuffix(f.Message, " ("+f.Rule+")")
		out = append(out, judgment{f.Rule, where, strings.ReplaceAll(text, "|", "/"), unjudged, unjudged})
	}
	return out, nil
}

// contents counts what kinds of code the packages hold.
func contents(ctx context.Context, b *codebase.Base) (string, error) {
	out, err := b.Command(ctx, "go", append([]string{"list", "-json=Dir,GoFiles,CgoFiles,IgnoredGoFiles,TestGoFiles,XTestGoFiles"}, b.Packages...)...).Output()
	if err != nil {
		return "", fmt.Errorf("listing the files of %s: %w", b.Module, err)
	}
	count := make(map[string]int)
	for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
		var p struct {
			Dir                                                          string
			GoFiles, CgoFiles, IgnoredGoFiles, TestGoFiles, XTestGoFiles []string
		}
		if err := dec.Decode(&p); err != nil {
			return "", fmt.Errorf("listing the files of %s: %w", b.Module, err)
		}
		count["cgo"] += len(p.CgoFiles)
		count["other"] += len(p.IgnoredGoFiles)
		count["tests"] += len(p.TestGoFiles) + len(p.XTestGoFiles)
		for _, name := range slices.Concat(p.GoFiles, p.CgoFiles, p.TestGoFiles, p.XTestGoFiles) {
			count["files"]++
			if err := kinds(filepath.Join(p.Dir, name), count); err != nil {
				return "", err
			}
		}
	}
	return fmt.Sprintf("%d packages with %d files: %d of tests, %d generated, %d with cgo, %d with a build tag (%d more are of other builds); "+
		"%d with generic declarations, %d with type aliases, %d with iterators.", len(b.Packages), count["files"], count["tests"], count["generated"],
		count["cgo"], count["tag"], count["other"], count["generic"], count["alias"], count["iterator"]), nil
}

func kinds(name string, count map[string]int) error {
	f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	has := make(map[string]bool)
	has["generated"] = ast.IsGenerated(f)
	for _, g := range f.Comments {
		for _, c := range g.List {
			has["tag"] = has["tag"] || c.Pos() < f.Package && strings.HasPrefix(c.Text, "//go:build ")
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncType:
			has["generic"] = has["generic"] || n.TypeParams != nil
		case *ast.TypeSpec:
			has["generic"] = has["generic"] || n.TypeParams != nil
			has["alias"] = has["alias"] || n.Assign.IsValid()
		case *ast.ImportSpec:
			has["iterator"] = has["iterator"] || n.Path.Value == `"iter"`
		}
		return true
	})
	for k, is := range has {
		if is {
			count[k]++
		}
	}
	return nil
}
