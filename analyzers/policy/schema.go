package policy

import (
	"encoding/json"
	"fmt"
)

// Schema returns the JSON schema (draft 2020-12) of a policy file, for editors. rules are the names of the rules that exist. What a schema cannot say,
// Load refuses all the same: a key that appears twice, and a path that is no pattern.
func Schema(rules []string) ([]byte, error) {
	type object = map[string]any
	text := func(description string) object { return object{"type": "string", "description": description} }
	flag := func(description string) object { return object{"type": "boolean", "description": description} }
	mapping := func(description string, properties object) object {
		return object{"type": []string{"object", "null"}, "description": description, "properties": properties, "additionalProperties": false}
	}
	path := text("Of the files, relative to this one's directory, with forward slashes; ** stands for any number of elements, and a directory for all below it.")
	path["pattern"] = `^[^/\\][^\\]*$`
	path["not"] = object{"pattern": `(^|/)\.\.(/|$)`}
	reason := text("Why, for the next reader.")
	reason["pattern"] = `\S`
	program := text("A name, without a directory.")
	program["pattern"] = `^[^/\\]+$`
	rule := object{
		"type": "object",
		"properties": object{
			"path":   path,
			"reason": reason,
			"rules":  object{"type": "array", "minItems": 1, "items": object{"enum": rules}, "description": "The rules to keep away; all when left out."},
		},
		"required":             []string{"path", "reason"},
		"additionalProperties": false,
	}
	schema := mapping("What sbxvet leaves alone, or looks at besides.", object{
		"exclude":  object{"type": "array", "items": rule, "description": "Files that rules leave alone."},
		"programs": object{"type": "array", "items": program, "description": "Programs that only a backend may start, besides those of the built-in specs."},
		"hostenv":  mapping("", object{"everywhere": flag("Look beyond seam and backend packages.")}),
		"rawshell": mapping("", object{"constants": flag("Allow text that is constant through and through, outside a launch.")}),
	})
	schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	schema["title"] = FileName
	data, err := json.MarshalIndent(schema, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encoding the policy's schema: %w", err)
	}
	return append(data, '\n'), nil
}
