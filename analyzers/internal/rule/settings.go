package rule

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"go/token"

	"golang.org/x/tools/go/analysis"
)

// Settings are what a policy may change. The zero value is the behaviour without a policy.
type Settings struct {
	// Root is the directory that the patterns of Exclude are relative to, absolute.
	Root string

	// Exclude are the path rules.
	Exclude []Exclude

	// Programs replaces DefaultPrograms when not nil: base names, without a directory or ".exe".
	Programs []string

	// HostEnvEverywhere makes hostenv look at every package, not only at seam and backend packages.
	HostEnvEverywhere bool

	// ConstantShell lets a shell have a command string that is constant through and through, outside a Launch.
	ConstantShell bool
}

// An Exclude silences rules in the files a pattern matches.
type Exclude struct {
	Pattern string   // slash-separated, relative to Settings.Root; ** matches any number of elements
	Rules   []string // names; empty means all
	Reason  string
}

var current Settings

// Configure sets the settings of every rule in this process. It must be called before the first analysis runs, and not again.
func Configure(s Settings) { current = s }

// Current returns the settings in force. The caller must not change what it refers to.
func Current() *Settings { return &current }

// ProgramNames returns the names of the programs that only a backend may start.
func (s *Settings) ProgramNames() []string {
	if s.Programs != nil {
		return s.Programs
	}
	return DefaultPrograms()
}

func (s *Settings) excluded(pass *analysis.Pass, rule string, pos token.Pos) bool {
	if len(s.Exclude) == 0 {
		return false
	}
	// A file of the tree is what its name says, whatever a //line comment in it says. One from elsewhere is made of a file of the tree, as cgo does.
	rel, ok := below(s.Root, pass.Fset.File(pos).Name())
	if !ok {
		if rel, ok = below(s.Root, pass.Fset.Position(pos).Filename); !ok {
			return false
		}
	}
	for _, e := range s.Exclude {
		if (len(e.Rules) == 0 || slices.Contains(e.Rules, rule)) && MatchPath(e.Pattern, rel) {
			return true
		}
	}
	return false
}

// below returns the slash-separated path of the file relative to root, if it is below that.
func below(root, name string) (string, bool) {
	rel, err := filepath.Rel(root, name)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// MatchPath reports whether the slash-separated name matches pattern, in which ** stands for any number of path elements and a
// pattern that matches a directory covers everything below it.
func MatchPath(pattern, name string) bool {
	return matchElements(strings.Split(strings.TrimSuffix(pattern, "/"), "/"), strings.Split(name, "/"))
}

func matchElements(pattern, name []string) bool {
	if len(pattern) == 0 {
		return true // everything below
	}
	if pattern[0] == "**" {
		for i := range len(name) + 1 {
			if matchElements(pattern[1:], name[i:]) {
				return true
			}
		}
		return false
	}
	if len(name) == 0 {
		return false
	}
	if ok, err := path.Match(pattern[0], name[0]); err != nil || !ok {
		return false
	}
	return matchElements(pattern[1:], name[1:])
}
