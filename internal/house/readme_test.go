package house

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// blocks gives the README's fenced blocks of one language.
func blocks(t *testing.T, language string) []string {
	t.Helper()
	b, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, m := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllStringSubmatch(string(b), -1) {
		out = append(out, m[1])
	}
	return out
}

// TestTheREADMEsExecutorCompilesAndRuns builds the example as a newcomer would paste it: a program of its own, in this module.
func TestTheREADMEsExecutorCompilesAndRuns(t *testing.T) {
	examples := blocks(t, "go")
	if len(examples) != 1 {
		t.Fatalf("the README has %d Go examples", len(examples))
	}
	if n := strings.Count(examples[0], "\n"); n > 35 {
		t.Errorf("the example has %d lines; it is to be read in one glance", n)
	}
	dir := t.TempDir()
	source := filepath.Join(dir, "main.go")
	if err := os.WriteFile(source, []byte(examples[0]), 0o644); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "example")
	build := exec.Command("go", "build", "-o", program, source)
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("the README's example does not build: %v\n%s", err, out)
	}
	if _, err := exec.LookPath("bwrap"); err != nil {
		t.Skip("bwrap is not installed, so the example was built and not run; hack/setup installs it")
	}
	out, err := exec.Command(program).CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "hello from inside\nexited 0 by bwrap (") {
		t.Errorf("the README's example gave %v\n%s", err, out)
	}
}

// TestTheREADMEsTargetsExist keeps the commands it names from rotting.
func TestTheREADMEsTargetsExist(t *testing.T) {
	b, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^    make ([a-z-]+)`).FindAllStringSubmatch(string(b), -1) {
		dry := exec.Command("make", "-n", m[1])
		dry.Dir = "../.."
		if out, err := dry.CombinedOutput(); err != nil {
			t.Errorf("make %s: %v\n%s", m[1], err, out)
		}
	}
	for _, m := range regexp.MustCompile(`\]\(([^)#]+)\)`).FindAllStringSubmatch(string(b), -1) {
		if strings.Contains(m[1], "://") {
			continue
		}
		if _, err := os.Stat(filepath.Join("../..", m[1])); err != nil {
			t.Errorf("a link leads nowhere: %v", err)
		}
	}
	for _, m := range regexp.MustCompile("(?m)^\\| ((?:`[a-z/]+`(?:, )?)+) \\|").FindAllStringSubmatch(string(b), -1) {
		for _, room := range regexp.MustCompile("`([a-z/]+)`").FindAllStringSubmatch(m[1], -1) {
			if i, err := os.Stat(filepath.Join("../..", room[1])); err != nil || !i.IsDir() {
				t.Errorf("the map names a room that is not there: %s", room[1])
			}
		}
	}
}

// TestTheREADMEsSpecGivesItsArgv compares the spec shown with the one in the tree, and the argv shown with that one's golden plan.
func TestTheREADMEsSpecGivesItsArgv(t *testing.T) {
	spec, err := os.ReadFile("../../examples/judge.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if shown := blocks(t, "yaml"); len(shown) != 1 || shown[0] != string(spec) {
		t.Errorf("the README shows another spec than examples/judge.yaml")
	}
	plans, err := os.ReadFile("../../testdata/plans/judge.txtar")
	if err != nil {
		t.Fatal(err)
	}
	_, bare, _ := strings.Cut(string(plans), "-- bare --\nwords:\n")
	var words []string
	for line := range strings.Lines(bare) {
		if !strings.HasPrefix(line, "  ") {
			break
		}
		if !strings.HasSuffix(line, "(gate)\n") {
			words = append(words, strings.Fields(line)[0])
		}
	}
	shown := blocks(t, "argv")
	if len(shown) != 1 || len(words) < 20 || strings.Join(strings.Fields(shown[0]), " ") != strings.Join(words, " ") {
		t.Errorf("the README shows another argv than the golden plan:\n%s", strings.Join(words, " "))
	}
}
