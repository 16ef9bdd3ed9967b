// Package ruletest runs a rule over its testdata, with the stubs that all rules need beside it.
package ruletest

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"
)

// Run checks the packages of the calling test's testdata/src against their // want comments. The tree that is analysed also holds the
// stubs below testdata/src here: the seam's runtime, a backend, and packages outside the standard library that rules know by path.
func Run(t *testing.T, a *analysis.Analyzer, pkgs ...string) []*analysistest.Result {
	t.Helper()
	return analysistest.Run(t, tree(t), a, pkgs...)
}

// RunWithFixes is Run, and compares the suggested fixes with the .golden files.
func RunWithFixes(t *testing.T, a *analysis.Analyzer, pkgs ...string) []*analysistest.Result {
	t.Helper()
	return analysistest.RunWithSuggestedFixes(t, tree(t), a, pkgs...)
}

func tree(t *testing.T) string {
	t.Helper()
	_, self, _, _ := runtime.Caller(0)
	dir := t.TempDir()
	for _, src := range []string{filepath.Join(filepath.Dir(self), "testdata"), "testdata"} {
		if err := os.CopyFS(dir, os.DirFS(src)); err != nil {
			t.Fatalf("laying out the test's tree: %v", err)
		}
	}
	return dir
}
