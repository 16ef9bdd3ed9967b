package script

import (
	"context"

	"github.com/sbxkit/sbxkit/runtime"
)

var _ runtime.Witness = (*resources)(nil)

// Witnessed gives the end the world recorded of a command nobody waited for.
func (r *resources) Witnessed(ctx context.Context) (*runtime.Exit, error) {
	var exit *runtime.Exit
	err := r.b.call(ctx, r.player, r.run(), OnWitnessed, "", func() error {
		c := r.b.world.find(r.Token().Name)
		if c == nil {
			return runtime.Fail(runtime.Uncertain, "the container %s is gone, and with it how its command ended", r.Token().Name)
		}
		cmd := r.b.world.command(c)
		if cmd == nil {
			exit = &runtime.Exit{Observer: "script"}
			return nil
		}
		select {
		case <-cmd.stopped:
		default:
			return nil
		}
		x, err := cmd.exit()
		exit = x
		return err
	})
	if err != nil {
		return nil, err
	}
	return exit, nil
}
