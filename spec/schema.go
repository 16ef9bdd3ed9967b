package spec

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
)

//go:generate go test . -run TestSchemaIsCurrent -update

//go:embed schema.json
var schema []byte

// Schema gives the language as a JSON Schema (2020-12), for editors. What it cannot know (positions in a list, what a base allows, whether
// every name is spoken of) is the loader's: a document that it refuses is refused by Load too, not the other way round.
func Schema() []byte { return slices.Clone(schema) }

// schemaName is the schema's own address; nothing is fetched from it.
const schemaName = "https://github.com/sbxkit/sbxkit/spec/schema.json"

// makeSchema makes the schema from the types that the loader reads into.
func makeSchema() ([]byte, error) {
	m := schemaMaker{defs: map[string]*jsonschema.Schema{}, types: map[reflect.Type]*jsonschema.Schema{}}
	m.leaves()
	m.arguments()
	m.entries()
	m.policies()
	root := m.object(reflect.TypeFor[document]())
	if m.err != nil {
		return nil, fmt.Errorf("making the schema: %w", m.err)
	}
	m.closed(root)
	root.Schema, root.ID, root.Defs = "https://json-schema.org/draft/2020-12/schema", schemaName, m.defs
	root.Title = "sbxkit backend spec"
	root.AnyOf = []*jsonschema.Schema{
		{Required: []string{"extends"}}, {Required: []string{"kind", "summary", "dialect", "lifecycle"}},
	}
	withoutNull(root)
	b, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("writing the schema: %w", err)
	}
	return append(b, '\n'), nil
}

type schemaMaker struct {
	defs  map[string]*jsonschema.Schema
	types map[reflect.Type]*jsonschema.Schema
	err   error
}

// object gives the schema of a struct of this package.
func (m *schemaMaker) object(t reflect.Type) *jsonschema.Schema {
	s, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: m.types})
	if err != nil && m.err == nil {
		m.err = fmt.Errorf("%s: %w", t.Name(), err)
	}
	if s == nil {
		return &jsonschema.Schema{}
	}
	return s
}

// define puts the schema of a type among the definitions, once, and makes every use of the type refer to it.
func (m *schemaMaker) define(t reflect.Type, name string, s *jsonschema.Schema) {
	m.defs[name] = s
	m.types[t] = ref(name)
}

func ref(name string) *jsonschema.Schema { return &jsonschema.Schema{Ref: "#/$defs/" + name} }

func words(set ...string) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string"}
	for _, w := range set {
		s.Enum = append(s.Enum, w)
	}
	return s
}

func pattern(p string) *jsonschema.Schema { return &jsonschema.Schema{Type: "string", Pattern: p} }

func list(of *jsonschema.Schema) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "array", Items: of}
}

func either(of ...*jsonschema.Schema) *jsonschema.Schema { return &jsonschema.Schema{AnyOf: of} }

func oneOrMany(of *jsonschema.Schema) *jsonschema.Schema {
	many := list(of)
	many.MinItems = jsonschema.Ptr(1)
	return either(of, many)
}

// nothing refuses everything.
func nothing() *jsonschema.Schema { return &jsonschema.Schema{Not: &jsonschema.Schema{}} }

// exactlyOne asks for exactly one of some keys.
func exactlyOne(keys ...string) []*jsonschema.Schema {
	var out []*jsonschema.Schema
	for _, k := range keys {
		out = append(out, &jsonschema.Schema{Required: []string{k}})
	}
	return out
}

// keyed is a mapping with the given keys, each described, all with the same kind of value.
func keyed(value *jsonschema.Schema, describe func(string) string, keys ...string) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}, PropertyOrder: keys, AdditionalProperties: nothing()}
	for _, k := range keys {
		v := value.CloneSchemas()
		v.Description = describe(k)
		s.Properties[k] = v
	}
	return s
}

func reasoned(s *jsonschema.Schema) *jsonschema.Schema {
	if s.Properties == nil {
		s.Properties = map[string]*jsonschema.Schema{}
	}
	s.Properties["because"] = &jsonschema.Schema{Type: "string", Description: "Why it is wider than the base's."}
	s.PropertyOrder = append(slices.Clone(s.PropertyOrder), "because")
	return s
}

func sentenceOf(prefix string) func(string) string {
	return func(name string) string {
		t, _ := Lookup(prefix + name)
		return t.Sentence
	}
}

func (m *schemaMaker) leaves() {
	m.types[reflect.TypeFor[Text]()] = &jsonschema.Schema{Type: "string"}
	m.types[reflect.TypeFor[raw]()] = &jsonschema.Schema{Types: []string{"string", "number", "boolean"}}
	m.types[reflect.TypeFor[boolean]()] = &jsonschema.Schema{Type: "boolean"}
	m.types[reflect.TypeFor[texts]()] = list(&jsonschema.Schema{Type: "string"})
	m.defs["name"] = words(termNames()...)
	m.types[reflect.TypeFor[oneOrMore]()] = oneOrMany(ref("name"))
}

func (m *schemaMaker) arguments() {
	m.types[reflect.TypeFor[argDoc]()] = ref("argument")
	m.types[reflect.TypeFor[valueDoc]()] = ref("value")
	piece := m.object(reflect.TypeFor[pieceObject]())
	piece.OneOf = exactlyOne("text", "value")
	m.define(reflect.TypeFor[pieceDoc](), "piece", either(&jsonschema.Schema{Type: "string"}, piece))
	argument := m.object(reflect.TypeFor[argObject]())
	argument.OneOf = exactlyOne("text", "bool", "join", "csv")
	m.defs["argument"] = either(&jsonschema.Schema{Type: "string"}, argument)
	fields := &jsonschema.Schema{Type: "object", PropertyNames: pattern(fieldName.String()), MinProperties: jsonschema.Ptr(1),
		AdditionalProperties: ref("value")}
	m.defs["value"] = either(ref("argument"), fields)
	binding := m.object(reflect.TypeFor[apiDoc]())
	binding.Properties["path"].Pattern = fieldPath.String()
	m.define(reflect.TypeFor[apiDocs](), "api", either(words(roomAPI), oneOrMany(binding)))
}

func (m *schemaMaker) entries() {
	spelled := m.object(reflect.TypeFor[spelledDoc]())
	flagged(spelled)
	spelled.AnyOf = exactlyOne("flag", "args", "api")
	m.define(reflect.TypeFor[oneEntryOrMore](), "spelled", oneOrMany(spelled))
	m.types[reflect.TypeFor[table[oneEntryOrMore]]()] = keyed(ref("spelled"), sentenceOf("mount."), below("mount")...)
	entry := m.object(reflect.TypeFor[entryDoc]())
	flagged(entry)
	entry.Properties["pick"].Enum = words(pickSet...).Enum
	entry.Properties["each"].Enum = []any{mountSum}
	entry.AnyOf = exactlyOne("word", "flag", "each", "args", "api")
	entry.DependentRequired = map[string][]string{"each": {"spell"}, "spell": {"each"}, "since": {"flag"}, "pick": {"for"}}
	m.define(reflect.TypeFor[entryDoc](), "entry", entry)
}

func flagged(s *jsonschema.Schema) {
	s.Properties["flag"].Pattern = flagName.String()
	s.Properties["since"].Pattern = version.String()
}

func (m *schemaMaker) policies() {
	m.types[reflect.TypeFor[table[Text]]()] = ref("unset") // by, implied and unsupported; see closed
	m.types[reflect.TypeFor[section[Text]]()] = &jsonschema.Schema{Type: "object", PropertyNames: pattern(variableName.String()),
		AdditionalProperties: &jsonschema.Schema{Type: "string"}}

	limit := either(&jsonschema.Schema{Types: []string{"string", "number"}}, m.object(reflect.TypeFor[limitObject]()))
	m.define(reflect.TypeFor[limitDoc](), "limit", limit)
	m.types[reflect.TypeFor[section[limitDoc]]()] = reasoned(keyed(ref("limit"), sentenceOf("limits."), below("limits")...))

	// YAML 1.1 reads a bare off as false.
	level := &jsonschema.Schema{Enum: append(words(levelSet...).Enum, false)}
	option := m.object(reflect.TypeFor[hardeningObject]())
	option.Properties["level"] = level.CloneSchemas()
	m.define(reflect.TypeFor[hardeningDoc](), "option", either(level, option))
	m.types[reflect.TypeFor[section[hardeningDoc]]()] = reasoned(keyed(ref("option"), sentenceOf("hardening."), below("hardening")...))

	mount := m.object(reflect.TypeFor[mountDoc]())
	mount.OneOf = exactlyOne(mountSet...)
	mount.Properties["scope"].Enum = words(scopeSet...).Enum
	m.define(reflect.TypeFor[mountDoc](), "mount", mount)

	credential := m.object(reflect.TypeFor[credentialDoc]())
	credential.OneOf = exactlyOne("env", "file", "descriptor")
	m.define(reflect.TypeFor[credentialDoc](), "credential", credential)
	m.types[reflect.TypeFor[section[credentialDoc]]()] = reasoned(&jsonschema.Schema{Type: "object", PropertyNames: pattern(roleName.String()),
		AdditionalProperties: ref("credential")})
}

// closed writes the closed sets into the finished tree.
func (m *schemaMaker) closed(root *jsonschema.Schema) {
	at := func(path ...string) *jsonschema.Schema {
		s := root
		for _, p := range path {
			if s = s.Properties[p]; s == nil {
				m.err = fmt.Errorf("there is no %v", path)
				return &jsonschema.Schema{}
			}
		}
		return s
	}
	enum := func(s *jsonschema.Schema, set []string) { s.Enum = words(set...).Enum }
	items := func(s *jsonschema.Schema, set []string) { s.Items = words(set...) }
	root.Properties["sbx"] = &jsonschema.Schema{Enum: []any{1, "1"}, Description: at("sbx").Description}
	at("backend").Pattern = packageName.String()
	enum(at("kind"), kindSet)
	enum(at("program", "arguments"), argumentsSet)
	at("program", "override").Pattern = variableName.String()
	at("engine", "endpoint").Pattern = variableName.String()
	items(at("policy", "network", "accept"), networkRank)
	enum(at("policy", "network", "default"), networkRank)
	items(at("policy", "user", "accept"), userSet)
	enum(at("policy", "user", "default"), userSet)
	enum(at("policy", "image", "pull"), pullRank)
	items(at("policy", "workspace", "accept"), below("workspace"))
	for _, name := range []string{"forward", "accept", "deny"} {
		at("policy", "environment", name).Items = pattern(variablePat.String())
	}
	knob := at("policy", "knobs").Items
	enum(knob.Properties["sets"], knobSet())
	knob.Properties["env"].Pattern = variableName.String()
	life := root.Properties["lifecycle"]
	for name, set := range map[string][]string{"prepare": prepareSet, "export": exportSet, "reconcile": reconcileSet} {
		enum(life.Properties[name], set)
	}
	for name, set := range map[string][]string{"gate": gateSet, "status": statusSet, "session": sessionSet} {
		enum(life.Properties["start"].Properties[name], set)
	}
	enum(life.Properties["remove"].Properties["teardown"], teardownSet)

	dialect := root.Properties["dialect"]
	names := append(termNames(), groups()...)
	for name, value := range map[string]*jsonschema.Schema{
		"by": words(primitiveNames("")...), "implied": {Type: "string"}, "unsupported": {Type: "string"},
	} {
		dialect.Properties[name] = &jsonschema.Schema{Type: "object", Description: dialect.Properties[name].Description,
			PropertyNames: words(names...), AdditionalProperties: value}
	}
}

// withoutNull takes null out of every type: the language has no such value.
func withoutNull(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if s.Types = slices.DeleteFunc(s.Types, func(t string) bool { return t == "null" }); len(s.Types) == 1 {
		s.Type, s.Types = s.Types[0], nil
	}
	if len(s.Types) == 0 {
		s.Types = nil
	}
	for _, sub := range []*jsonschema.Schema{s.Items, s.AdditionalProperties, s.PropertyNames, s.Not} {
		withoutNull(sub)
	}
	for _, subs := range [][]*jsonschema.Schema{s.AnyOf, s.OneOf} {
		for _, sub := range subs {
			withoutNull(sub)
		}
	}
	for _, subs := range []map[string]*jsonschema.Schema{s.Properties, s.Defs} {
		for _, sub := range subs {
			withoutNull(sub)
		}
	}
}
