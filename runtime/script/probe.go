package script

import (
	"context"

	"github.com/sbxkit/sbxkit/runtime"
)

// Probe answers with the script's identity. Nothing is launched: there is nothing a launch could prove.
func (b *Backend) Probe(ctx context.Context, _ runtime.ProbeRequest) (*runtime.Identity, error) {
	p := b.ahead()
	var id *runtime.Identity
	err := b.call(ctx, p, "", OnProbe, "", func() error {
		d := b.def.Description
		if p.script.Identity != nil {
			c := *p.script.Identity
			id = &c
			return nil
		}
		id = &runtime.Identity{Backend: d.Name, Kind: d.Kind, Engine: "script", Unsandboxed: d.Unsandboxed}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if id == nil {
		id = &runtime.Identity{}
	}
	return id, nil
}
