package sbxtest

import (
	"context"
	"time"

	"github.com/sbxkit/sbxkit/runtime"
)

// Subject is a backend under test, with what the suite has to know of it.
type Subject struct {
	// Backend is driven by the check alone; several subjects may share one where making it is dear. The suite does not close it.
	Backend runtime.Backend
	// Next makes the backend of the next controller on the same host, which reconciles what the first one left. Nil: it is Backend again.
	Next func() (runtime.Backend, error)
	// Close ends whatever the subject holds; called when the check is over, and earlier where it hangs. Nil: nothing is held.
	Close func() error
	// Image is the image of an engine's launches.
	Image string
	// Commands spells what the suite's commands do. Nil: Shell.
	Commands Commands
	// Stager copies workspaces (runtime/stage). Nil: the checks of copied workspaces are gaps.
	Stager runtime.Stager
	// Modelled is the reason why the backend's kernel is a model ("a script in place of a sandbox"), so that what only a real process
	// shows (its entry in /proc) is a gap. Empty for a real one.
	Modelled string
}

// Factory makes a fresh subject. The suite calls it once for each check.
type Factory func(ctx context.Context) (*Subject, error)

// Options configure a suite. The zero value is right for most.
type Options struct {
	// Timeout ends a check that hangs; zero is two minutes.
	Timeout time.Duration
	// Parallel is how many checks run at once, where they may; zero is one. The flag -parallel does not bound it: most checks wait for
	// the backend.
	Parallel int
	// Bubble runs each check in a bubble of testing/synctest, where waiting takes no time: for backends that start nothing. Only Run
	// looks at it.
	Bubble bool
	// Only names the checks to run; empty is all of them.
	Only []string
}

func (o Options) timeout() time.Duration {
	if o.Timeout > 0 {
		return o.Timeout
	}
	return 2 * time.Minute
}
