package script

import (
	"context"
	"maps"
	"slices"

	"github.com/sbxkit/sbxkit/runtime"
)

// Find lists this owner's resources as tokens, one for each run, by the run's id. An empty owner has none.
func (b *Backend) Find(ctx context.Context, owner string) ([]runtime.Token, int, error) {
	var found []runtime.Token
	foreign := 0
	err := b.call(ctx, b.ahead(), "", OnFind, owner, func() error {
		found, foreign = b.world.owned(b.def.Description.Name, owner)
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	return found, foreign, nil
}

func (w *World) owned(backend, owner string) (found []runtime.Token, foreign int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	mine := func(r Resource) bool {
		return owner != "" && r.Owner == owner && r.Backend == backend && r.Run != "" && !r.Unreadable
	}
	byRun := map[string]*runtime.Token{}
	for _, c := range w.containers {
		if !mine(c.Resource) {
			foreign++
			continue
		}
		t := c.token
		t.Volumes = nil
		byRun[c.Run] = &t
	}
	for _, v := range w.volumes {
		if !mine(*v) {
			foreign++
			continue
		}
		t := byRun[v.Run]
		if t == nil {
			t = &runtime.Token{Backend: backend, Run: runtime.RunName{ID: v.Run, Owner: owner}}
			t.Name = t.Run.Name()
			byRun[v.Run] = t
		}
		t.Volumes = append(t.Volumes, v.Name)
	}
	for _, id := range slices.Sorted(maps.Keys(byRun)) {
		t := byRun[id]
		slices.Sort(t.Volumes)
		found = append(found, *t)
	}
	return found, foreign
}
