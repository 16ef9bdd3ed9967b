// Package policy reads .sbxvet.yaml, the optional file in which a tree narrows or widens what sbxvet reports.
//
//	# Files the rules leave alone, each with the reason.
//	exclude:
//	  - path: third_party/**
//	    rules: [rawshell]        # all rules when left out
//	    reason: vendored by hand, reviewed upstream
//	# Programs that only a backend may start, besides those of the built-in specs.
//	programs: [nsjail]
//	hostenv:
//	  everywhere: true           # look beyond seam and backend packages
//	rawshell:
//	  constants: true            # allow text that is constant through and through, outside a launch
//
// A key that is not known, a rule that does not exist and a path rule without a reason are errors with their position: a policy with a
// misspelt key would otherwise pass as one that allows nothing, or everything. Schema gives the same to editors; it is kept in
// docs/vet/policy.schema.json.
package policy

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// FileName is the name of a policy file.
const FileName = ".sbxvet.yaml"

// A Policy is what a file says.
type Policy struct {
	Path    string // of the file, absolute
	Exclude []Exclude
	// Programs are further names of programs that only a backend may start.
	Programs          []string
	HostEnvEverywhere bool
	ConstantShell     bool
}

// An Exclude keeps rules away from files.
type Exclude struct {
	Path   string
	Rules  []string
	Reason string
}

// An Error is a mistake in a policy file, with its position.
type Error struct {
	File         string
	Line, Column int
	Message      string
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Message)
}

// Find returns the path of the policy in force for a directory: that beside the nearest go.mod above it, else that beside the nearest
// go.work, else "".
func Find(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("finding the policy: %w", err)
	}
	for _, marker := range []string{"go.mod", "go.work"} {
		for d := dir; ; d = filepath.Dir(d) {
			if exists(filepath.Join(d, marker)) {
				if p := filepath.Join(d, FileName); exists(p) {
					return p, nil
				}
				break
			}
			if d == filepath.Dir(d) {
				break
			}
		}
	}
	return "", nil
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return !errors.Is(err, fs.ErrNotExist)
}

// Load reads the policy in the file called name. rules are the names of the rules that exist. The error is an *Error when the file's
// content is at fault, several of them joined.
func Load(name string, rules []string) (*Policy, error) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return nil, fmt.Errorf("reading the policy: %w", err)
	}
	data, err := os.ReadFile(abs)
	if err != nil {
		return nil, fmt.Errorf("reading the policy: %w", err)
	}
	d := &decoder{file: name, rules: rules, policy: &Policy{Path: abs}}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("reading the policy %s: %w", name, err)
	}
	if len(doc.Content) > 0 {
		d.top(doc.Content[0])
	}
	if len(d.errs) > 0 {
		return nil, errors.Join(d.errs...)
	}
	return d.policy, nil
}

type decoder struct {
	file   string
	rules  []string
	policy *Policy
	errs   []error
}

func (d *decoder) fail(n *yaml.Node, format string, args ...any) {
	d.errs = append(d.errs, &Error{d.file, n.Line, n.Column, fmt.Sprintf(format, args...)})
}

// mapping calls the handler of each key of n.
func (d *decoder) mapping(n *yaml.Node, what string, handlers map[string]func(*yaml.Node)) {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return
	}
	if n.Kind != yaml.MappingNode {
		d.fail(n, "%s must be a mapping", what)
		return
	}
	seen := make(map[string]bool)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		h, ok := handlers[key.Value]
		switch {
		case !ok:
			var known []string
			for k := range handlers {
				known = append(known, k)
			}
			slices.Sort(known)
			d.fail(key, "unknown key %q in %s; the keys are %s", key.Value, what, strings.Join(known, ", "))
		case seen[key.Value]:
			d.fail(key, "key %q appears twice in %s", key.Value, what)
		default:
			seen[key.Value] = true
			h(value)
		}
	}
}

func (d *decoder) top(n *yaml.Node) {
	p := d.policy
	d.mapping(n, "the policy", map[string]func(*yaml.Node){
		"exclude": d.exclude,
		"programs": func(n *yaml.Node) {
			p.Programs = d.words(n, "programs")
			for i, name := range p.Programs {
				if n.Content[i].Kind == yaml.ScalarNode && name == "" || strings.ContainsAny(name, `/\`) {
					d.fail(n.Content[i], "program %q must be a name without a directory", name)
				}
			}
		},
		"hostenv": func(n *yaml.Node) {
			d.mapping(n, "hostenv", map[string]func(*yaml.Node){"everywhere": func(n *yaml.Node) { p.HostEnvEverywhere = d.flag(n) }})
		},
		"rawshell": func(n *yaml.Node) {
			d.mapping(n, "rawshell", map[string]func(*yaml.Node){"constants": func(n *yaml.Node) { p.ConstantShell = d.flag(n) }})
		},
	})
}

func (d *decoder) exclude(n *yaml.Node) {
	if n.Kind != yaml.SequenceNode {
		d.fail(n, "exclude must be a list")
		return
	}
	for _, item := range n.Content {
		var e Exclude
		d.mapping(item, "a path rule", map[string]func(*yaml.Node){
			"path": func(n *yaml.Node) {
				e.Path = d.text(n, "path")
				if strings.HasPrefix(e.Path, "/") || strings.Contains(e.Path, `\`) || slices.Contains(strings.Split(e.Path, "/"), "..") {
					d.fail(n, "path %q must be relative to the policy's directory, with forward slashes and without ..", e.Path)
				}
				if _, err := filepath.Match(strings.ReplaceAll(e.Path, "**", "x"), ""); err != nil {
					d.fail(n, "path %q is not a valid pattern", e.Path)
				}
			},
			"reason": func(n *yaml.Node) { e.Reason = strings.TrimSpace(d.text(n, "reason")) },
			"rules": func(n *yaml.Node) {
				e.Rules = d.words(n, "rules")
				for i, r := range e.Rules {
					if !slices.Contains(d.rules, r) {
						d.fail(n.Content[i], "unknown rule %q; the rules are %s", r, strings.Join(d.rules, ", "))
					}
				}
				if n.Kind == yaml.SequenceNode && len(e.Rules) == 0 {
					d.fail(n, "an empty list of rules excludes nothing; leave it out to exclude all")
				}
			},
		})
		if item.Kind == yaml.MappingNode {
			if e.Path == "" {
				d.fail(item, "a path rule needs a path")
			}
			if e.Reason == "" {
				d.fail(item, "a path rule needs a reason")
			}
		}
		d.policy.Exclude = append(d.policy.Exclude, e)
	}
}

func (d *decoder) text(n *yaml.Node, what string) string {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		d.fail(n, "%s must be a text", what)
		return ""
	}
	return n.Value
}

func (d *decoder) words(n *yaml.Node, what string) []string {
	if n.Kind != yaml.SequenceNode {
		d.fail(n, "%s must be a list", what)
		return nil
	}
	var out []string
	for _, item := range n.Content {
		out = append(out, d.text(item, "an item of "+what))
	}
	return out
}

func (d *decoder) flag(n *yaml.Node) bool {
	var b bool
	if n.Kind != yaml.ScalarNode || n.Tag != "!!bool" || n.Decode(&b) != nil {
		d.fail(n, "must be true or false, not %q", n.Value)
	}
	return b
}
