package spec

import (
	"regexp"
	"slices"
	"strings"
)

func (c *checker) identity() {
	d, b := c.doc, c.b
	if d.Sbx.given() && d.Sbx.Text != "1" {
		c.errorf(d.Sbx.Pos, "write sbx: 1", "version %s of the language is not known here", quote(d.Sbx.Text))
	}
	if d.Backend.given() {
		if bad := badPackage(d.Backend.Text); bad != "" {
			c.errorf(d.Backend.Pos, "", "backend %s %s", quote(d.Backend.Text), bad)
		}
		b.Name = d.Backend.Text
	}
	kind := Kind(c.oneOf(d.Kind, "kind", kindSet...))
	switch {
	case c.extending() && kind != "" && kind != c.base.Kind:
		c.errorf(d.Kind.Pos, "leave it out", "kind is that of the base, %s", c.base.Kind)
	case kind != "":
		b.Kind = kind
	}
	c.missing("kind", "it is one of "+strings.Join(kindSet, ", "))
	c.sentence(d.Summary, "summary")
	c.missing("summary", "")
	if d.Summary.given() {
		b.Summary = d.Summary.Text
	}
	if d.Unsandboxed.given() {
		if c.extending() && d.Unsandboxed.Value != c.base.Unsandboxed {
			c.errorf(d.Unsandboxed.Pos, "leave it out", "unsandboxed is that of the base, %v", c.base.Unsandboxed)
		}
		b.Unsandboxed = d.Unsandboxed.Value
	}
	c.program()
	c.engine()
	c.probe()
}

func (c *checker) program() {
	d := c.doc.Program
	if d.At.Line == 0 {
		if c.b.Kind == KindEngine && c.b.Program == nil && !c.keys["program"] {
			c.errorf(c.doc.At, "it prints plans as a command line", "kind engine needs a program")
		}
		return
	}
	if c.b.Kind == KindScript {
		c.errorf(d.At, "leave it out", "kind script has no program")
		return
	}
	p := &Program{Arguments: ArgumentsArgv}
	if c.b.Program != nil {
		*p = *c.b.Program
	}
	p.Pos = d.At
	for _, t := range append(texts{d.Name}, d.Aliases...) {
		if t.given() && !programName.MatchString(t.Text) && badPath(t.Text) != "" {
			c.errorf(t.Pos, "", "program %s is neither the name of a program nor an absolute path", quote(t.Text))
		}
	}
	if !d.Name.given() && p.Name == "" {
		c.errorf(d.At, "", "key \"name\" is missing in program")
	}
	if d.Name.given() {
		if c.extending() && c.b.Program != nil && d.Name.Text != c.base.Program.Name {
			c.needs(d.Name.Pos, "program "+d.Name.Text, "another program than the base's "+c.base.Program.Name, d.Because)
			p.Aliases = nil
		}
		p.Name = d.Name.Text
	}
	if d.Aliases != nil {
		p.Aliases = plainTexts(d.Aliases)
	}
	if d.Override.given() {
		c.variable(d.Override, "program.override")
		p.Override = d.Override.Text
	}
	if d.Arguments.given() {
		a := Arguments(c.oneOf(d.Arguments, "program.arguments", argumentsSet...))
		if a == ArgumentsDescriptor && c.b.Kind != KindProcess {
			c.errorf(d.Arguments.Pos, "", "program.arguments: descriptor is for kind process")
		}
		p.Arguments = a
	}
	c.sentence(d.Because, "because")
	c.b.Program = p
}

func (c *checker) engine() {
	d := c.doc.Engine
	if d.At.Line == 0 {
		if c.b.Kind == KindEngine && c.b.Engine == nil && !c.keys["engine"] {
			c.errorf(c.doc.At, "", "kind engine needs an engine with names")
		}
		return
	}
	if c.b.Kind != KindEngine {
		c.errorf(d.At, "leave it out", "only kind engine has an engine")
		return
	}
	e := &Engine{}
	if c.b.Engine != nil {
		*e = *c.b.Engine
	}
	e.Pos = d.At
	if d.Names != nil {
		if c.extending() {
			for _, n := range d.Names {
				if !slices.Contains(c.base.Engine.Names, n.Text) {
					c.needs(n.Pos, "engine "+n.Text, "an engine the base does not accept, "+quote(n.Text), d.Because)
				}
			}
		}
		e.Names = plainTexts(d.Names)
	}
	if len(e.Names) == 0 {
		c.errorf(d.At, "", "engine.names is empty: no engine would be accepted")
	}
	if d.Endpoint.given() {
		c.variable(d.Endpoint, "engine.endpoint")
		e.Endpoint = d.Endpoint.Text
	}
	if d.Default != nil {
		for _, t := range d.Default {
			if variable, _, _ := strings.Cut(t.Text, "/"); strings.HasPrefix(t.Text, "$") && !variableName.MatchString(variable[1:]) ||
				!strings.HasPrefix(t.Text, "$") && badPath(t.Text) != "" {
				c.errorf(t.Pos, "", "engine.default: %s is neither an absolute path nor $NAME/path", quote(t.Text))
			}
		}
		e.Default = plainTexts(d.Default)
	}
	if d.Contexts.given() {
		e.Contexts = d.Contexts.Value
	}
	c.sentence(d.Because, "because")
	c.b.Engine = e
}

func (c *checker) probe() {
	d, p := c.doc.Probe, c.b.Probe
	if d.At.Line == 0 {
		return
	}
	p.Pos = d.At
	if d.Version.At.Line > 0 {
		p.Version = &ProbeVersion{Args: plainTexts(d.Version.Args), Pattern: d.Version.Pattern.Text}
		if re, err := regexp.Compile(d.Version.Pattern.Text); err != nil {
			c.errorf(d.Version.Pattern.Pos, "", "probe.version.pattern is no regular expression: %v", err)
		} else if d.Version.Pattern.given() && re.NumSubexp() != 1 {
			c.errorf(d.Version.Pattern.Pos, "the group is the version", "probe.version.pattern has %d groups; one is wanted", re.NumSubexp())
		}
	}
	if d.Flags.At.Line > 0 {
		p.Flags = plainTexts(d.Flags.Args)
	}
	if d.Launch.At.Line > 0 {
		if len(d.Launch.Command) == 0 {
			c.errorf(d.Launch.At, "", "probe.launch.command is empty")
		}
		p.Launch = plainTexts(d.Launch.Command)
	}
	c.b.Probe = p
}

// variable checks the name of an environment variable.
func (c *checker) variable(t Text, what string) {
	if t.given() && !variableName.MatchString(t.Text) {
		c.errorf(t.Pos, "", "%s: %s is no name of an environment variable", what, quote(t.Text))
	}
}

func plainTexts(ts []Text) []string {
	var out []string
	for _, t := range ts {
		out = append(out, t.Text)
	}
	return out
}
