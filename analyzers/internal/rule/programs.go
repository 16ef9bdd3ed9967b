package rule

import (
	_ "embed"
	"slices"
	"strings"
)

//go:embed programs.txt
var programs string

// DefaultPrograms are the names of the programs that only a backend may start when nobody set others: those that the built-in specs give
// theirs, sorted. They stand in a file, and not in the specs alone, because a vet tool is a process for each package, and reading the
// specs would take most of it.
func DefaultPrograms() []string { return defaultPrograms }

var defaultPrograms = slices.Clip(strings.Fields(programs))
