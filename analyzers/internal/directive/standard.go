package directive

import (
	"strings"

	"golang.org/x/tools/go/analysis"
)

// Standard reports whether the pass is over a package of the standard library, which no rule looks into: package exectable says
// what its functions do. The Go project reserves these first elements; a module that took one all the same is not mistaken for it.
func Standard(pass *analysis.Pass) bool {
	if pass.Module != nil && pass.Module.Path != "" && pass.Module.Path != "std" && pass.Module.Path != "cmd" {
		return false
	}
	return StandardPath(pass.Pkg.Path())
}

// StandardPath reports whether path is that of a package of the standard library, as far as a path can tell.
func StandardPath(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return standardRoots[first]
}

var standardRoots = func() map[string]bool {
	m := make(map[string]bool)
	for _, r := range strings.Fields(`archive bufio builtin bytes cmd cmp compress container context crypto database debug embed encoding
		errors expvar flag fmt go hash html image index internal io iter log maps math mime net os path plugin reflect regexp runtime
		slices sort strconv strings structs sync syscall testing text time unicode unique unsafe vendor weak`) {
		m[r] = true
	}
	return m
}()
