package policy

import (
	"path/filepath"
	"slices"

	"github.com/sbxkit/sbxkit/analyzers/internal/rule"
)

// Apply makes the policy, which may be nil, and the names of the built-in backends' programs (nil for the default) the settings of the rules
// of this process. It must be called before the first analysis.
func Apply(p *Policy, programs []string) {
	s := rule.Settings{Programs: slices.Clone(programs)}
	if p != nil {
		s.Root = filepath.Dir(p.Path)
		s.HostEnvEverywhere, s.ConstantShell = p.HostEnvEverywhere, p.ConstantShell
		for _, e := range p.Exclude {
			s.Exclude = append(s.Exclude, rule.Exclude{Pattern: e.Path, Rules: e.Rules, Reason: e.Reason})
		}
		if len(p.Programs) > 0 {
			if s.Programs == nil {
				s.Programs = slices.Clone(rule.DefaultPrograms)
			}
			s.Programs = append(s.Programs, p.Programs...)
		}
	}
	slices.Sort(s.Programs)
	s.Programs = slices.Compact(s.Programs)
	rule.Configure(s)
}
