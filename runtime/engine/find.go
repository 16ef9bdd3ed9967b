package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/sbxkit/sbxkit/runtime"
)

// Find lists what carries this owner's label, whatever its state, as one token a run. What carries another owner's, or none that can be
// read, is counted as foreign.
func (b *Backend) Find(ctx context.Context, owner string) ([]runtime.Token, int, error) {
	if owner == "" {
		return nil, 0, runtime.Fail(runtime.Setup, "an owner without an identity owns nothing").At(runtime.StepReconcile)
	}
	l, err := b.current()
	if err != nil {
		return nil, 0, runtime.AsFailure(err, runtime.Setup).At(runtime.StepReconcile)
	}
	tokens := map[string]*runtime.Token{}
	foreign := 0
	for _, kind := range []struct {
		what string
		list func(context.Context, string) ([]found, error)
		add  func(*runtime.Token, found)
	}{
		// The names of a run's containers follow from its own.
		{"containers", l.find, func(*runtime.Token, found) {}},
		{"volumes", l.findVolumes, func(t *runtime.Token, f found) { t.Volumes = append(t.Volumes, f.name) }},
		{"networks", l.findNetworks, func(t *runtime.Token, f found) { t.Networks = append(t.Networks, f.name) }},
	} {
		// By the label's name alone, so that others' are counted; whose each is, is compared here and exactly.
		list, err := kind.list(ctx, labelRun)
		if err != nil {
			return nil, foreign, b.setup(l, err, "listing the %s of runs", kind.what).At(runtime.StepReconcile)
		}
		for _, f := range list {
			id := f.labels[labelRun]
			if f.labels[labelOwner] != owner || id == "" {
				foreign++
				continue
			}
			t := tokens[id]
			if t == nil {
				run := runtime.RunName{ID: id, Owner: owner}
				t = &runtime.Token{Backend: b.def.Description.Name, Run: run, Name: run.Name(), Endpoint: l.endpoint().host}
				tokens[id] = t
			}
			kind.add(t, f)
		}
	}
	out := make([]runtime.Token, 0, len(tokens))
	for _, t := range tokens {
		out = append(out, *t)
	}
	slices.SortFunc(out, func(a, b runtime.Token) int { return strings.Compare(a.Run.ID, b.Run.ID) })
	return out, foreign, nil
}
