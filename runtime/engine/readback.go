package engine

import "context"

// readBack compares what the engine accepted with what was asked.
func (r *resources) readBack(ctx context.Context) error {
	_, err := r.link.inspect(ctx, r.token.Name)
	if err != nil {
		return r.refusal(err, "reading back the container %s", r.token.Name)
	}
	return nil
}
