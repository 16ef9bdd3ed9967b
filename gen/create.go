package gen

import (
	"fmt"
	"go/types"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/sbxkit/sbxkit/spec"
)

// createFile writes create.go: the pure builder of an engine's create request.
func (p *pkg) createFile(f *jen.File) error {
	b := createBuilder{api: p.api}
	body, err := b.lines(p.lines)
	if err != nil {
		return err
	}
	f.Comment("// create builds the engine's create request that makes the container argv describes. It is pure: it reads r and nothing else.")
	f.Func().Id("create").Params(jen.Id("r").Op("*").Qual(runtimePath, "Request")).Op("*").Qual(enginePath, "CreateRequest").
		BlockFunc(func(g *jen.Group) {
			g.Id("c").Op(":=").Qual(enginePath, "NewCreateRequest").Call(jen.Id("r"))
			for _, m := range b.made {
				g.Add(m)
			}
			if b.composes {
				g.Var().Id("w").Qual(runtimePath, "Words")
			}
			g.Line()
			for _, c := range body {
				g.Add(c)
			}
			g.Line()
			g.Return(jen.Id("c"))
		})
	return nil
}

type createBuilder struct {
	api *apiTypes
	// made are the statements that make the maps that are written to; maps are the paths they are for.
	made []jen.Code
	maps map[string]bool
	// composes: some text is composed in w.
	composes bool
}

func (b *createBuilder) lines(all []line) ([]jen.Code, error) {
	var failed error
	code := grouped(all, func(l line) []jen.Code {
		c, err := b.bindings(l)
		if err != nil && failed == nil {
			failed = err
		}
		return c
	})
	return code, failed
}

func (b *createBuilder) bindings(l line) ([]jen.Code, error) {
	var out []jen.Code
	for _, binding := range l.entry.API {
		code, err := b.binding(l, binding)
		if err != nil {
			return nil, err
		}
		b.composes = b.composes || len(b.api.before) != 0
		out = append(append(out, b.api.before...), code)
		b.api.before = nil
	}
	return out, nil
}

func (b *createBuilder) binding(l line, binding spec.Binding) (jen.Code, error) {
	t, err := b.api.field(binding.Pos, binding.Path)
	if err != nil {
		return nil, err
	}
	field := jen.Id("c")
	for _, name := range strings.Split(binding.Path, ".") {
		field = field.Dot(name)
	}
	switch binding.Op {
	case spec.OpSet:
		v, err := b.api.value(l, binding.Value, t)
		return field.Op("=").Add(v), err
	case spec.OpAppend:
		return b.append(l, binding, field, t)
	case spec.OpKey, spec.OpKeyAdd:
		m, ok := types.Unalias(t).Underlying().(*types.Map)
		if !ok {
			return nil, fmt.Errorf("%s: api: %s is of type %s, not a map: it takes no key", binding.Pos, binding.Path, b.api.typeName(t))
		}
		if err := b.make(binding, field, t); err != nil {
			return nil, err
		}
		key, err := b.api.argument(l, *binding.Key, m.Key())
		if err != nil {
			return nil, err
		}
		if binding.Op == spec.OpKeyAdd {
			return b.keyAdd(l, binding, field.Clone().Index(key), m.Elem())
		}
		if binding.Value == nil {
			zero, err := b.zero(binding, m.Elem())
			return field.Clone().Index(key).Op("=").Add(zero), err
		}
		v, err := b.api.value(l, binding.Value, m.Elem())
		return field.Clone().Index(key).Op("=").Add(v), err
	default:
		return nil, fmt.Errorf("%s: api: operation %q has no code", binding.Pos, binding.Op)
	}
}

func (b *createBuilder) append(l line, binding spec.Binding, field *jen.Statement, t types.Type) (jen.Code, error) {
	s, ok := types.Unalias(t).Underlying().(*types.Slice)
	if !ok {
		return nil, fmt.Errorf("%s: api: %s is of type %s, not a list: nothing can be appended to it", binding.Pos, binding.Path, b.api.typeName(t))
	}
	v, err := b.api.value(l, binding.Value, s.Elem())
	return field.Clone().Op("=").Append(field, v), err
}

// keyAdd appends to the list that stands in a map under a key.
func (b *createBuilder) keyAdd(l line, binding spec.Binding, at *jen.Statement, elem types.Type) (jen.Code, error) {
	s, ok := types.Unalias(elem).Underlying().(*types.Slice)
	if !ok {
		return nil, fmt.Errorf("%s: api: %s holds %s, not lists: nothing can be appended to one", binding.Pos, binding.Path, b.api.typeName(elem))
	}
	v, err := b.api.value(l, binding.Value, s.Elem())
	return at.Clone().Op("=").Append(at, v), err
}

// make notes that the map at field has to exist.
func (b *createBuilder) make(binding spec.Binding, field *jen.Statement, t types.Type) error {
	if b.maps[binding.Path] {
		return nil
	}
	typ, err := b.api.typeExpr(binding.Pos, t)
	if err != nil {
		return err
	}
	if b.maps == nil {
		b.maps = map[string]bool{}
	}
	b.maps[binding.Path] = true
	b.made = append(b.made, field.Clone().Op("=").Make(typ))
	return nil
}

// zero is the zero value of a map's element type.
func (b *createBuilder) zero(binding spec.Binding, t types.Type) (jen.Code, error) {
	typ, err := b.api.typeExpr(binding.Pos, t)
	if err != nil {
		return nil, err
	}
	if _, ok := types.Unalias(t).Underlying().(*types.Struct); !ok {
		return nil, fmt.Errorf("%s: api: %s holds %s: say the value", binding.Pos, binding.Path, b.api.typeName(t))
	}
	return typ.Values(), nil
}
