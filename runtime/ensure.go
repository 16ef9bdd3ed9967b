package runtime

import (
	"context"
)

// Ensure makes a launch's image present, as the pull policy permits, and gives its facts, which planning uses. It stands before Plan
// since fetching has its own deadline (ctx) and progress, and is no part of a run. A backend without images gives nil. progress may be
// nil. Idempotent.
func (s *Sandbox) Ensure(ctx context.Context, i Image, progress func(string)) (*ImageFacts, error) {
	c, err := s.choose(ctx, nil)
	if err != nil {
		return nil, err
	}
	e, ok := c.backend.(Ensurer)
	if !ok {
		return nil, nil
	}
	r, _, err := Resolve(s.resolveInput(c, &Launch{Argv: []string{"true"}, Image: i}, RunName{}, nil))
	if err != nil {
		return nil, s.failed(c.backend, c.identity, StepPlan, err)
	}
	facts, err := e.Ensure(ctx, r.Image, progress)
	if err != nil {
		return nil, s.failed(c.backend, c.identity, StepPlan, err)
	}
	return facts, nil
}
