package gen

import (
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/sbxkit/sbxkit/spec"
)

// Import paths of what generated code stands on.
const (
	modulePath  = "github.com/sbxkit/sbxkit"
	runtimePath = modulePath + "/runtime"
	processPath = runtimePath + "/process"
	enginePath  = runtimePath + "/engine"
	scriptPath  = runtimePath + "/script"
	sbxtestPath = runtimePath + "/sbxtest"
)

// expr gives Go source of ours (never a spec's) as code in which the package name "runtime." is the planned import.
func expr(source string) *jen.Statement {
	parts := strings.Split(source, "runtime.")
	s := jen.Id(parts[0])
	for _, part := range parts[1:] {
		end := strings.IndexFunc(part, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
		})
		if end < 0 {
			end = len(part)
		}
		s = s.Qual(runtimePath, part[:end])
		if rest := part[end:]; rest != "" {
			s = s.Id(rest)
		}
	}
	return s
}

// goType is the Go type of an operand, as far as writing it depends on it.
type goType int

const (
	goString   goType = iota
	goBytes           // []byte
	goInt             // int
	goInt64           // int64
	goUint16          // uint16
	goUint32          // uint32
	goUint64          // uint64
	goAddr            // netip.Addr
	goDuration        // time.Duration
	goRunName         // runtime.RunName
)

// operand is one value of the vocabulary as an expression over the request.
type operand struct {
	expr   string
	typ    goType
	format spec.Format
	// private: see spec.Value.
	private bool
}

// nonZero is the condition that the value was given.
func (o operand) nonZero() *jen.Statement {
	switch o.typ {
	case goString:
		return expr(o.expr).Op("!=").Lit("")
	case goBytes:
		return jen.Len(expr(o.expr)).Op("!=").Lit(0)
	case goAddr:
		return expr(o.expr).Dot("IsValid").Call()
	case goRunName:
		return expr(o.expr).Dot("ID").Op("!=").Lit("")
	default:
		return expr(o.expr).Op("!=").Lit(0)
	}
}

// whole is the value as a whole word, where it is text already; ok is false where it has to be composed.
func (o operand) whole() (code jen.Code, ok bool) {
	if o.typ == goString {
		return expr(o.expr), true
	}
	return nil, false
}

// compose appends the value to the word that w composes.
func (o operand) compose(w *jen.Statement) *jen.Statement {
	switch {
	case o.typ == goString:
		return w.Dot("Text").Call(expr(o.expr))
	case o.typ == goBytes:
		return w.Dot("Bytes").Call(expr(o.expr))
	case o.typ == goAddr:
		return w.Dot("Address").Call(expr(o.expr))
	case o.typ == goRunName:
		return w.Dot("RunName").Call(expr(o.expr))
	case o.typ == goDuration:
		return w.Dot("Int").Call(jen.Qual(runtimePath, "Seconds").Call(expr(o.expr)))
	case o.format == spec.FormatOctal:
		return w.Dot("Octal").Call(expr(o.expr))
	case o.format == spec.FormatCPUs:
		return w.Dot("Decimal").Call(expr(o.expr), jen.Id("1e9"))
	case o.typ == goUint64:
		return w.Dot("Uint").Call(expr(o.expr))
	case o.typ == goInt64:
		return w.Dot("Int").Call(expr(o.expr))
	default:
		return w.Dot("Int").Call(jen.Int64().Call(expr(o.expr)))
	}
}

// room is how many bytes the composed value takes: constant, and where the value is text, the expression of its length.
func (o operand) room() (constant int, length *jen.Statement) {
	switch o.typ {
	case goString, goBytes:
		return 0, jen.Len(expr(o.expr))
	case goAddr:
		return len("ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255"), nil
	case goRunName:
		return len("sbx-") + 26, nil
	default:
		// Room for what is usual: a number of twenty digits makes the text grow, and nothing else.
		return len("8589934592"), nil
	}
}
