package house

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// topLevel is what stands at the root of the tree, and no more: what a tool drops there is not to be committed beside it.
var topLevel = []string{
	".ci", ".gitignore", ".sbxvet.yaml", "CONTRIBUTING.md", "LICENSE", "Makefile", "README.md", "analyzers", "cmd", "docs", "examples", "gen",
	"generated", "go.mod", "go.sum", "hack", "internal", "runtime", "spec", "testdata",
}

func TestNothingElseStandsAtTheRoot(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "git", "ls-files", "-z")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Skipf("this tree is no checkout of git's: %v", err)
	}
	var got []string
	for file := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		first, _, _ := strings.Cut(file, "/")
		got = append(got, first)
	}
	slices.Sort(got)
	if got = slices.Compact(got); !slices.Equal(got, topLevel) {
		t.Errorf("git tracks at the root\n%q\nwant\n%q", got, topLevel)
	}
}
