package runtime

import "reflect"

// limitFields are the fields of Limits with a number, by vocabulary name, read off the struct once.
var limitFields = func() (out []limitField) {
	t := reflect.TypeFor[Limits]()
	for i := range t.NumField() {
		if f := t.Field(i); f.Type == reflect.TypeFor[*Limit]() {
			out = append(out, limitField{f.Tag.Get("sbx"), func(l *Limits) **Limit { return reflect.ValueOf(l).Elem().Field(i).Addr().Interface().(**Limit) }})
		}
	}
	return out
}()

type limitField struct {
	name string
	of   func(*Limits) **Limit
}

// Get gives the limit of a vocabulary name, nil where it is not set or has none.
func (l *Limits) Get(name string) *Limit {
	for _, f := range limitFields {
		if f.name == name {
			return *f.of(l)
		}
	}
	return nil
}

// Put sets the limit of a vocabulary name and reports whether there is one of that name.
func (l *Limits) Put(name string, v *Limit) bool {
	for _, f := range limitFields {
		if f.name == name {
			*f.of(l) = v
			return true
		}
	}
	return false
}

// LimitNames lists the vocabulary names of every numeric limit.
func LimitNames() []string {
	names := make([]string, len(limitFields))
	for i, f := range limitFields {
		names[i] = f.name
	}
	return names
}
