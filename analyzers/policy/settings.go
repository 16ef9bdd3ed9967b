package policy

import (
	"path/filepath"
	"slices"

	"github.com/sbxkit/sbxkit/analyzers/internal/rule"
)

// Apply makes the policy, which may be nil, the settings of the rules of this process. Its programs come on top of rule.DefaultPrograms. It must
// be called before the first analysis.
func Apply(p *Policy) {
	s := rule.Settings{Programs: slices.Clone(rule.DefaultPrograms())}
	if p != nil {
		s.Root = filepath.Dir(p.Path)
		s.HostEnvEverywhere, s.ConstantShell = p.HostEnvEverywhere, p.ConstantShell
		for _, e := range p.Exclude {
			s.Exclude = append(s.Exclude, rule.Exclude{Pattern: e.Path, Rules: e.Rules, Reason: e.Reason})
		}
		s.Programs = append(s.Programs, p.Programs...)
	}
	slices.Sort(s.Programs)
	s.Programs = slices.Compact(s.Programs)
	rule.Configure(s)
}
