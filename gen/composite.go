package gen

import (
	"strconv"
	"time"

	"github.com/dave/jennifer/jen"
)

// composite is a struct literal in the order its fields are added, one field a line. Fields with nothing to say are left out.
type composite struct {
	fields []jen.Code
}

func (c *composite) add(name string, value jen.Code) {
	if value != nil {
		c.fields = append(c.fields, jen.Id(name).Op(":").Add(value))
	}
}

func (c *composite) text(name, s string) {
	if s != "" {
		c.add(name, literal(s))
	}
}

func (c *composite) flag(name string, b bool) {
	if b {
		c.add(name, jen.True())
	}
}

func (c *composite) number(name string, n int64) {
	if n != 0 {
		c.add(name, jen.Id(strconv.FormatInt(n, 10)))
	}
}

func (c *composite) octal(name string, n uint32) {
	if n != 0 {
		c.add(name, jen.Id("0o"+strconv.FormatUint(uint64(n), 8)))
	}
}

func (c *composite) duration(name string, d time.Duration) {
	if d != 0 {
		c.add(name, duration(d))
	}
}

// lines gives the literal of a type, or of none inside a slice, a field a line.
func (c *composite) lines(typ *jen.Statement) *jen.Statement {
	return typ.Custom(jen.Options{Open: "{", Close: "}", Separator: ",", Multi: true}, c.fields...)
}

// inline gives the literal on one line.
func (c *composite) inline(typ *jen.Statement) *jen.Statement {
	return typ.Values(c.fields...)
}

// list gives a slice literal, an item a line; nil for none.
func list(elem *jen.Statement, items []jen.Code) jen.Code {
	if len(items) == 0 {
		return nil
	}
	return jen.Index().Add(elem).Custom(jen.Options{Open: "{", Close: "}", Separator: ",", Multi: true}, items...)
}

// words gives a slice of strings on one line; nil for none.
func texts(words []string) jen.Code {
	if len(words) == 0 {
		return nil
	}
	items := make([]jen.Code, 0, len(words))
	for _, w := range words {
		items = append(items, literal(w))
	}
	return jen.Index().String().Values(items...)
}

// decimal gives n without the conversion jennifer puts around an unsigned number.
func decimal(n uint64) *jen.Statement { return jen.Id(strconv.FormatUint(n, 10)) }

// duration gives d as a person writes it in Go: a count of the largest unit that divides it.
func duration(d time.Duration) *jen.Statement {
	for _, unit := range []struct {
		size time.Duration
		name string
	}{
		{time.Hour, "Hour"}, {time.Minute, "Minute"}, {time.Second, "Second"}, {time.Millisecond, "Millisecond"},
		{time.Microsecond, "Microsecond"},
	} {
		if d%unit.size == 0 {
			if d == unit.size {
				return jen.Qual("time", unit.name)
			}
			return jen.Lit(int(d/unit.size)).Op("*").Qual("time", unit.name)
		}
	}
	return jen.Lit(int(d)).Op("*").Qual("time", "Nanosecond")
}
