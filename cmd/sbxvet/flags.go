package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"

	"golang.org/x/tools/go/analysis"
)

// Flags are the command line's. Those that the go command passes on to a vet tool are marked so.
type flags struct {
	set *flag.FlagSet
	all []*analysis.Analyzer

	enabled map[string]*choice // vet
	json    bool               // vet
	fix     bool               // vet

	sarif         bool
	list          bool
	schema        bool
	version       bool
	baseline      string
	writeBaseline string
	policy        string
	build         []string // for the go command
}

// vetFlags are the flags besides the rules' names that the go command may pass on to a unit.
var vetFlags = []string{"json", "fix"}

// A choice is a rule's flag: unset, on or off.
type choice struct{ set, on bool }

func (c *choice) IsBoolFlag() bool { return true }
func (c *choice) String() string   { return strconv.FormatBool(c.on) }
func (c *choice) Set(s string) error {
	on, err := strconv.ParseBool(s)
	if err != nil {
		return fmt.Errorf("must be true or false")
	}
	c.set, c.on = true, on
	return nil
}

func newFlags(all []*analysis.Analyzer) *flags {
	f := &flags{set: flag.NewFlagSet("sbxvet", flag.ContinueOnError), all: all, enabled: make(map[string]*choice)}
	for _, a := range all {
		c := new(choice)
		f.enabled[a.Name] = c
		f.set.Var(c, a.Name, "run only "+a.Name+" and others named so; ="+"false: leave it out")
	}
	f.set.BoolVar(&f.json, "json", false, "print findings as go vet -json does")
	f.set.BoolVar(&f.fix, "fix", false, "make the first suggested fix of each finding, report the others")
	f.set.StringVar(&f.policy, "policy", "", "policy `file`; the default is .sbxvet.yaml beside go.mod, or beside go.work")
	f.set.BoolVar(&f.sarif, "sarif", false, "print findings as a SARIF 2.1.0 log")
	f.set.BoolVar(&f.list, "list", false, "list the rules")
	f.set.BoolVar(&f.schema, "schema", false, "print the JSON schema of .sbxvet.yaml")
	f.set.BoolVar(&f.version, "V", false, "print the version")
	f.set.StringVar(&f.baseline, "baseline", "", "count the findings that `file` holds and report only others")
	f.set.StringVar(&f.writeBaseline, "write-baseline", "", "write all findings to `file`, for -baseline, and report none")
	for _, name := range []string{"tags", "mod", "modfile", "overlay"} {
		f.set.Func(name, "the go command's -"+name, func(s string) error {
			f.build = append(f.build, "-"+name+"="+s)
			return nil
		})
	}
	return f
}

// describe prints the flags that a unit takes, as the go command wants to know them.
func (f *flags) describe(w io.Writer) error {
	type description struct {
		Name  string
		Bool  bool
		Usage string
	}
	var out []description
	f.set.VisitAll(func(g *flag.Flag) {
		_, isRule := f.enabled[g.Name]
		if !isRule && !slices.Contains(vetFlags, g.Name) {
			return
		}
		b, ok := g.Value.(interface{ IsBoolFlag() bool })
		out = append(out, description{g.Name, ok && b.IsBoolFlag(), g.Usage})
	})
	data, err := json.MarshalIndent(out, "", "\t")
	if err != nil {
		return fmt.Errorf("describing the flags: %w", err)
	}
	if _, err := w.Write(append(data, '\n')); err != nil {
		return fmt.Errorf("describing the flags: %w", err)
	}
	return nil
}

// rules returns the rules that the flags choose: those named, or all but those switched off.
func (f *flags) rules() []*analysis.Analyzer {
	only := false
	for _, c := range f.enabled {
		only = only || c.set && c.on
	}
	var out []*analysis.Analyzer
	for _, a := range f.all {
		if c := f.enabled[a.Name]; only && c.on || !only && !c.set {
			out = append(out, a)
		}
	}
	return out
}

// toolFlags returns the flags that a unit needs to do the same.
func (f *flags) toolFlags() []string {
	var out []string
	for _, a := range f.all {
		if c := f.enabled[a.Name]; c.set {
			out = append(out, "-"+a.Name+"="+c.String())
		}
	}
	return out
}

func (f *flags) names() []string {
	var out []string
	for _, a := range f.all {
		out = append(out, a.Name)
	}
	return out
}
