package engine

import (
	"context"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
)

// look inspects a container of the run, which may be on its way out: meanwhile Podman answers 500 for one that it found by name and no longer
// by id (measured on 4.3.1), and only asking again tells what became of it. An engine that goes on answering neither is believed after a while.
func (r *resources) look(ctx context.Context, name string) (*container.InspectResponse, error) {
	began := time.Now()
	for pause := r.b.limit.poll; ; pause = min(2*pause, time.Second) {
		i, err := r.link.inspect(ctx, name)
		if err == nil || cerrdefs.IsNotFound(err) || !answered(err) || time.Since(began) > r.b.limit.afterwards {
			return i, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(pause):
		}
	}
}

// startedAt is when a container was started; false where it never was. Engines give the zero time for that, and answer a wait for a
// container that never ran with status 0 (measured), so that an exit counts only with this.
func startedAt(i *container.InspectResponse) (time.Time, bool) {
	if i.ContainerJSONBase == nil || i.State == nil {
		return time.Time{}, false
	}
	return engineTime(i.State.StartedAt)
}

// finishedAt is when a container's end was recorded. Podman's is coarse: it can lie a few milliseconds before the start (measured on
// 4.3.1).
func finishedAt(i *container.InspectResponse) (time.Time, bool) {
	if i.ContainerJSONBase == nil || i.State == nil {
		return time.Time{}, false
	}
	return engineTime(i.State.FinishedAt)
}

func engineTime(s string) (time.Time, bool) {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil || t.IsZero() || t.Year() <= 1 {
		return time.Time{}, false
	}
	return t, true
}

// state is a container's state, never nil.
func state(i *container.InspectResponse) *container.State {
	if i == nil || i.ContainerJSONBase == nil || i.State == nil {
		return &container.State{}
	}
	return i.State
}
