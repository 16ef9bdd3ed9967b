package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/attest"
	"github.com/sbxkit/sbxkit/runtime/cgroup"
)

// resources are what exists of a run apart from its process. A handle that was reopened has no plan.
type resources struct {
	b     *Backend
	plan  *runtime.Plan
	group *cgroup.Group // nil without one

	mu      sync.Mutex
	token   runtime.Token
	started bool
	p       *process // nil until something was started
	removed bool

	// removing lets one Remove at a time work; the others wait for it and find nothing.
	removing sync.Mutex
}

var _ runtime.Resources = (*resources)(nil)

// Prepare makes the run's directory where the plan has one.
func (b *Backend) Prepare(ctx context.Context, p *runtime.Plan) (runtime.Resources, error) {
	if err := ctx.Err(); err != nil {
		return nil, runtime.Fail(runtime.Setup, "the launch was given up: %w", context.Cause(ctx)).At(runtime.StepPrepare)
	}
	r := &resources{b: b, plan: p, token: p.Token}
	group, err := planGroup(p.Request, &p.Identity)
	if err != nil {
		return nil, runtime.AsFailure(err, runtime.Unsupported).At(runtime.StepPrepare)
	}
	if dir := p.Token.Run.Dir; dir != "" {
		err := os.Mkdir(dir, 0o700)
		switch {
		case err == nil:
			r.token.Paths = append(r.token.Paths, dir)
		case errors.Is(err, os.ErrExist):
			// The journal has made it, and removes it.
		default:
			return nil, runtime.Fail(runtime.Setup, "making the run's directory: %w", err).At(runtime.StepPrepare).WithCure("check that the state directory exists and is writable")
		}
	}
	if group != nil {
		if err := group.Create(); err != nil {
			f := runtime.AsFailure(err, runtime.Setup).At(runtime.StepPrepare)
			for _, path := range r.token.Paths {
				if rerr := os.Remove(path); rerr != nil && !errors.Is(rerr, os.ErrNotExist) {
					f.WithLeft(leftDirectory(path))
				}
			}
			return nil, f
		}
		r.group = group
	}
	return r, nil
}

func leftDirectory(path string) runtime.Leftover {
	return runtime.Leftover{What: "directory", Name: path, Settle: "rm -rf " + runtime.ShellQuote(path)}
}

// Reopen gives a handle on an earlier run.
func (b *Backend) Reopen(_ context.Context, t runtime.Token) (runtime.Resources, error) {
	r := &resources{b: b, token: t}
	if len(t.Cgroups) > 0 {
		r.group = cgroup.Open(t.Cgroups)
	}
	return r, nil
}

// Token names the run's processes and paths.
func (r *resources) Token() runtime.Token {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.token
}

// Stage has nothing to write: source, script and credentials reach the command by mounts and descriptors that Start makes.
func (r *resources) Stage(context.Context, *runtime.Stage) (string, error) {
	if r.plan == nil {
		return "", reopened("stage")
	}
	n := 0
	for _, m := range r.plan.Request.Mounts {
		if m.Kind == runtime.MountFile {
			n++
		}
	}
	return fmt.Sprintf("%d files handed over by descriptor at the start", n), nil
}

// Export hands nothing over: the candidate of a process backend is the worktree itself.
func (r *resources) Export(context.Context, string, *runtime.Artifacts) (*runtime.Manifest, error) {
	return nil, runtime.Fail(runtime.Unsupported, "%s hands nothing over: what the command wrote stands in its workspace", r.b.def.Description.Name).At(runtime.StepExport).About("artifacts")
}

func reopened(what string) *runtime.Failure {
	return runtime.Fail(runtime.Unsupported, "a reopened run cannot %s: its controller is gone", what)
}

// Kill ends everything of the run.
func (r *resources) Kill(ctx context.Context) error {
	r.mu.Lock()
	p, t, removed := r.p, r.token, r.removed
	r.mu.Unlock()
	if removed {
		return nil
	}
	if p != nil {
		return p.kill()
	}
	if r.plan != nil {
		return nil // nothing was started
	}
	if r.group != nil {
		if err := r.group.Kill(); err != nil {
			return runtime.Fail(runtime.Uncertain, "%w", err)
		}
	}
	_, err := killByToken(ctx, t)
	return err
}

// Remove ends what still runs, sees that it is gone, and removes the run's paths.
func (r *resources) Remove(ctx context.Context) (*runtime.Teardown, error) {
	r.removing.Lock()
	defer r.removing.Unlock()
	r.mu.Lock()
	p, t, removed := r.p, r.token, r.removed
	r.mu.Unlock()
	if removed {
		return &runtime.Teardown{How: "nothing", Confirmed: true, Evidence: "the run was removed before"}, nil
	}
	down := &runtime.Teardown{How: "nothing", Confirmed: true, Evidence: "nothing was started"}
	var err error
	switch {
	case p != nil:
		down, err = p.remove(ctx)
	case r.plan == nil:
		down, err = killByToken(ctx, t)
	}
	if err != nil {
		return down, err
	}
	if r.group != nil {
		if err := r.group.Remove(ctx); err != nil {
			return down, runtime.AsFailure(err, runtime.Uncertain).At(runtime.StepRemove)
		}
	}
	for _, path := range t.Paths {
		if err := os.RemoveAll(path); err != nil {
			return down, runtime.Fail(runtime.Uncertain, "removing the run's directory: %w", err).At(runtime.StepRemove).WithLeft(leftDirectory(path))
		}
	}
	r.mu.Lock()
	r.removed = true
	r.mu.Unlock()
	return down, nil
}

// remove ends the process's run and confirms it.
func (p *process) remove(ctx context.Context) (*runtime.Teardown, error) {
	if err := p.kill(); err != nil {
		return nil, runtime.AsFailure(err, runtime.Uncertain).At(runtime.StepRemove)
	}
	down := &runtime.Teardown{}
	if p.namespace {
		if err := waitPidfd(ctx, p.first); err != nil {
			return nil, p.stillThere(err, p.firstPID)
		}
		down.How = "namespace"
		down.Evidence = fmt.Sprintf("pidfd of process %d, first of its pid namespace, reports its end", p.firstPID)
		// With its child gone the launcher ends by itself; what stands in its way is stopped for good.
		select {
		case <-p.exited:
		case <-ctx.Done():
			signalPidfd(p.launcher.pidfd, unix.SIGKILL)
			return nil, p.stillThere(context.Cause(ctx), p.launcher.pid)
		}
	} else {
		select {
		case <-p.exited:
		case <-ctx.Done():
			return nil, p.stillThere(context.Cause(ctx), p.launcher.pid)
		}
		down.How = "process group"
		down.Evidence = fmt.Sprintf("no process of session %d or descended from it is left", p.launcher.pid)
	}
	if p.reaped == nil {
		if err := p.bury(); err != nil {
			return nil, runtime.Fail(runtime.Uncertain, "%w", err).At(runtime.StepRemove)
		}
	}
	// Readers of streams that nobody holds any more end by themselves; one that a stranger holds is cut.
	for _, s := range append(p.outputs[:], p.signals...) {
		if s != nil {
			s.end(0)
			<-s.done
		}
	}
	p.close()
	down.Confirmed = true
	return down, nil
}

func (p *process) stillThere(err error, pid int) *runtime.Failure {
	left := runtime.Leftover{What: "process", Name: fmt.Sprint(pid), Settle: fmt.Sprintf("kill -KILL %d", pid)}
	return runtime.Fail(runtime.Uncertain, "process %d was killed and has not ended yet: %w", pid, err).At(runtime.StepRemove).WithLeft(left)
}

// killByToken ends the run of a token whose controller is gone, and sees that it is gone.
func killByToken(ctx context.Context, t runtime.Token) (*runtime.Teardown, error) {
	var fds []int
	defer func() {
		for _, fd := range fds {
			unix.Close(fd)
		}
	}()
	sessions, roots := map[int]bool{}, map[int]bool{}
	hold := func(id runtime.ProcessIdentity) error {
		fd, err := openIdentity(id)
		if errors.Is(err, os.ErrProcessDone) {
			return nil
		}
		if err != nil {
			return err
		}
		fds = append(fds, fd)
		roots[id.PID] = true
		// A launcher leads the session it was given.
		if s, err := attest.ReadStat(id.PID); err == nil && s.Session == id.PID {
			sessions[id.PID] = true
		}
		return nil
	}
	for _, id := range t.Processes {
		if err := hold(id); err != nil {
			return nil, runtime.Fail(runtime.Uncertain, "%w", err).At(runtime.StepRemove)
		}
	}
	// A launcher that was started and not yet recorded carries the run's name as its first word.
	if t.Run.ID != "" {
		marked, err := markedAs(t.Run.Name())
		if err != nil {
			return nil, runtime.Fail(runtime.Uncertain, "looking for the run's processes: %w", err).At(runtime.StepRemove)
		}
		for _, m := range marked {
			if err := hold(m.id); err != nil {
				return nil, runtime.Fail(runtime.Uncertain, "%w", err).At(runtime.StepRemove)
			}
		}
	}
	if len(fds) == 0 {
		return &runtime.Teardown{How: "nothing", Confirmed: true, Evidence: "no process of the run is left"}, nil
	}
	killed, left, err := sweepTree(0, sessions, roots)
	if err != nil {
		return nil, runtime.Fail(runtime.Uncertain, "sweeping the run's processes: %w", err).At(runtime.StepRemove)
	}
	if len(left) > 0 {
		return nil, runtime.Fail(runtime.Uncertain, "%d processes of the run still stand", len(left)).At(runtime.StepRemove).WithLeft(leftProcesses(left)...)
	}
	for _, fd := range fds {
		if err := waitPidfd(ctx, fd); err != nil {
			return nil, runtime.Fail(runtime.Uncertain, "the run's processes were killed and have not ended yet: %w", err).At(runtime.StepRemove).WithLeft(leftProcesses(t.Processes)...)
		}
	}
	return &runtime.Teardown{How: "process group", Confirmed: true, Evidence: fmt.Sprintf("%d processes killed; their pidfds report their end", killed)}, nil
}
