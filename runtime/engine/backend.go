package engine

import (
	"errors"
	"fmt"

	"github.com/sbxkit/sbxkit/runtime"
)

// Backend drives one engine. It is safe for concurrent use; all runs share one client.
type Backend struct {
	def Definition
}

// New makes a backend from a generated definition. It does not talk to the engine; an incomplete definition is an error.
func New(def Definition) (*Backend, error) {
	var missing []error
	for _, f := range []struct {
		name   string
		absent bool
	}{
		{"Description", def.Description == nil}, {"Argv", def.Argv == nil}, {"Explain", def.Explain == nil},
		{"Create", def.Create == nil}, {"Engines", len(def.Engines) == 0}, {"Program", def.Program == ""},
	} {
		if f.absent {
			missing = append(missing, fmt.Errorf("engine definition without %s", f.name))
		}
	}
	if len(missing) != 0 {
		return nil, errors.Join(missing...)
	}
	switch def.Options.Via {
	case ViaDefault, ViaAPI, ViaCLI:
	default:
		return nil, fmt.Errorf("engine %s: via %q is neither %q nor %q", def.Description.Name, def.Options.Via, ViaAPI, ViaCLI)
	}
	return &Backend{def: def}, nil
}

// Describe gives the spec's data.
func (b *Backend) Describe() *runtime.Description { return b.def.Description }
