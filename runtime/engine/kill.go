package engine

import (
	"context"
	"os"
	"syscall"

	cerrdefs "github.com/containerd/errdefs"

	"github.com/sbxkit/sbxkit/runtime"
)

// Kill ends the container by SIGKILL, which ends everything in it: process 1 takes its namespace along. Idempotent; nil where nothing
// runs or nothing is there.
func (r *resources) Kill(ctx context.Context) error {
	ended, err := r.signal(ctx, syscall.SIGKILL)
	if err != nil {
		return runtime.AsFailure(err, runtime.Uncertain).At(runtime.StepRemove)
	}
	_ = ended
	return nil
}

// Signal sends a signal to process 1, which an init passes on to the command.
func (p *process) Signal(ctx context.Context, sig syscall.Signal) error {
	ended, err := p.resources.signal(ctx, sig)
	if err != nil {
		return runtime.AsFailure(err, runtime.Uncertain).At(runtime.StepStart)
	}
	if ended {
		return os.ErrProcessDone
	}
	return nil
}

// signal sends sig; ended is true where there was nothing to send it to. Where the engine's answer alone does not tell (answers.go), the
// container's phase is asked: its words are not read.
func (r *resources) signal(ctx context.Context, sig syscall.Signal) (ended bool, err error) {
	err = r.link.kill(ctx, r.token.Name, runtime.SignalName(sig))
	if err == nil {
		return false, nil
	}
	// Whatever it answered: a daemon that is out of order also says 409 and 404 of a container that runs.
	effect := effectRefused
	if phase, looked := r.phase(ctx); looked != nil {
		err = looked
	} else {
		who := r.link.who()
		effect = answersOf(who.engine, who.version).in(verbKill, phase)
	}
	switch effect {
	case effectNothing, effectGone:
		return true, nil
	}
	return false, runtime.Fail(runtime.Uncertain, "sending %s to the container %s: %w", runtime.SignalName(sig), r.token.Name, err).
		WithLeft(runtime.Leftover{What: "container", Name: r.token.Name, Settle: r.b.command(r.link, "kill", "--signal", runtime.SignalName(sig), r.token.Name)})
}

// phase asks for the container's phase.
func (r *resources) phase(ctx context.Context) (phase, error) {
	i, err := r.look(ctx, r.token.Name)
	switch {
	case cerrdefs.IsNotFound(err):
		return phaseAbsent, nil
	case err != nil:
		return "", err
	}
	return phaseOf(i), nil
}
