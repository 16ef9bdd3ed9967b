package runtime

import "time"

// Observer gets the events of every run of a Sandbox, in order for each run. Event is called from the driver's own goroutines, for
// different runs at once; it must not block, and must not call back into the run.
type Observer interface{ Event(Event) }

// ObserverFunc makes a function an Observer.
type ObserverFunc func(Event)

// Event calls f.
func (f ObserverFunc) Event(e Event) { f(e) }

// Event is one step's begin or end. It never carries a private value.
type Event struct {
	Time    time.Time
	RunID   string
	Backend string
	Step    Step
	// State is empty at the begin of the step, and otherwise one of the states of a StepFact.
	State string
	Note  string
	// Duration of the step, at its end.
	Duration time.Duration
	// Failure is set with StateRefused, StateFailed and StateUncertain.
	Failure *Failure
	// Result is set with the last event of a run, and with no other.
	Result *Result
	// PlanDigest is known from the plan on.
	PlanDigest string
}
