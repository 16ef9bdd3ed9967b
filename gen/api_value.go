package gen

import (
	"fmt"
	"go/types"

	"github.com/dave/jennifer/jen"

	"github.com/sbxkit/sbxkit/spec"
)

// value gives a spec's API value as Go of type t.
func (a *apiTypes) value(l line, v *spec.APIValue, t types.Type) (jen.Code, error) {
	if p, ok := types.Unalias(t).Underlying().(*types.Pointer); ok {
		inner, err := a.value(l, v, p.Elem())
		if err != nil {
			return nil, err
		}
		if v.Arg == nil {
			return jen.Op("&").Add(inner), nil
		}
		return jen.New(inner), nil
	}
	if v.Arg != nil {
		return a.argument(l, *v.Arg, t)
	}
	if _, ok := types.Unalias(t).Underlying().(*types.Struct); !ok {
		return nil, fmt.Errorf("%s: api: an object cannot be of type %s", v.Pos, a.typeName(t))
	}
	name, ok := a.alias(t)
	if !ok {
		return nil, fmt.Errorf("%s: api: package runtime/engine has no name for %s; declare one there", v.Pos, a.typeName(t))
	}
	fields := make([]jen.Code, 0, len(v.Fields))
	for i := range v.Fields {
		f := &v.Fields[i]
		fieldType, err := a.member(f.Pos, t, a.typeName(t), f.Name)
		if err != nil {
			return nil, err
		}
		inner, err := a.value(l, &f.Value, fieldType)
		if err != nil {
			return nil, err
		}
		fields = append(fields, jen.Id(f.Name).Op(":").Add(inner))
	}
	return jen.Qual(enginePath, name).Values(fields...), nil
}

// argument gives one argument as Go of type t.
func (a *apiTypes) argument(l line, arg spec.Arg, t types.Type) (jen.Code, error) {
	basic, isBasic := types.Unalias(t).Underlying().(*types.Basic)
	if slice, ok := types.Unalias(t).Underlying().(*types.Slice); ok {
		inner, err := a.argument(l, arg, slice.Elem())
		if err != nil {
			return nil, err
		}
		typ, err := a.typeExpr(arg.Pos, t)
		if err != nil {
			return nil, err
		}
		return typ.Values(inner), nil
	}
	if !isBasic {
		return nil, fmt.Errorf("%s: api: one value cannot be of type %s", arg.Pos, a.typeName(t))
	}
	mismatch := func() error {
		return fmt.Errorf("%s: api: %s is not of type %s", arg.Pos, describeArg(arg), a.typeName(t))
	}
	switch arg.Kind {
	case spec.ArgBool:
		if basic.Info()&types.IsBoolean == 0 {
			return nil, mismatch()
		}
		return jen.Lit(arg.Bool), nil
	case spec.ArgText:
		if basic.Info()&types.IsString == 0 {
			return nil, mismatch()
		}
		return literal(arg.Text), nil
	case spec.ArgValue:
		v, err := l.value(arg.Pos, arg.Value.Name)
		if err != nil {
			return nil, err
		}
		code, from := v.as(basic)
		if code == nil {
			return nil, mismatch()
		}
		return a.named(arg.Pos, code, t, from)
	case spec.ArgJoin:
		if basic.Info()&types.IsString == 0 {
			return nil, mismatch()
		}
		w, err := l.word(arg)
		if err != nil {
			return nil, err
		}
		code := w.concatenation()
		if code == nil {
			a.before = append(a.before, composed(w)...)
			code = jen.Id("w").Dot("Take").Call()
		}
		return a.named(arg.Pos, code, t, "string")
	default:
		return nil, mismatch()
	}
}

// named converts code, of the built-in type from, to a named type where t is one.
func (a *apiTypes) named(pos spec.Position, code *jen.Statement, t types.Type, from string) (jen.Code, error) {
	if b, ok := types.Unalias(t).(*types.Basic); ok {
		if b.Name() == from {
			return code, nil
		}
		return jen.Id(b.Name()).Call(code), nil
	}
	typ, err := a.typeExpr(pos, t)
	if err != nil {
		return nil, err
	}
	return typ.Call(code), nil
}

// typeExpr writes a type by the room's name for it.
func (a *apiTypes) typeExpr(pos spec.Position, t types.Type) (*jen.Statement, error) {
	if name, ok := a.alias(t); ok {
		return jen.Qual(enginePath, name), nil
	}
	switch u := types.Unalias(t).(type) {
	case *types.Basic:
		return jen.Id(u.Name()), nil
	case *types.Slice:
		elem, err := a.typeExpr(pos, u.Elem())
		return jen.Index().Add(elem), err
	case *types.Map:
		key, err := a.typeExpr(pos, u.Key())
		if err != nil {
			return nil, err
		}
		elem, err := a.typeExpr(pos, u.Elem())
		return jen.Map(key).Add(elem), err
	case *types.Pointer:
		elem, err := a.typeExpr(pos, u.Elem())
		return jen.Op("*").Add(elem), err
	case *types.Struct:
		if u.NumFields() == 0 {
			return jen.Struct(), nil
		}
	}
	return nil, fmt.Errorf("%s: api: package runtime/engine has no name for %s; declare one there", pos, a.typeName(t))
}

// as gives the value as Go of the built-in type from, which converts to the basic type; nil where it cannot.
func (o operand) as(t *types.Basic) (code *jen.Statement, from string) {
	switch {
	case t.Info()&types.IsString != 0:
		return o.string(), "string"
	case t.Info()&types.IsInteger == 0:
		return nil, ""
	}
	switch o.typ {
	case goInt:
		return expr(o.expr), "int"
	case goInt64:
		return expr(o.expr), "int64"
	case goUint16:
		return expr(o.expr), "uint16"
	case goUint32:
		return expr(o.expr), "uint32"
	case goUint64:
		// The API counts in int64; what is larger means no bound, as the largest int64 does.
		return jen.Qual(runtimePath, "Signed").Call(expr(o.expr)), "int64"
	case goDuration:
		return jen.Qual(runtimePath, "Seconds").Call(expr(o.expr)), "int64"
	default:
		return nil, ""
	}
}

// string gives the value as a Go string expression, in the vocabulary's format; nil where there is no such expression.
func (o operand) string() *jen.Statement {
	switch {
	case o.typ == goString:
		return expr(o.expr)
	case o.typ == goBytes:
		return jen.String().Call(expr(o.expr))
	case o.typ == goAddr:
		return expr(o.expr).Dot("String").Call()
	case o.typ == goRunName:
		return expr(o.expr).Dot("Name").Call()
	case o.format == spec.FormatOctal, o.format == spec.FormatCPUs:
		return nil
	case o.typ == goInt:
		return jen.Qual("strconv", "Itoa").Call(expr(o.expr))
	case o.typ == goInt64:
		return jen.Qual("strconv", "FormatInt").Call(expr(o.expr), jen.Lit(10))
	case o.typ == goUint64:
		return jen.Qual("strconv", "FormatUint").Call(expr(o.expr), jen.Lit(10))
	default:
		return nil
	}
}

// concatenation gives a joined argument as one string expression; nil where it takes more than one, because a piece has a condition or
// no expression of its own.
func (w word) concatenation() *jen.Statement {
	var total *jen.Statement
	for _, p := range w.pieces {
		code := literal(p.text)
		if p.value != nil {
			code = p.value.string()
		}
		if code == nil || p.when != nil {
			return nil
		}
		if total == nil {
			total = code
		} else {
			total = total.Op("+").Add(code)
		}
	}
	return total
}

func describeArg(arg spec.Arg) string {
	switch arg.Kind {
	case spec.ArgBool:
		return fmt.Sprint(arg.Bool)
	case spec.ArgText:
		return fmt.Sprintf("text %q", arg.Text)
	case spec.ArgValue:
		return fmt.Sprintf("value %s (%s)", arg.Value.Name, arg.Value.Format)
	default:
		return "a " + string(arg.Kind)
	}
}
