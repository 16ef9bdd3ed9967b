package runtime

import "reflect"

// hardeningFields are the fields of Hardening by vocabulary name: a bool, or the name of a profile.
var hardeningFields = func() map[string]int {
	t := reflect.TypeFor[Hardening]()
	m := make(map[string]int, t.NumField())
	for i := range t.NumField() {
		m[t.Field(i).Tag.Get("sbx")] = i
	}
	return m
}()

// Has reports whether a hardening option is asked for, by its vocabulary name.
func (h *Hardening) Has(name string) bool {
	i, ok := hardeningFields[name]
	return ok && !reflect.ValueOf(h).Elem().Field(i).IsZero()
}

func (h *Hardening) set(name, value string) {
	i, ok := hardeningFields[name]
	if !ok {
		return
	}
	if f := reflect.ValueOf(h).Elem().Field(i); f.Kind() == reflect.Bool {
		f.SetBool(true)
	} else {
		f.SetString(cmpOr(value, "default"))
	}
}

func (h *Hardening) value(name string) string {
	if i, ok := hardeningFields[name]; ok {
		if f := reflect.ValueOf(h).Elem().Field(i); f.Kind() == reflect.String {
			return f.String()
		}
	}
	return ""
}
