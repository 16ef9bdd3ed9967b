// Package golangci makes the rules of sbxvet a module plugin of golangci-lint.
//
// In .custom-gcl.yml:
//
//	plugins:
//	  - module: github.com/sbxkit/sbxkit
//	    import: github.com/sbxkit/sbxkit/analyzers/golangci
//	    version: <version>
//
// and in .golangci.yml:
//
//	linters:
//	  enable: [sbxvet]
//	  settings:
//	    custom:
//	      sbxvet:
//	        type: module
//	        settings:
//	          policy: .sbxvet.yaml   # optional; relative to the working directory
//	          rules: [rawshell]      # optional; all when left out
//	issues:
//	  max-issues-per-linter: 0       # golangci-lint hides what goes beyond 50 findings, and beyond three of the same text
//	  max-same-issues: 0
//
// golangci-lint loads the whole program at once, which takes several times the memory of "go vet -vettool"; the findings are the same. Its own
// caches know nothing of the policy file: run "golangci-lint cache clean" after changing it. "make golangci-lint" builds one with this plugin and
// holds it to what the other drivers find.
package golangci

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/golangci/plugin-module-register/register"
	"github.com/sbxkit/sbxkit/analyzers"
	"github.com/sbxkit/sbxkit/analyzers/policy"
	"golang.org/x/tools/go/analysis"
)

// Name is the linter's name.
const Name = "sbxvet"

func init() { register.Plugin(Name, New) }

// Settings are those of the linter.
type Settings struct {
	// Policy is the path of a policy file. Empty means .sbxvet.yaml as sbxvet finds it from the working directory.
	Policy string `json:"policy"`

	// Rules are the rules to run. Empty means all.
	Rules []string `json:"rules"`
}

type plugin struct{ rules []*analysis.Analyzer }

// New returns the plugin. It fails on settings that are not understood, on an unknown rule and on a broken policy.
func New(settings any) (register.LinterPlugin, error) {
	s, err := register.DecodeSettings[Settings](settings)
	if err != nil {
		return nil, fmt.Errorf("reading the settings of %s: %w", Name, err)
	}
	all := analyzers.All()
	var names []string
	for _, a := range all {
		names = append(names, a.Name)
	}
	rules := all
	if len(s.Rules) > 0 {
		rules = nil
		for _, r := range s.Rules {
			i := slices.Index(names, r)
			if i < 0 {
				return nil, fmt.Errorf("settings of %s: unknown rule %q; the rules are %s", Name, r, strings.Join(names, ", "))
			}
			rules = append(rules, all[i])
		}
	}
	if err := apply(s.Policy, names); err != nil {
		return nil, fmt.Errorf("settings of %s: %w", Name, err)
	}
	return &plugin{rules}, nil
}

// apply puts the policy in force.
func apply(file string, names []string) error {
	if file == "" {
		dir, err := os.Getwd()
		if err != nil {
			return fmt.Errorf("finding the policy: %w", err)
		}
		if file, err = policy.Find(dir); err != nil {
			return err
		}
		if file == "" {
			policy.Apply(nil)
			return nil
		}
	} else if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the policy %s does not exist", file)
	}
	p, err := policy.Load(file, names)
	if err != nil {
		return err
	}
	policy.Apply(p)
	return nil
}

// BuildAnalyzers returns the rules.
func (p *plugin) BuildAnalyzers() ([]*analysis.Analyzer, error) { return p.rules, nil }

// GetLoadMode says that the rules need types.
func (p *plugin) GetLoadMode() string { return register.LoadModeTypesInfo }
