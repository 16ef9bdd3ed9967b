package runtime

import "context"

// prepare is step 2. The journal's record and the kill token exist before the resources do; whatever happens in between can be
// found by them. A backend that failed is not believed to have left nothing: removal by token follows (see launch).
func (r *Run) prepare(ctx context.Context) (state, note string, err error) {
	r.res, err = r.backend.Prepare(ctx, r.plan)
	if err != nil {
		return "", "", err
	}
	r.setToken(r.res.Token())
	return StateDone, "", nil
}
