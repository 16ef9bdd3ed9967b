package golangci

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var custom = flag.String("golangci-lint", "", "the `version` of golangci-lint to build with the plugin, such as v2.15.0; \"\" for none")

// The program that "golangci-lint custom" makes.
const customMain = `package main

import (
	"os"

	"github.com/golangci/golangci-lint/v2/pkg/commands"
	"github.com/golangci/golangci-lint/v2/pkg/exitcodes"
	_ "github.com/sbxkit/sbxkit/analyzers/golangci"
)

func main() {
	if err := commands.Execute(commands.BuildInfo{Version: "custom"}); err != nil {
		println(err.Error())
		os.Exit(exitcodes.Failure)
	}
}
`

// TestACustomGolangciLint builds a golangci-lint that has the plugin, runs it as its users do and holds it to what the other drivers find. It needs the
// module proxy and minutes, so only make golangci-lint runs it.
func TestACustomGolangciLint(t *testing.T) {
	if *custom == "" {
		t.Skip("builds all of golangci-lint: make golangci-lint")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	src := t.TempDir()
	write(t, src, map[string]string{
		"main.go": customMain,
		"go.mod": "module example.com/custom\n\ngo 1.26\n\nrequire (\n\tgithub.com/golangci/golangci-lint/v2 " + *custom +
			"\n\tgithub.com/sbxkit/sbxkit v0.0.0\n)\n\nreplace github.com/sbxkit/sbxkit => " + root + "\n",
	})
	program := filepath.Join(src, "custom-gcl")
	for _, args := range [][]string{{"mod", "tidy"}, {"build", "-o", program, "."}} {
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir = src
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go %s: %v\n%s", args[0], err, out)
		}
	}

	const configuration = "version: \"2\"\nlinters:\n  default: none\n  enable: [sbxvet]\n  settings:\n    custom:\n      sbxvet:\n        type: module\n"
	dir, cache := wrong(t), t.TempDir()
	lint := func(settings string, args ...string) (stdout, stderr string, code int) {
		t.Helper()
		write(t, dir, map[string]string{".golangci.yml": configuration + settings})
		cmd := exec.CommandContext(t.Context(), program, append([]string{"run"}, args...)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOLANGCI_LINT_CACHE="+cache, "PWD="+dir)
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		err := cmd.Run()
		if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
			t.Fatal(err)
		}
		return out.String(), errs.String(), cmd.ProcessState.ExitCode()
	}

	for _, when := range []string{"cold", "warm"} {
		out, errs, code := lint("", "--show-stats=false", "--output.json.path=stdout", "./...")
		var report struct {
			Issues []struct {
				FromLinter, Text string
				Pos              struct {
					Filename     string
					Line, Column int
				}
			}
		}
		if err := json.Unmarshal([]byte(out), &report); err != nil || code != 1 {
			t.Fatalf("%s: %v, status %d\n%s\n%s", when, err, code, out, errs)
		}
		var got []string
		for _, i := range report.Issues {
			_, text, _ := strings.Cut(i.Text, ": ") // the rule's name
			got = append(got, fmt.Sprintf("%s:%d:%d: %s", i.Pos.Filename, i.Pos.Line, i.Pos.Column, text))
		}
		slices.Sort(got)
		if !slices.Equal(got, whatIsWrong) {
			t.Errorf("%s: got\n%s\nwant\n%s", when, strings.Join(got, "\n"), strings.Join(whatIsWrong, "\n"))
		}
	}
	// golangci-lint hides findings of a text it has shown three times, unless it is told not to.
	write(t, dir, map[string]string{"many/many.go": "package many\n\nimport \"os/exec\"\n\nfunc f() {\n" + strings.Repeat("\texec.Command(\"docker\").Run()\n", 60) + "}\n"})
	const all = "issues:\n  max-issues-per-linter: 0\n  max-same-issues: 0\n"
	if out, errs, code := lint(all, "./many"); code != 1 || strings.Count(out, "many/many.go:") != 60 {
		t.Errorf("60 of the same: status %d\n%s\n%s", code, out, errs)
	}
	if out, errs, code := lint("        settings: {rules: [rawshell]}\n", "./..."); code != 1 || strings.Contains(out, "backendexec") || !strings.Contains(out, "rawshell") {
		t.Errorf("one rule: status %d\n%s\n%s", code, out, errs)
	}
	if out, errs, code := lint("        settings: {rules: [nonsense]}\n", "./..."); code < 2 || !strings.Contains(errs, `unknown rule "nonsense"`) {
		t.Errorf("an unknown rule: status %d\n%s\n%s", code, out, errs)
	}
	if out, errs, code := lint("        settings: {policy: nowhere.yaml}\n", "./..."); code < 2 || !strings.Contains(errs, "does not exist") {
		t.Errorf("a missing policy: status %d\n%s\n%s", code, out, errs)
	}
}
