package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/attest"
)

const parentDeath = "hardening.parent-death"

// deathDeadline bounds how long the end of a sandbox whose parent is gone is waited for; a test waits less for one that never comes.
var deathDeadline = 10 * time.Second

// proveParentDeath shows by behaviour what no record of the kernel tells another process: a sandbox whose command stands still is held by
// a thread of its own, the thread ends, and with it must end every process of the sandbox.
func (b *Backend) proveParentDeath(ctx context.Context, id *runtime.Identity) (err error) {
	wanted := slices.ContainsFunc(b.def.Description.Policy.Hardening, func(h runtime.HardeningRule) bool {
		return h.Name == parentDeath && h.Level != runtime.LevelOff
	})
	if !wanted || len(b.def.Launch) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, launchDeadline)
	defer cancel()
	p, err := b.probePlan(id, nil)
	if err != nil {
		return runtime.AsFailure(err, runtime.Setup).At(runtime.StepProbe)
	}
	mortal := &Backend{def: b.def}
	defer mortal.Close()
	prepared, err := mortal.Prepare(ctx, p)
	if err != nil {
		return runtime.AsFailure(err, runtime.Setup).At(runtime.StepProbe)
	}
	res := prepared.(*resources)
	defer func() {
		down, cancel := context.WithTimeout(context.WithoutCancel(ctx), abortDeadline)
		defer cancel()
		if _, rerr := res.Remove(down); rerr != nil && err == nil {
			err = rerr
		}
	}()
	none := runtime.Output{Writer: io.Discard}
	proc, err := res.start(ctx, &runtime.StartRequest{Stdin: runtime.StdinNone, Stdout: none, Stderr: none}, true)
	if err != nil {
		return runtime.AsFailure(err, runtime.Setup).At(runtime.StepProbe)
	}
	if !proc.stopped {
		return nil // without ptrace nothing makes it stand still: the claim stays unattested
	}
	if err := proc.standsStill(ctx); err != nil {
		return runtime.Fail(runtime.Setup, "%w", err).At(runtime.StepProbe)
	}
	mortal.spawner.close()
	death, cancel := context.WithTimeout(ctx, deathDeadline)
	defer cancel()
	for _, fd := range []int{proc.command, proc.first, proc.launcher.pidfd} {
		if werr := waitPidfd(death, fd); werr != nil {
			return runtime.Fail(runtime.Unsupported, "a sandbox of %s outlives the thread that holds it: %w", b.def.Description.Name, werr).
				At(runtime.StepProbe).About(parentDeath).WithCure("check that %s passes on the signal of its parent's death", id.Program)
		}
	}
	id.Proven = append(id.Proven, runtime.Guarantee{
		Name: parentDeath, Claimed: "ends with its parent", Measured: runtime.MeasuredBehaves, When: runtime.WhenProbe,
		Evidence: "the thread that held a sandbox ended, and so did the launcher, the first process inside and the command",
	})
	return err
}

// standsStill waits until the command is stopped, since one that runs ends by itself and its end shows nothing; and until the first process
// inside only waits for it: bubblewrap's asks for the signal of its parent's death once more after it has forked the command (do_init in
// bubblewrap.c).
func (p *process) standsStill(ctx context.Context) error {
	for {
		command, err := attest.ReadStat(p.commandPID)
		if err != nil {
			return fmt.Errorf("looking at the command that is to stand still: %w", err)
		}
		first, err := attest.ReadStat(p.firstPID)
		if err != nil {
			return fmt.Errorf("looking at the first process inside: %w", err)
		}
		if command.State == 'T' && (first.State == 'S' || p.firstPID == p.commandPID) {
			return nil
		}
		if ended(p.command) {
			return errors.New("the command ended, and was to stand still")
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for the command to stand still: %w", context.Cause(ctx))
		case <-time.After(endPause):
		}
	}
}
