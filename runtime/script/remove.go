package script

import (
	"context"

	"github.com/sbxkit/sbxkit/runtime"
)

// Remove kills what runs, and takes the container and the volumes out of the world.
func (r *resources) Remove(ctx context.Context) (*runtime.Teardown, error) {
	t := r.Token()
	how := &runtime.Teardown{How: "removed", Confirmed: true, Evidence: "script"}
	err := r.b.call(ctx, r.player, r.run(), OnRemove, "", func() error {
		r.record.change(func(i *Invocation) { i.Removes++ })
		if err := r.b.world.kill(ctx, t.Name); err != nil {
			return interrupted(OnRemove, true, err)
		}
		if !r.b.world.remove(t) {
			how.How = "nothing"
		}
		return nil
	})
	if err == nil {
		return how, nil
	}
	f := runtime.AsFailure(err, runtime.Uncertain)
	if len(f.Left) == 0 {
		f = f.WithLeft(r.b.world.left(t)...)
	}
	return &runtime.Teardown{How: "nothing", Left: f.Left}, f
}

// remove takes what t names out of the world, and says whether anything was there.
func (w *World) remove(t runtime.Token) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, there := w.containers[t.Name]
	delete(w.containers, t.Name)
	for _, v := range t.Volumes {
		if w.volumes[v] != nil {
			there = true
			delete(w.volumes, v)
		}
	}
	return there
}

// left lists what exists of t.
func (w *World) left(t runtime.Token) []runtime.Leftover {
	w.mu.Lock()
	defer w.mu.Unlock()
	var list []runtime.Leftover
	if w.containers[t.Name] != nil {
		list = append(list, left("container", t.Name))
	}
	for _, v := range t.Volumes {
		if w.volumes[v] != nil {
			list = append(list, left("volume", v))
		}
	}
	return list
}
