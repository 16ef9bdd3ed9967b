package engine

import (
	"net/http"

	"github.com/docker/docker/api/types/versions"
)

// verb is a call whose answer depends on the phase of its container.
type verb string

// The verbs. remove is by force. stop is the engine's own ladder, which this room does not use: it has no end of its own.
const (
	verbKill   verb = "kill"
	verbStop   verb = "stop"
	verbRemove verb = "remove"
	verbWait   verb = "wait" // for the container not to run
)

// effect is what follows from an answer.
type effect string

// The effects.
const (
	effectDone    effect = "done"    // it was done, or is on its way
	effectNothing effect = "nothing" // there was nothing to do: nothing runs
	effectGone    effect = "gone"    // there is no such container
	effectBusy    effect = "busy"    // another call is at it: look again
	effectRefused effect = "refused" // it was not done
	effectHeld    effect = "held"    // the answer comes with the end
	effectUntold  effect = "untold"  // it is answered at once, with a status of a command that never ran
)

// answer is one cell of the table: the HTTP status, and what follows. Over the command line program the status is not seen, and what follows
// is the same.
type answer struct {
	status int
	effect effect
}

// answers are what one engine answers, by call and phase.
type answers map[verb]map[phase]answer

// docker is Docker Engine's (measured on 20.10.24; the API's own description has the same from 1.40 to 1.51). A kill or stop of a paused
// container thaws it.
var dockerAnswers = answers{
	verbKill: {
		phaseCreated: {http.StatusConflict, effectNothing}, phaseRunning: {http.StatusNoContent, effectDone},
		phasePaused: {http.StatusNoContent, effectDone}, phaseExited: {http.StatusConflict, effectNothing},
		phaseDead: {http.StatusConflict, effectNothing}, phaseRemoving: {http.StatusConflict, effectNothing},
		phaseAbsent: {http.StatusNotFound, effectGone},
	},
	verbStop: {
		phaseCreated: {http.StatusNotModified, effectNothing}, phaseRunning: {http.StatusNoContent, effectDone},
		phasePaused: {http.StatusNoContent, effectDone}, phaseExited: {http.StatusNotModified, effectNothing},
		phaseDead: {http.StatusNotModified, effectNothing}, phaseRemoving: {http.StatusNotModified, effectNothing},
		phaseAbsent: {http.StatusNotFound, effectGone},
	},
	verbRemove: {
		phaseCreated: {http.StatusNoContent, effectDone}, phaseRunning: {http.StatusNoContent, effectDone},
		phasePaused: {http.StatusNoContent, effectDone}, phaseExited: {http.StatusNoContent, effectDone},
		// What made the first removal fail makes the next one fail, until it is gone.
		phaseDead: {http.StatusInternalServerError, effectRefused}, phaseRemoving: {http.StatusConflict, effectBusy},
		phaseAbsent: {http.StatusNotFound, effectGone},
	},
	verbWait: {
		phaseCreated: {http.StatusOK, effectUntold}, phaseRunning: {http.StatusOK, effectHeld}, phasePaused: {http.StatusOK, effectHeld},
		phaseExited: {http.StatusOK, effectDone}, phaseDead: {http.StatusOK, effectDone}, phaseRemoving: {http.StatusOK, effectDone},
		phaseAbsent: {http.StatusNotFound, effectGone},
	},
}

// podmanAnswers is Podman's (measured on 4.3.1). Podman has no dead containers, and goes on with a removal that stopped half-way.
var podmanAnswers = answers{
	verbKill: {
		phaseCreated: {http.StatusInternalServerError, effectNothing}, phaseRunning: {http.StatusNoContent, effectDone},
		phasePaused: {http.StatusNoContent, effectDone}, phaseExited: {http.StatusInternalServerError, effectNothing},
		phaseRemoving: {http.StatusInternalServerError, effectNothing}, phaseAbsent: {http.StatusNotFound, effectGone},
	},
	verbStop: {
		phaseCreated: {http.StatusNoContent, effectNothing}, phaseRunning: {http.StatusNoContent, effectDone},
		phasePaused: {http.StatusInternalServerError, effectRefused}, phaseExited: {http.StatusNotModified, effectNothing},
		phaseRemoving: {http.StatusInternalServerError, effectNothing}, phaseAbsent: {http.StatusNotFound, effectGone},
	},
	verbRemove: {
		phaseCreated: {http.StatusNoContent, effectDone}, phaseRunning: {http.StatusNoContent, effectDone},
		phasePaused: {http.StatusNoContent, effectDone}, phaseExited: {http.StatusNoContent, effectDone},
		phaseRemoving: {http.StatusNoContent, effectDone}, phaseAbsent: {http.StatusNotFound, effectGone},
	},
	verbWait: {
		phaseCreated: {http.StatusOK, effectUntold}, phaseRunning: {http.StatusOK, effectHeld}, phasePaused: {http.StatusOK, effectHeld},
		phaseExited: {http.StatusOK, effectDone}, phaseRemoving: {http.StatusOK, effectDone}, phaseAbsent: {http.StatusNotFound, effectGone},
	},
}

// podmanConflict is the version from which Podman answers a kill of what does not run as Docker does.
const podmanConflict = "4.6.1"

var newPodmanAnswers = func() answers {
	a := answers{verbStop: podmanAnswers[verbStop], verbRemove: podmanAnswers[verbRemove], verbWait: podmanAnswers[verbWait]}
	a[verbKill] = map[phase]answer{}
	for p, x := range podmanAnswers[verbKill] {
		if x.status == http.StatusInternalServerError {
			x.status = http.StatusConflict
		}
		a[verbKill][p] = x
	}
	return a
}()

// answersOf gives the table of an engine, as it calls itself; one that was not asked, or that nobody knows, has Docker's.
func answersOf(engine, version string) answers {
	switch {
	case engine != podmanEngine:
		return dockerAnswers
	case version != "" && !versions.LessThan(version, podmanConflict):
		return newPodmanAnswers
	}
	return podmanAnswers
}

// in says what follows from a call in a phase; a phase that the engine does not have is refused.
func (a answers) in(v verb, p phase) effect {
	if x, ok := a[v][p]; ok {
		return x.effect
	}
	return effectRefused
}
