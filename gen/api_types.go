package gen

import (
	"fmt"
	"go/types"
	"sort"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/sbxkit/sbxkit/spec"
)

// apiTypes resolves the field paths of a spec against the engine room's real types.
type apiTypes struct {
	room    *types.Package // runtime/engine
	request types.Type     // engine.CreateRequest
	// names are the room's own names for the API's types: generated code imports the room, never the client.
	names map[string]string
	// before are statements that have to stand before the one that is being written: they compose a text in w.
	before []jen.Code
}

// newAPITypes looks at the engine room as the target module has it.
func newAPITypes(room *types.Package) (*apiTypes, error) {
	object := room.Scope().Lookup("CreateRequest")
	if object == nil {
		return nil, fmt.Errorf("package %s declares no CreateRequest", room.Path())
	}
	a := &apiTypes{room: room, request: object.Type(), names: map[string]string{}}
	for _, name := range room.Scope().Names() {
		if t, ok := room.Scope().Lookup(name).(*types.TypeName); ok && t.Exported() {
			a.names[types.TypeString(types.Unalias(t.Type()), nil)] = name
		}
	}
	return a, nil
}

// field resolves a path ("HostConfig.PidsLimit") to the type of its last field.
func (a *apiTypes) field(pos spec.Position, path string) (types.Type, error) {
	t := a.request
	walked := "the create request"
	for i, name := range strings.Split(path, ".") {
		if p, ok := t.Underlying().(*types.Pointer); ok {
			if i > 1 {
				return nil, fmt.Errorf("%s: api: %s is a pointer that nothing sets; set it as a whole", pos, walked)
			}
			t = p.Elem()
		}
		f, err := a.member(pos, t, walked, name)
		if err != nil {
			return nil, err
		}
		t, walked = f, strings.Join(strings.Split(path, ".")[:i+1], ".")
	}
	return t, nil
}

// member finds a field, promoted ones included, of a struct.
func (a *apiTypes) member(pos spec.Position, t types.Type, where, name string) (types.Type, error) {
	s, ok := types.Unalias(t).Underlying().(*types.Struct)
	if !ok {
		return nil, fmt.Errorf("%s: api: %s is of type %s: it has no field %s", pos, where, a.typeName(t), name)
	}
	object, _, _ := types.LookupFieldOrMethod(t, true, a.room, name)
	if f, ok := object.(*types.Var); ok && f.Exported() {
		return f.Type(), nil
	}
	return nil, fmt.Errorf("%s: api: %s has no field %s; it has %s", pos, where, name, strings.Join(fieldNames(s), ", "))
}

// fieldNames lists the exported fields of a struct, those of embedded structs included.
func fieldNames(s *types.Struct) []string {
	var names []string
	for f := range s.Fields() {
		inner, isStruct := f.Type().Underlying().(*types.Struct)
		switch {
		case f.Embedded() && isStruct:
			names = append(names, fieldNames(inner)...)
		case f.Exported():
			names = append(names, f.Name())
		}
	}
	sort.Strings(names)
	return names
}

// alias gives the room's name of a named type; ok is false where the room has none.
func (a *apiTypes) alias(t types.Type) (string, bool) {
	name, ok := a.names[types.TypeString(types.Unalias(t), nil)]
	return name, ok
}

// typeName shows a type as a reader of the spec knows it.
func (a *apiTypes) typeName(t types.Type) string {
	if name, ok := a.alias(t); ok {
		return "engine." + name
	}
	return types.TypeString(t, func(p *types.Package) string { return p.Name() })
}
