package engine

import (
	"context"
	"fmt"
	"time"

	cerrdefs "github.com/containerd/errdefs"
)

// An engine goes on with what it was asked for when who asked is gone. After a controller that died while it made a run's resources, a
// container that is not there can be there a moment later, and with it a volume that was removed before (measured on Docker 20.10). So
// the same things are made once more, by the same names, and removed: what was asked for before is either done by then, or can no longer be
// done, since the name was taken.

// fence returns when nothing of the run is being made any more. What it makes carries the run's labels, so that it is found like the rest
// where this controller dies too.
func (r *resources) fence(ctx context.Context) error {
	if r.token.Image == "" {
		return nil // of a record that has none: nothing can be made in its place
	}
	labels := map[string]string{labelRun: r.token.Run.ID, labelOwner: r.token.Run.Owner}
	for _, name := range r.containers() {
		if err := r.fenceContainer(ctx, name, labels); err != nil {
			return fmt.Errorf("the container %s may still be made: %w", name, err)
		}
	}
	for _, v := range r.token.Volumes {
		// It is removed like the run's own, whose name it has. An engine that has it already may say so.
		if err := r.link.createVolume(ctx, v, labels); err != nil && !answered(err) {
			return fmt.Errorf("the volume %s may still be made: %w", v, err)
		}
	}
	for _, n := range r.token.Networks {
		// By another name: Docker makes two networks of one name where both are asked for at once.
		n += "-fence"
		if err := r.link.createNetwork(ctx, n, labels); err != nil && !answered(err) {
			return fmt.Errorf("the network %s may still be made: %w", n, err)
		}
		if _, err := removed(ctx, r.b.limit, n, r.link.removeNetwork, nil); err != nil {
			return fmt.Errorf("the network %s: %w", n, err)
		}
	}
	return nil
}

// fenceContainer makes a container of the name and removes it, again and again while another comes in between.
func (r *resources) fenceContainer(ctx context.Context, name string, labels map[string]string) error {
	c := &CreateRequest{
		Config:     &Config{Image: r.token.Image, Cmd: StrSlice{"true"}, Labels: labels},
		HostConfig: &HostConfig{NetworkMode: "none"}, Networking: &NetworkingConfig{}, Name: name,
	}
	for pause := r.b.limit.poll; ; pause = min(2*pause, time.Second) {
		_, made := r.link.create(ctx, c, nil)
		if _, err := removed(ctx, r.b.limit, name, r.link.remove, r.link.missing); err != nil {
			return err
		}
		if made == nil || cerrdefs.IsNotFound(made) {
			return nil // made and removed, or of an image that nothing can be made from any more
		}
		select {
		case <-ctx.Done():
			return made
		case <-time.After(pause):
		}
	}
}
