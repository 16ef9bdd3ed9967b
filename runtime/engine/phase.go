package engine

import "github.com/docker/docker/api/types/container"

// phase is where a container is in its life, in words that both engines share.
type phase string

// The phases.
const (
	phaseCreated  phase = "created"  // made, and never started
	phaseRunning  phase = "running"  // its processes run, or are on their way to an end or a restart
	phasePaused   phase = "paused"   // its processes are there, and frozen
	phaseExited   phase = "exited"   // its processes have ended
	phaseDead     phase = "dead"     // a removal failed half-way (Docker)
	phaseRemoving phase = "removing" // a removal is under way
	phaseAbsent   phase = "absent"   // the engine does not know it
)

// phaseNames are the engines' own words (moby, container/state.go; podman, libpod/define/containerstate.go and, for its Docker API,
// pkg/api/handlers/compat/containers.go).
var phaseNames = map[string]phase{
	"created": phaseCreated, "configured": phaseCreated, "initialized": phaseCreated,
	"running": phaseRunning, "restarting": phaseRunning, "stopping": phaseRunning,
	"paused": phasePaused, "exited": phaseExited, "stopped": phaseExited, "dead": phaseDead, "removing": phaseRemoving,
}

// phaseOf reads a container's state. The word decides and not the flag Running, which Podman's own program takes away from a container that
// is paused or being stopped.
func phaseOf(i *container.InspectResponse) phase {
	s := state(i)
	if p, ok := phaseNames[s.Status]; ok {
		return p
	}
	switch {
	case s.Paused:
		return phasePaused
	case s.Running || s.Restarting:
		return phaseRunning
	case s.Dead:
		return phaseDead
	}
	if _, started := startedAt(i); !started {
		return phaseCreated
	}
	return phaseExited
}

// lives reports whether something of the command can still run.
func (p phase) lives() bool { return p == phaseRunning || p == phasePaused }
