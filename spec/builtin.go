package spec

import (
	"embed"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"
	"sync"
)

//go:embed backends/*.yaml
var files embed.FS

// Builtins gives the names of the built-in specs, sorted.
func Builtins() []string { return slices.Clone(builtinNames()) }

var builtinNames = sync.OnceValue(func() []string {
	entries, err := files.ReadDir("backends")
	if err != nil {
		// The directory is part of this package.
		panic(fmt.Sprintf("spec: reading embedded specs: %v", err))
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	slices.Sort(names)
	return names
})

// Builtin loads a built-in spec by its name. The error for an unknown name lists the known ones.
func Builtin(name string) (*Backend, error) {
	if !slices.Contains(builtinNames(), name) {
		return nil, fmt.Errorf("loading built-in spec %q: there is none; %s", name, suggest(name, builtinNames()))
	}
	b, diagnostics := Load(name+".yaml", readBuiltin)
	if err := diagnostics.Err(); err != nil {
		return nil, fmt.Errorf("loading built-in spec %q: %w", name, err)
	}
	return b, nil
}

// BuiltinSource gives the text of a built-in spec.
func BuiltinSource(name string) ([]byte, error) {
	data, err := readBuiltin(name + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("reading built-in spec %q: %w", name, err)
	}
	return data, nil
}

func readBuiltin(name string) ([]byte, error) { return files.ReadFile(path.Join("backends", name)) }

// Programs gives the names of the programs that a direct launch around the seam would use: those of the built-in specs, with their
// aliases, sorted. It reads no more of the specs than that; a vet tool asks in a process for each package.
func Programs() ([]string, error) {
	var names []string
	for _, name := range builtinNames() {
		data, err := BuiltinSource(name)
		if err != nil {
			return nil, err
		}
		s := &source{file: name + ".yaml"}
		var program programDoc
		if root := s.parse(data); root != nil {
			for i := 0; i+1 < len(root.Content); i += 2 {
				if root.Content[i].Value == "program" {
					s.decode(root.Content[i+1], reflect.ValueOf(&program).Elem(), "program")
				}
			}
		}
		if err := s.list.Err(); err != nil {
			return nil, fmt.Errorf("reading the program of built-in spec %q: %w", name, err)
		}
		for _, t := range append(texts{program.Name}, program.Aliases...) {
			if t.given() {
				names = append(names, t.Text)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}
