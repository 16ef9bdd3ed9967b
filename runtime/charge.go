package runtime

import (
	"context"
	"errors"
)

// charge is the line between what may be refused for free and what counts. The executor's callback is called once, exactly here.
func (r *Run) charge(ctx context.Context, callback func(context.Context, *Plan) error) (state, note string, err error) {
	if callback == nil {
		r.charged = true
		return StateNothing, "no charge callback", nil
	}
	if err := callback(ctx, r.plan); err != nil {
		var f *Failure
		if errors.As(err, &f) {
			return "", "", err
		}
		return "", "", Fail(Denied, "the charge callback refused: %w", err)
	}
	r.charged = true
	return StateDone, "", nil
}
