package spec

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"go.yaml.in/yaml/v4"
)

var update = flag.Bool("update", false, "write schema.json and the expected messages of the bad fixtures")

func TestSchemaIsCurrent(t *testing.T) {
	want, err := makeSchema()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("schema.json", want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(want, Schema()) {
		t.Error("schema.json is not what the types give; run go generate ./spec")
	}
}

func TestSchemaIsTheSameEveryTime(t *testing.T) {
	first, err := makeSchema()
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		again, err := makeSchema()
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(first, again) {
			t.Fatal("two schemas made from the same types differ")
		}
	}
}

// resolved gives the schema made for validating.
func resolved(t *testing.T) *jsonschema.Resolved {
	t.Helper()
	made, err := makeSchema()
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(made, &s); err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// instance reads YAML as the value an editor would check.
func instance(t *testing.T, text []byte) any {
	t.Helper()
	var v any
	if err := yaml.Load(text, &v); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestSchemaAcceptsEveryBuiltinSpec(t *testing.T) {
	r := resolved(t)
	for _, name := range Builtins() {
		text, err := BuiltinSource(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Validate(instance(t, text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
