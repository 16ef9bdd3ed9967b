package process

import (
	"context"
	"io"
	"slices"
	"syscall"

	"github.com/sbxkit/sbxkit/runtime"
)

const parentDeath = "hardening.parent-death"

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
	proc, err := res.start(ctx, &runtime.StartRequest{Stdin: runtime.StdinNone, Stdout: none, Stderr: none}, syscall.SIGSTOP)
	if err != nil {
		return runtime.AsFailure(err, runtime.Setup).At(runtime.StepProbe)
	}
	if !proc.stopped {
		return nil // without ptrace nothing makes it stand still: the claim stays unattested
	}
	mortal.spawner.close()
	for _, fd := range []int{proc.command, proc.first, proc.launcher.pidfd} {
		if werr := waitPidfd(ctx, fd); werr != nil {
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
