package spec

import (
	"reflect"
	"unicode"

	"go.yaml.in/yaml/v4"
)

// The types here are a spec as it is written: the json tags are the keys, the jsonschema tags what an editor shows. The loader reads
// into them, and schema.json is made from them, so that the two cannot differ. A field without omitzero must be given.

type document struct {
	At          Position     `json:"-"`
	Sbx         raw          `json:"sbx" jsonschema:"Version of the language: 1."`
	Backend     Text         `json:"backend" jsonschema:"Name of the backend and of its Go package: lower-case letters and digits."`
	Extends     Text         `json:"extends,omitzero" jsonschema:"A built-in spec's name, or a path relative to this file. Only what differs is written."`
	Kind        Text         `json:"kind,omitzero" jsonschema:"process, engine or script."`
	Summary     Text         `json:"summary,omitzero" jsonschema:"One line on what the backend is."`
	Unsandboxed boolean      `json:"unsandboxed,omitzero" jsonschema:"True for a backend that isolates nothing."`
	Program     programDoc   `json:"program,omitzero" jsonschema:"The launcher's program."`
	Engine      engineDoc    `json:"engine,omitzero" jsonschema:"The container engine, for kind engine."`
	Probe       probeDoc     `json:"probe,omitzero" jsonschema:"How the tool is probed."`
	Dialect     dialectDoc   `json:"dialect,omitzero" jsonschema:"How the tool spells what a launch asks for."`
	Policy      policyDoc    `json:"policy,omitzero" jsonschema:"What is asked for by default, and what a launch may ask for."`
	Lifecycle   lifecycleDoc `json:"lifecycle,omitzero" jsonschema:"What the steps are bound to."`
}

type programDoc struct {
	At        Position `json:"-"`
	Name      Text     `json:"name,omitzero" jsonschema:"The program, looked up in PATH."`
	Aliases   texts    `json:"aliases,omitzero" jsonschema:"Other programs with the same command line."`
	Override  Text     `json:"override,omitzero" jsonschema:"Environment variable of the controller that names another program."`
	Arguments Text     `json:"arguments,omitzero" jsonschema:"How words reach the program: argv, or descriptor (NUL-separated, from gate.args)."`
	Because   Text     `json:"because,omitzero" jsonschema:"Why another program than the base's."`
}

type engineDoc struct {
	At       Position `json:"-"`
	Names    texts    `json:"names,omitzero" jsonschema:"What /version may call the engine."`
	Endpoint Text     `json:"endpoint,omitzero" jsonschema:"Environment variable of the controller that names the endpoint."`
	Default  texts    `json:"default,omitzero" jsonschema:"Sockets tried in order where the variable is not set; a first part $NAME is a variable of the controller."`
	Contexts boolean  `json:"contexts,omitzero" jsonschema:"True where the tool keeps named endpoints, as docker context."`
	Because  Text     `json:"because,omitzero" jsonschema:"Why another engine than the base's."`
}

type probeDoc struct {
	At      Position   `json:"-"`
	Version versionDoc `json:"version,omitzero" jsonschema:"Prints the version."`
	Flags   argsDoc    `json:"flags,omitzero" jsonschema:"Prints the flags this build has."`
	Launch  commandDoc `json:"launch,omitzero" jsonschema:"The minimal launch."`
}

type versionDoc struct {
	At      Position `json:"-"`
	Args    texts    `json:"args" jsonschema:"Words after the program."`
	Pattern Text     `json:"pattern" jsonschema:"Regular expression (RE2); its one group is the version."`
}

type argsDoc struct {
	At   Position `json:"-"`
	Args texts    `json:"args" jsonschema:"Words after the program."`
}

type commandDoc struct {
	At      Position `json:"-"`
	Command texts    `json:"command" jsonschema:"A program inside, and its words."`
}

type dialectDoc struct {
	At          Position              `json:"-"`
	Words       []entryDoc            `json:"words,omitzero" jsonschema:"The argument vector, in order. In an extending spec it replaces the base's."`
	Spell       table[oneEntryOrMore] `json:"spell,omitzero" jsonschema:"In an extending spec: how kinds of mount are spelled where that differs from the base's."`
	By          table[Text]           `json:"by,omitzero" jsonschema:"What is done by a primitive: vocabulary name to primitive."`
	Implied     table[Text]           `json:"implied,omitzero" jsonschema:"What the tool does anyway: vocabulary name to reason."`
	Unsupported table[Text]           `json:"unsupported,omitzero" jsonschema:"What a launch is refused for: vocabulary name to reason."`
	Because     Text                  `json:"because,omitzero" jsonschema:"Why another dialect than the base's."`
}

type entryDoc struct {
	At    Position              `json:"-"`
	Word  Text                  `json:"word,omitzero" jsonschema:"A constant word."`
	Flag  Text                  `json:"flag,omitzero" jsonschema:"An option of the tool."`
	For   oneOrMore             `json:"for,omitzero" jsonschema:"The vocabulary name it spells; of several, any one asks for it. Without it the words always stand."`
	Pick  Text                  `json:"pick,omitzero" jsonschema:"Of a list: only its first item, or the rest."`
	When  Text                  `json:"when,omitzero" jsonschema:"Only where this value is not zero."`
	Args  []argDoc              `json:"args,omitzero" jsonschema:"Words after the flag: value names of the vocabulary entry, or texts."`
	Since Text                  `json:"since,omitzero" jsonschema:"Version the flag appeared in."`
	Each  Text                  `json:"each,omitzero" jsonschema:"mount: every mount stands here, in the planner's order."`
	Spell table[oneEntryOrMore] `json:"spell,omitzero" jsonschema:"How each kind of mount is spelled."`
	API   apiDocs               `json:"api,omitzero" jsonschema:"Fields of the engine's create request that say the same."`
}

// spelledDoc is an entry for one kind of mount.
type spelledDoc struct {
	At    Position `json:"-"`
	Flag  Text     `json:"flag,omitzero" jsonschema:"An option of the tool."`
	When  Text     `json:"when,omitzero" jsonschema:"Only where this value is not zero."`
	Args  []argDoc `json:"args,omitzero" jsonschema:"Words after the flag: value names of the kind, or texts."`
	Since Text     `json:"since,omitzero" jsonschema:"Version the flag appeared in."`
	API   apiDocs  `json:"api,omitzero" jsonschema:"Fields of the engine's create request that say the same."`
}

type oneEntryOrMore []spelledDoc

func (es *oneEntryOrMore) read(s *source, n *yaml.Node, what string) {
	readOneOrMore(s, n, what, (*[]spelledDoc)(es))
}

// readOneOrMore reads a T or a list of T.
func readOneOrMore[T any](s *source, n *yaml.Node, what string, out *[]T) {
	if n.Kind == yaml.SequenceNode {
		if len(n.Content) == 0 {
			s.errorf(s.at(n), "", "%s is an empty list", what)
		}
		s.decode(n, reflect.ValueOf(out).Elem(), what)
		return
	}
	var one T
	item := reflect.ValueOf(&one).Elem()
	s.decode(n, item, what)
	if placed(item) {
		*out = []T{one}
	}
}

// argDoc is a value name, or a mapping with one of the keys of argObject.
type argDoc struct {
	At    Position
	Value Text // a value name
	argObject
}

type argObject struct {
	Text Text       `json:"text,omitzero" jsonschema:"A word as it is."`
	Bool boolean    `json:"bool,omitzero" jsonschema:"A truth value of an engine field."`
	Join []pieceDoc `json:"join,omitzero" jsonschema:"One word made of pieces."`
	CSV  []fieldDoc `json:"csv,omitzero" jsonschema:"One word of comma-separated, quoted fields."`
}

func (a *argDoc) read(s *source, n *yaml.Node, what string) {
	a.At = s.at(n)
	if n.Kind == yaml.ScalarNode {
		a.Value.read(s, n, what)
		return
	}
	before := len(s.list)
	s.decode(n, reflect.ValueOf(&a.argObject).Elem(), what)
	if given := a.count(); given != 1 && len(s.list) == before {
		s.errorf(a.At, "a value name, or one of text, bool, join, csv", "%s says %d things; one is wanted", what, given)
	}
}

func (a *argDoc) count() int {
	n := 0
	for _, given := range []bool{a.Value.given(), a.Text.given(), a.Bool.given(), a.Join != nil, a.CSV != nil} {
		if given {
			n++
		}
	}
	return n
}

// pieceDoc is a value name, or a text or value that may have a condition.
type pieceDoc struct {
	At Position
	pieceObject
}

type pieceObject struct {
	Text  Text `json:"text,omitzero" jsonschema:"A piece as it is."`
	Value Text `json:"value,omitzero" jsonschema:"A value name."`
	When  Text `json:"when,omitzero" jsonschema:"Only where this value is not zero."`
}

func (p *pieceDoc) read(s *source, n *yaml.Node, what string) {
	p.At = s.at(n)
	if n.Kind == yaml.ScalarNode {
		p.Value.read(s, n, what)
		return
	}
	before := len(s.list)
	s.decode(n, reflect.ValueOf(&p.pieceObject).Elem(), what)
	if p.Text.given() == p.Value.given() && len(s.list) == before {
		s.errorf(p.At, "", "a piece of %s is a text or a value", what)
	}
}

// fieldDoc is one field of comma-separated values.
type fieldDoc struct {
	At    Position `json:"-"`
	Text  Text     `json:"text,omitzero" jsonschema:"A field as it is."`
	Name  Text     `json:"name,omitzero" jsonschema:"What stands before the value, with its equals sign."`
	Value Text     `json:"value,omitzero" jsonschema:"A value name."`
	When  Text     `json:"when,omitzero" jsonschema:"Only where this value is not zero."`
}

// apiDocs is one binding or a list of them, or the word room.
type apiDocs []apiDoc

type apiDoc struct {
	At     Position  `json:"-"`
	Path   Text      `json:"path" jsonschema:"Field of the create request, as HostConfig.PidsLimit."`
	Value  *valueDoc `json:"value,omitzero" jsonschema:"What the field is set to; the one argument, or true, where it is left out."`
	Append *valueDoc `json:"append,omitzero" jsonschema:"What is appended to the field."`
	Key    *argDoc   `json:"key,omitzero" jsonschema:"The key, where the field is a map."`

	room bool
}

// roomAPI, in place of bindings, says that the primitives room sets the fields itself.
const roomAPI = "room"

func (as *apiDocs) read(s *source, n *yaml.Node, what string) {
	if n.Kind == yaml.ScalarNode && n.Value == roomAPI {
		*as = apiDocs{{At: s.at(n), room: true}}
		return
	}
	readOneOrMore(s, n, what, (*[]apiDoc)(as))
}

// valueDoc is an argDoc, or an object whose keys are exported Go names.
type valueDoc struct {
	At     Position
	Arg    *argDoc
	Fields *table[valueDoc]
}

func (v *valueDoc) read(s *source, n *yaml.Node, what string) {
	v.At = s.at(n)
	if n.Kind == yaml.MappingNode && len(n.Content) > 0 {
		if key := n.Content[0].Value; key != "" && unicode.IsUpper([]rune(key)[0]) {
			v.Fields = new(table[valueDoc])
			v.Fields.read(s, n, what)
			return
		}
	}
	v.Arg = new(argDoc)
	v.Arg.read(s, n, what)
}
