package gen

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
)

// State says how a generated file differs from what its spec gives.
type State string

// The states.
const (
	StateMissing State = "missing"     // it is not there
	StateStale   State = "stale"       // it is of another version of its spec
	StateEdited  State = "hand-edited" // it is of this spec, and not what this spec gives
	StateOrphan  State = "orphaned"    // no spec gives it
)

// Difference is one generated file that is not what it should be.
type Difference struct {
	// Path is slash-separated and relative to the module.
	Path  string `json:"path"`
	State State  `json:"state"`
	// Spec gives the file, or gave it.
	Spec string `json:"spec,omitempty"`
	// Diff is a unified diff from the file to what it should be.
	Diff string `json:"diff"`
	// Foreign is true for an orphan that sbxgen did not write.
	Foreign bool `json:"foreign,omitempty"`
}

// Compare gives the differences between a package and what is on disk, sorted by path; none where it is current.
func Compare(module string, p Package) ([]Difference, error) {
	d, err := read(filepath.Join(module, filepath.FromSlash(p.Dir)))
	if err != nil {
		return nil, fmt.Errorf("comparing package %s: %w", p.Dir, err)
	}
	var all []Difference
	given := map[string]bool{}
	for _, f := range p.Files {
		given[f.Name] = true
		have, ok := d.files[f.Name]
		if ok && bytes.Equal(have.content, f.Content) {
			continue
		}
		diff := Difference{Path: path.Join(p.Dir, f.Name), Spec: p.Spec, State: StateStale}
		switch {
		case !ok:
			diff.State = StateMissing
		case digestLine(have.content) == digestLine(f.Content):
			diff.State = StateEdited
		}
		if diff.Diff, err = unified(diff.Path, have.content, f.Content, ok, true); err != nil {
			return nil, err
		}
		all = append(all, diff)
	}
	for _, name := range d.names() {
		if given[name] {
			continue
		}
		diff, err := orphan(path.Join(p.Dir, name), d.files[name])
		if err != nil {
			return nil, err
		}
		all = append(all, diff)
	}
	slices.SortFunc(all, func(a, b Difference) int { return strings.Compare(a.Path, b.Path) })
	return all, nil
}

// Orphans gives the files that sbxgen wrote somewhere in the module, outside the packages that specs give; they are relative to the
// module and sorted.
func Orphans(module string, packages []Package) ([]Difference, error) {
	given := map[string]bool{}
	for _, p := range packages {
		given[p.Dir] = true
	}
	var all []Difference
	err := walkModule(module, func(file string, content []byte) error {
		spec, ok := specOf(content)
		if !ok || given[path.Dir(file)] {
			return nil
		}
		diff, err := orphan(file, diskFile{content, true})
		diff.Spec = spec
		all = append(all, diff)
		return err
	})
	return all, err
}

func orphan(file string, f diskFile) (Difference, error) {
	d := Difference{Path: file, State: StateOrphan, Foreign: !f.generated}
	d.Spec, _ = specOf(f.content)
	if f.generated {
		var err error
		d.Diff, err = unified(file, f.content, nil, true, false)
		return d, err
	}
	return d, nil
}

func (d onDisk) names() []string { return slices.Sorted(maps.Keys(d.files)) }

// digestLine is the header's second line.
func digestLine(content []byte) string {
	lines := strings.SplitN(string(content), "\n", 3)
	if len(lines) < 2 {
		return ""
	}
	return lines[1]
}

// unified gives a diff from what is to what should be.
func unified(file string, is, should []byte, exists, wanted bool) (string, error) {
	from, to := "a/"+file, "b/"+file
	if !exists {
		from = "/dev/null"
	}
	if !wanted {
		to = "/dev/null"
	}
	text, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
		A: splitLines(is), B: splitLines(should), FromFile: from, ToFile: to, Context: 3,
	})
	if err != nil {
		return "", fmt.Errorf("comparing %s: %w", file, err)
	}
	return text, nil
}

func splitLines(content []byte) []string {
	if len(content) == 0 {
		return nil
	}
	lines := strings.SplitAfter(string(content), "\n")
	if lines[len(lines)-1] == "" {
		return lines[:len(lines)-1]
	}
	lines[len(lines)-1] += "\n\\ No newline at end of file\n"
	return lines
}
