package spec

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fixtures are shared with other packages.
const fixtures = "../testdata/specs"

// loaderOnly is the first line of a bad fixture whose fault a schema cannot know.
const loaderOnly = "# only the loader can know\n"

func readFixture(name string) ([]byte, error) { return fs.ReadFile(os.DirFS(fixtures), name) }

func fixtureNames(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(fixtures, dir, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures in %s: %v", dir, err)
	}
	for i, f := range files {
		files[i] = dir + "/" + filepath.Base(f)
	}
	return files
}

func TestGoodSpecsLoad(t *testing.T) {
	r := resolved(t)
	for _, name := range fixtureNames(t, "good") {
		t.Run(name, func(t *testing.T) {
			if _, diagnostics := Load(name, readFixture); len(diagnostics) > 0 {
				t.Error(diagnostics)
			}
			text, err := readFixture(name)
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Validate(instance(t, text)); err != nil {
				t.Errorf("the schema refuses it: %v", err)
			}
		})
	}
}

func TestBadSpecsSayWhatIsWrongAndWhere(t *testing.T) {
	r := resolved(t)
	names := fixtureNames(t, "bad")
	if len(names) < 40 {
		t.Errorf("%d bad fixtures; at least 40", len(names))
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			b, diagnostics := Load(name, readFixture)
			if b != nil || len(diagnostics) == 0 {
				t.Fatal("it loads")
			}
			if len(diagnostics) != 1 {
				t.Errorf("%d diagnostics for one fault:\n%s", len(diagnostics), diagnostics)
			}
			golden := strings.TrimSuffix(name, ".yaml") + ".err"
			got := []byte(diagnostics.Error() + "\n")
			if *update {
				if err := os.WriteFile(filepath.Join(fixtures, golden), got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := readFixture(golden)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("got\n%swant\n%s", got, want)
			}
			text, err := readFixture(name)
			if err != nil {
				t.Fatal(err)
			}
			if bytes.HasPrefix(text, []byte(loaderOnly)) {
				return
			}
			if r.Validate(instance(t, text)) == nil {
				t.Error("the schema accepts it; say so in its first line where it cannot know better")
			}
		})
	}
}

func TestOversizedSpecIsRefused(t *testing.T) {
	_, diagnostics := Load("big.yaml", func(string) ([]byte, error) { return bytes.Repeat([]byte("# \n"), maxBytes/3+1), nil })
	want := fmt.Sprintf("big.yaml:1:1: the file has %d bytes; a spec has at most 1048576", (maxBytes/3+1)*3)
	if diagnostics.Error() != want {
		t.Errorf("got %q, want %q", diagnostics, want)
	}
}

func TestAllFaultsOfAFileAreReportedInOrder(t *testing.T) {
	_, diagnostics := Load("many.yaml", inMemory(map[string]string{"many.yaml": `sbx: 1
backend: Many
extends: bwrap
summry: a typing error
policy:
  limits: {open-fils: 1, memory: lots}
  network: {default: host}
  environment: {accept: [A-B, NEW], accept: []}
  mounts:
    - {bind-rw: /srv}
    - 7
`}))
	var got []string
	for _, d := range diagnostics {
		got = append(got, d.Pos.String())
		if d.Line == "" || !strings.Contains(d.String(), "\n") {
			t.Errorf("%s does not show its line", d.Pos)
		}
	}
	want := []string{"many.yaml:2:10", "many.yaml:4:1", "many.yaml:6:12", "many.yaml:6:34", "many.yaml:7:22", "many.yaml:8:26", "many.yaml:8:31",
		"many.yaml:8:37", "many.yaml:10:7", "many.yaml:11:7"}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v\n%s", got, want, diagnostics)
	}
	if diagnostics.Err() == nil || Diagnostics(nil).Err() != nil {
		t.Error("Err does not tell faults from none")
	}
}

func TestCaretStandsUnderItsColumn(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"after a tab in a text", "sbx: 1\nbackend: \"a\tb\"\nextends: bwrap\n",
			"t.yaml:2:10: backend \"a\\tb\" is not lower-case letters and digits, a letter first, at most 32\n  2 | backend: \"a\tb\"\n    |          ^"},
		{"after characters of several bytes", "sbx: 1\nbackend: ok\nextends: bwrap\npolicy: {workdir: /ä, wörk: x}\n",
			"t.yaml:4:23: unknown key \"wörk\" in policy; it is one of environment, limits, timeouts, hardening, mounts, network, credentials, user, image, workspace, artifacts, sockets, workdir, knobs\n  4 | policy: {workdir: /ä, wörk: x}\n    |                       ^"},
		{"on a long line", "sbx: 1\nbackend: ok\nextends: bwrap\npolicy: {workdir: /" + strings.Repeat("a", 200) + ", zzz: x}\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, diagnostics := Load("t.yaml", inMemory(map[string]string{"t.yaml": c.text}))
			if len(diagnostics) != 1 {
				t.Fatalf("got %s", diagnostics)
			}
			got := diagnostics.Error()
			if c.want != "" && got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
			lines := strings.Split(got, "\n")
			if len(lines) != 3 {
				t.Fatalf("%d lines", len(lines))
			}
			shown, caret := []rune(lines[1]), len([]rune(lines[2]))-1
			at := []rune(strings.Split(c.text, "\n")[diagnostics[0].Pos.Line-1])[diagnostics[0].Pos.Column-1]
			if caret >= len(shown) || shown[caret] != at {
				t.Errorf("the caret is not under %q:\n%s", at, got)
			}
		})
	}
}

func TestReadmeExampleLoads(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "```yaml\n")
	example, _, closed := strings.Cut(rest, "```")
	if !found || !closed {
		t.Fatal("the README has no example")
	}
	if _, diagnostics := Load("own.yaml", inMemory(map[string]string{"own.yaml": example})); len(diagnostics) > 0 {
		t.Error(diagnostics)
	}
	if err := resolved(t).Validate(instance(t, []byte(example))); err != nil {
		t.Errorf("the schema refuses it: %v", err)
	}
}

func TestReadmeNamesEveryPrimitive(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range primitiveNames("") {
		if !strings.Contains(string(text), name) {
			t.Errorf("no word of the primitive %s", name)
		}
	}
}
