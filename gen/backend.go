package gen

import (
	"fmt"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/sbxkit/sbxkit/spec"
)

// option is one field of a generated package's Options.
type option struct {
	name string
	typ  *jen.Statement
	doc  string
	// knob is the index in the policy of the knob the option stands in for, or -1.
	knob int
	// room is the field of the room's Options that gets it; empty for none.
	room string
}

// optionsOf gives the options of a package: what its room lets a caller choose, and its spec's knobs.
func optionsOf(s *spec.Backend) ([]option, error) {
	var options []option
	switch s.Kind {
	case spec.KindProcess:
		if s.Program != nil && s.Program.Name != "" {
			options = append(options, programOption(s.Program))
		}
	case spec.KindEngine:
		options = append(options,
			option{name: "Endpoint", typ: jen.String(), knob: -1, room: "Endpoint",
				doc: "Endpoint is the engine's (unix:///run/docker.sock, tcp://host:2376). Empty: found as the engine's own tool finds it."},
			option{name: "Via", typ: jen.Qual(enginePath, "Via"), doc: "Via says which way the engine is driven. Empty: its API.", knob: -1, room: "Via"},
			programOption(s.Program),
			option{name: "Image", typ: jen.String(), doc: "Image is the default image.", knob: -1, room: "Image"},
		)
	case spec.KindScript:
		options = append(options,
			option{name: "World", typ: jen.Op("*").Qual(scriptPath, "World"), knob: -1,
				doc: "World holds what exists outside the controller. Nil: a new one of this backend's own."},
			option{name: "Script", typ: jen.Op("*").Qual(scriptPath, "Script"), knob: -1,
				doc: "Script is what every run plays. Nil: it exits 0 at once."},
		)
	}
	for i, k := range s.Policy.Knobs {
		o := knobOption(i, k)
		if at := indexOption(options, o.name); at >= 0 {
			if options[at].knob >= 0 {
				return nil, fmt.Errorf("%s: two knobs set %s", k.Pos, k.Sets)
			}
			options[at].knob, options[at].doc = i, o.doc
			continue
		}
		options = append(options, o)
	}
	return options, nil
}

func programOption(p *spec.Program) option {
	doc := "Program is the path of " + p.Name + ". Empty: "
	if p.Override != "" {
		doc += "the variable " + p.Override + ", then "
	}
	return option{name: "Program", typ: jen.String(), doc: doc + "PATH.", knob: -1, room: "Program"}
}

func indexOption(options []option, name string) int {
	for i, o := range options {
		if o.name == name {
			return i
		}
	}
	return -1
}

func knobOption(index int, k spec.Knob) option {
	o := option{typ: jen.String(), knob: index}
	what := ""
	switch k.Sets {
	case "image":
		o.name, what = "Image", "is the default image"
	case "user":
		o.name, what = "User", "is the default user, uid or uid:gid"
	case "endpoint":
		o.name, what = "Endpoint", "is the engine's endpoint"
	case "program":
		o.name, what = "Program", "is the path of the program"
	default: // limits.NAME
		term, _ := spec.Lookup(k.Sets)
		o.name, o.typ = strings.TrimPrefix(term.Field, "Limits."), jen.Uint64()
		what = "is the default of " + k.Sets + ", in its unit"
	}
	empty := "the policy's"
	if k.Default != "" {
		empty = k.Default
	}
	zero := "Empty"
	if term, ok := spec.Lookup(k.Sets); ok && term.Group() == "limits" {
		zero = "Zero"
	}
	o.doc = o.name + " " + what + ". " + zero + ": the variable " + k.Env + ", read at every launch, then " + empty + "."
	return o
}

// backendFile writes backend.go: the constructor and one visible method a step.
func (p *pkg) backendFile(f *jen.File) {
	room := rooms[p.spec.Kind]
	f.Comment("// Code generated for a newer runtime than this module has does not compile, and the name says so.")
	f.Const().Id("_").Op("=").Qual(runtimePath, "SupportsGeneratedCode1")
	f.Line()
	f.Comment("// Options are what the caller of New chooses. The zero value is right for most.")
	f.Type().Id("Options").StructFunc(func(g *jen.Group) {
		for _, o := range p.options {
			for _, line := range paragraphs(o.doc, 110) {
				g.Comment(line)
			}
			g.Id(o.name).Add(o.typ)
		}
	})
	f.Line()
	for _, line := range paragraphs("Backend is the "+p.spec.Name+" backend. "+p.spec.Summary+" It is safe for concurrent use.", 110) {
		f.Comment(line)
	}
	f.Type().Id("Backend").Struct(jen.Op("*").Qual(room, "Backend"))
	f.Line()
	f.Var().Id("_").Qual(runtimePath, "Backend").Op("=").Parens(jen.Op("*").Id("Backend")).Parens(jen.Nil())
	f.Line()
	f.Comment("// New makes the backend. It starts nothing and looks at nothing outside this process.")
	f.Func().Id("New").Params(jen.Id("o").Id("Options")).Params(jen.Op("*").Id("Backend"), jen.Error()).BlockFunc(p.constructor)
	f.Line()
	p.steps(f)
}

func (p *pkg) constructor(g *jen.Group) {
	room := rooms[p.spec.Kind]
	g.Id("d").Op(":=").Id("describe").Call()
	for _, o := range p.options {
		if o.knob < 0 {
			continue
		}
		value := jen.Id("o").Dot(o.name)
		condition, given := value.Clone().Op("!=").Lit(""), value
		if p.isLimit(o) {
			condition = value.Clone().Op("!=").Lit(0)
			given = jen.Qual("strconv", "FormatUint").Call(value, jen.Lit(10))
		}
		g.If(condition).Block(
			jen.Id("d").Dot("Policy").Dot("Knobs").Index(jen.Lit(o.knob)).Op("=").Add(rt("Knob")).Values(
				jen.Id("Sets").Op(":").Add(literal(p.spec.Policy.Knobs[o.knob].Sets)), jen.Id("Default").Op(":").Add(given)),
		)
	}
	g.List(jen.Id("b"), jen.Err()).Op(":=").Qual(room, "New").Call(p.definition())
	g.If(jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Nil(), jen.Err()))
	g.Return(jen.Op("&").Id("Backend").Values(jen.Id("b")), jen.Nil())
}

func (p *pkg) isLimit(o option) bool {
	return o.knob >= 0 && strings.HasPrefix(p.spec.Policy.Knobs[o.knob].Sets, "limits.")
}

// definition is what the package tells its room.
func (p *pkg) definition() jen.Code {
	var c composite
	c.add("Description", jen.Id("d"))
	c.add("Argv", jen.Id("argv"))
	c.add("Explain", jen.Id("explain"))
	switch p.spec.Kind {
	case spec.KindProcess:
		p.processDefinition(&c)
	case spec.KindEngine:
		p.engineDefinition(&c)
	case spec.KindScript:
		c.add("World", jen.Id("o").Dot("World"))
		c.add("Script", jen.Id("o").Dot("Script"))
	}
	return c.lines(jen.Qual(rooms[p.spec.Kind], "Definition"))
}

// roomOptions is the room's Options out of the package's.
func (p *pkg) roomOptions(c *composite) {
	var o composite
	for _, option := range p.options {
		if option.room != "" {
			o.add(option.room, jen.Id("o").Dot(option.name))
		}
	}
	if len(o.fields) != 0 {
		c.add("Options", o.inline(jen.Qual(rooms[p.spec.Kind], "Options")))
	}
}

func (p *pkg) processDefinition(c *composite) {
	s := p.spec
	if s.Program != nil {
		c.text("Program", s.Program.Name)
		c.text("Override", p.override())
	}
	p.roomOptions(c)
	if v := s.Probe.Version; v != nil {
		var probe composite
		probe.add("Args", texts(v.Args))
		probe.text("Pattern", v.Pattern)
		c.add("Version", probe.inline(jen.Qual(processPath, "VersionProbe")))
	}
	c.add("Flags", texts(s.Probe.Flags))
	c.add("Launch", texts(s.Probe.Launch))
	gate := "GateExec"
	if s.Lifecycle.Start.Gate == "block-fd" {
		gate = "GateBlockFD"
	}
	c.add("Gate", jen.Qual(processPath, gate))
	arguments := "ArgumentsArgv"
	if s.Program != nil && s.Program.Arguments == spec.ArgumentsDescriptor {
		arguments = "ArgumentsDescriptor"
	}
	c.add("Arguments", jen.Qual(processPath, arguments))
}

// override is the variable of the controller that names another program.
func (p *pkg) override() string {
	for _, k := range p.spec.Policy.Knobs {
		if k.Sets == "program" {
			return k.Env
		}
	}
	return p.spec.Program.Override
}

func (p *pkg) engineDefinition(c *composite) {
	s := p.spec
	c.add("Create", jen.Id("create"))
	c.add("Engines", texts(s.Engine.Names))
	var endpoints []string
	for _, k := range s.Policy.Knobs {
		if k.Sets == "endpoint" {
			endpoints = append(endpoints, k.Env)
		}
	}
	if s.Engine.Endpoint != "" {
		endpoints = append(endpoints, s.Engine.Endpoint)
	}
	c.add("EndpointEnv", texts(endpoints))
	c.add("Sockets", texts(s.Engine.Default))
	c.flag("Contexts", s.Engine.Contexts)
	c.text("Program", s.Program.Name)
	c.text("Override", p.override())
	c.add("Probe", texts(s.Probe.Launch))
	p.roomOptions(c)
}

// steps writes one method for each step a backend has, so that a reader sees in one file what the package does.
func (p *pkg) steps(f *jen.File) {
	kind := p.spec.Kind
	own := func(name string, params, results []jen.Code, doc string, args ...string) {
		for _, line := range paragraphs(doc, 118) {
			f.Comment(line)
		}
		call := make([]jen.Code, 0, len(args))
		for _, a := range args {
			call = append(call, jen.Id(a))
		}
		f.Func().Params(jen.Id("b").Op("*").Id("Backend")).Id(name).Params(params...).Params(results...).Block(
			jen.Return(jen.Id("b").Dot("Backend").Dot(name).Call(call...)))
		f.Line()
	}
	ctx := jen.Id("ctx").Qual("context", "Context")
	own("Describe", nil, []jen.Code{jen.Op("*").Add(rt("Description"))}, "Describe gives the spec's data.")
	own("Probe", []jen.Code{ctx, jen.Id("r").Add(rt("ProbeRequest"))}, []jen.Code{jen.Op("*").Add(rt("Identity")), jen.Error()},
		"Probe is step 1: "+stepDoc[kind].probe, "ctx", "r")
	own("Plan", []jen.Code{jen.Id("in").Add(rt("PlanInput"))}, []jen.Code{jen.Op("*").Add(rt("Plan")), jen.Error()},
		"Plan is pure: it orders the mounts, builds the words and refuses what "+p.spec.Name+" cannot do.", "in")
	own("Prepare", []jen.Code{ctx, jen.Id("p").Op("*").Add(rt("Plan"))}, []jen.Code{rt("Resources"), jen.Error()},
		"Prepare is step 2: "+stepDoc[kind].prepare+" Steps 3 to 6 and 8 are the resources' own.", "ctx", "p")
	own("Reopen", []jen.Code{ctx, jen.Id("t").Add(rt("Token"))}, []jen.Code{rt("Resources"), jen.Error()},
		"Reopen gives a handle on what an earlier run left, by its token alone: step 9 works on it.", "ctx", "t")
}

// stepDoc says what the steps do for a kind.
var stepDoc = map[spec.Kind]struct{ probe, prepare string }{
	spec.KindProcess: {
		"it reads what the installed program has, then launches a minimal sandbox and leaves nothing behind.",
		"it makes what the run needs outside the sandbox; a process has no resource of its own.",
	},
	spec.KindEngine: {
		"it asks the engine who it is, then launches a minimal container and removes it.",
		"it creates the container under the run's own name, not started.",
	},
	spec.KindScript: {
		"it answers what the script says.",
		"it allocates what the script says in the world.",
	},
}
