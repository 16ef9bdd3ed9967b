package engine

import (
	"time"

	"github.com/docker/docker/api/types/container"
)

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
