package findings_test

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	_ "github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif" // carries the published schema
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/sbxkit/sbxkit/analyzers"
	"github.com/sbxkit/sbxkit/analyzers/findings"
	"github.com/sbxkit/sbxkit/analyzers/unit"
)

// schema returns the published schema of SARIF 2.1.0, which the go-sarif module holds in an unexported constant.
func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.Dir}}", "github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif").Output()
	if err != nil {
		t.Fatalf("finding the schema: %v", err)
	}
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(strings.TrimSpace(string(out)), "schema.go"), nil, 0)
	if err != nil {
		t.Fatalf("reading the schema: %v", err)
	}
	var text string
	ast.Inspect(f, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING && len(lit.Value) > len(text) {
			text = lit.Value
		}
		return true
	})
	if text, err = strconv.Unquote(text); err != nil {
		t.Fatalf("reading the schema: %v", err)
	}
	if !strings.Contains(text, "sarif") || len(text) < 50000 {
		t.Fatalf("that is not the schema: %.200s", text)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatalf("reading the schema: %v", err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("sarif.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("sarif.json")
	if err != nil {
		t.Fatalf("compiling the schema: %v", err)
	}
	return s
}

func sample(t *testing.T) (root string, list []findings.Finding) {
	t.Helper()
	root = t.TempDir()
	file := filepath.Join(root, "a dir", "ünï.go")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("package a\n\nvar é = f(\"docker\")\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	d := func(posn, end string) unit.Diagnostic {
		return unit.Diagnostic{Category: "backendexec", Posn: posn, End: end, Message: "starts \"docker\" <here>"}
	}
	full := d(file+":3:10", file+":3:12")
	full.Related = []unit.Related{{Posn: "/elsewhere/b.go:7:1", End: "/elsewhere/b.go:7:1", Message: "through b.Run"}}
	full.SuggestedFixes = []unit.SuggestedFix{{Message: "Mend it", Edits: []unit.TextEdit{{Filename: file, Start: 3, End: 5, New: "x"}}}}
	list = []findings.Finding{
		{Unit: "m/a", Rule: "backendexec", Diagnostic: full, Pos: findings.Position{File: file, Line: 3, Column: 10}},
		{Unit: "m/a", Rule: "rawshell", Diagnostic: d(file+":3", file+":3"), Pos: findings.Position{File: file, Line: 3}},
	}
	return root, list
}

func TestSARIFIsValidByThePublishedSchema(t *testing.T) {
	s := schema(t)
	root, list := sample(t)
	for _, tt := range []struct {
		name string
		list []findings.Finding
	}{{"findings", list}, {"none", nil}} {
		t.Run(tt.name, func(t *testing.T) {
			var buf bytes.Buffer
			if err := findings.WriteSARIF(&buf, root, analyzers.All(), tt.list); err != nil {
				t.Fatal(err)
			}
			doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(buf.Bytes()))
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Validate(doc); err != nil {
				t.Errorf("not valid: %v\n%s", err, buf.String())
			}
		})
	}
	// The validation can fail.
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(`{"version": "2.1.0", "runs": [{"results": []}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if s.Validate(doc) == nil {
		t.Error("a log without a tool passes")
	}
}

func TestSARIFSaysWhereAndWhy(t *testing.T) {
	root, list := sample(t)
	var buf bytes.Buffer
	if err := findings.WriteSARIF(&buf, root, analyzers.All(), list); err != nil {
		t.Fatal(err)
	}
	var log struct {
		Runs []struct {
			Tool struct {
				Driver struct {
					Rules []struct{ ID, HelpURI string }
				}
			}
			Results []struct {
				RuleID    string
				RuleIndex int
				Locations []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI, URIBaseID string }
						Region           struct{ StartLine, StartColumn, EndColumn int }
					}
				}
				RelatedLocations []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI, URIBaseID string }
					}
				}
				PartialFingerprints map[string]string
			}
		}
	}
	if err := json.Unmarshal(buf.Bytes(), &log); err != nil {
		t.Fatal(err)
	}
	run := log.Runs[0]
	r := run.Results[0]
	loc := r.Locations[0].PhysicalLocation
	if loc.ArtifactLocation.URI != "a%20dir/%C3%BCn%C3%AF.go" || loc.ArtifactLocation.URIBaseID != "%SRCROOT%" {
		t.Errorf("location is %+v", loc.ArtifactLocation)
	}
	// Byte 10 is code point 9: é takes two bytes.
	if loc.Region.StartColumn != 9 || loc.Region.EndColumn != 11 || loc.Region.StartLine != 3 {
		t.Errorf("region is %+v", loc.Region)
	}
	if uri := r.RelatedLocations[0].PhysicalLocation.ArtifactLocation; uri.URI != "file:///elsewhere/b.go" || uri.URIBaseID != "" {
		t.Errorf("related location is %+v", uri)
	}
	if run.Tool.Driver.Rules[r.RuleIndex].ID != r.RuleID {
		t.Errorf("rule index %d is %s, want %s", r.RuleIndex, run.Tool.Driver.Rules[r.RuleIndex].ID, r.RuleID)
	}
	if r.PartialFingerprints["sbxvet/v1"] == run.Results[1].PartialFingerprints["sbxvet/v1"] {
		t.Error("two findings have the same fingerprint")
	}
}

func TestFingerprintsOutliveMovedCode(t *testing.T) {
	root, list := sample(t)
	before := findings.Fingerprints(root, list)
	file := list[0].Pos.File
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("// More.\n\n"+string(data)), 0o644); err != nil {
		t.Fatal(err)
	}
	for i := range list {
		list[i].Pos.Line += 2
	}
	if after := findings.Fingerprints(root, list); after[0] != before[0] {
		t.Errorf("moved from %s to %s", before[0], after[0])
	}
	// The same line and message twice are two findings.
	twice := findings.Fingerprints(root, []findings.Finding{list[0], list[0]})
	if twice[0] == twice[1] {
		t.Error("two findings alike have one fingerprint")
	}
}
