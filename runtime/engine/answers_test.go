package engine

import (
	"errors"
	"fmt"
	"testing"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
)

func TestAnAnswerIsSureOnlyWhereItMeansOneThing(t *testing.T) {
	for _, c := range []struct {
		engine, version string
		verb            verb
		err             error
		effect          effect
		sure            bool
	}{
		{"Docker Engine", "28.0.0", verbKill, fmt.Errorf("x: %w", cerrdefs.ErrConflict), effectNothing, true},
		{"Docker Engine", "28.0.0", verbKill, cerrdefs.ErrInternal, "", false},
		{"Docker Engine", "28.0.0", verbRemove, cerrdefs.ErrConflict, effectBusy, true},
		{"Docker Engine", "28.0.0", verbRemove, &statusError{status: 500}, "", false},
		{podmanEngine, "4.3.1", verbKill, cerrdefs.ErrConflict, "", false},
		{podmanEngine, "4.3.1", verbKill, cerrdefs.ErrInternal, "", false},
		{podmanEngine, "4.6.1", verbKill, cerrdefs.ErrConflict, effectNothing, true},
		{podmanEngine, "5.4.0", verbKill, cerrdefs.ErrNotFound, effectGone, true},
		{"", "", verbKill, errors.New("no answer"), "", false},
		{"", "", verbKill, nil, effectDone, true},
	} {
		if e, sure := answersOf(c.engine, c.version).meaning(c.verb, c.err); e != c.effect || sure != c.sure {
			t.Errorf("%s %s, %s, %v: %q, %v", c.engine, c.version, c.verb, c.err, e, sure)
		}
	}
}

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
