package spec

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
