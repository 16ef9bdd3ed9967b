package spec

import "testing"

func TestEveryBuiltinSpecLoads(t *testing.T) {
	for _, name := range Builtins() {
		t.Run(name, func(t *testing.T) {
			b, err := Builtin(name)
			if err != nil {
				t.Fatal(err)
			}
			if b.Name != name {
				t.Errorf("the spec %s.yaml calls itself %q", name, b.Name)
			}
		})
	}
}
