package engine

import (
	"testing"

	"github.com/docker/docker/api/types/container"
)

func TestAPhaseIsReadFromTheWordNotTheFlag(t *testing.T) {
	for _, c := range []struct {
		state container.State
		want  phase
	}{
		{container.State{Status: "created"}, phaseCreated},
		{container.State{Status: "configured"}, phaseCreated},
		{container.State{Status: "running", Running: true}, phaseRunning},
		{container.State{Status: "stopping"}, phaseRunning},
		{container.State{Status: "restarting", Running: true}, phaseRunning},
		{container.State{Status: "paused"}, phasePaused},
		{container.State{Status: "stopped"}, phaseExited},
		{container.State{Status: "dead", Dead: true}, phaseDead},
		{container.State{Status: "removing"}, phaseRemoving},
		{container.State{Status: "news", Running: true}, phaseRunning},
		{container.State{Status: "news", Paused: true}, phasePaused},
		{container.State{}, phaseCreated},
		{container.State{StartedAt: "2026-01-02T03:04:05Z"}, phaseExited},
	} {
		i := &container.InspectResponse{ContainerJSONBase: &container.ContainerJSONBase{State: &c.state}}
		if p := phaseOf(i); p != c.want {
			t.Errorf("%+v is %s, want %s", c.state, p, c.want)
		}
	}
}
