package engine

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"

	"github.com/sbxkit/sbxkit/runtime"
)

// Wait returns when the engine told the exit, the output has come to its end, and the engine's record bears both out. Anything less is
// Uncertain: a container that vanished, a wait that broke with the engine gone, an exit of a container that was never started, output
// that broke off.
func (p *process) Wait(ctx context.Context, drain time.Duration) (*runtime.Exit, error) {
	drained := p.at.drained
	if p.at.untold {
		drained = nil // both ends are the client's own, and come together
	}
	select {
	case <-p.at.ended:
	case <-drained:
		if err := p.silent(ctx); err != nil {
			return nil, err
		}
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	p.once.Lock()
	defer p.once.Unlock()
	if p.exit != nil || p.err != nil {
		return p.exit, p.err
	}
	p.at.hurry(drain)
	select {
	case <-p.at.drained:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	exit, err := p.settle(ctx)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	defer p.close()
	if err != nil {
		p.err = runtime.AsFailure(err, runtime.Uncertain).At(runtime.StepCapture)
		return nil, p.err
	}
	p.exit = exit
	return exit, nil
}

// silent returns when a command whose output has come to its end has ended too: most do both at once, and Podman looks for an end only four
// times a second (4.3.1, pkg/api/handlers/utils, WaitContainerDocker), so that its record is read before. One that only closed its streams is
// looked at ever less often.
func (p *process) silent(ctx context.Context) error {
	for pause := p.b.limit.poll; ; pause = min(2*pause, time.Second) {
		select {
		case <-p.at.ended:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
		i, err := p.link.inspect(ctx, p.token.Name)
		if err != nil || phaseOf(i).lives() {
			continue // the wait's answer settles what cannot be read
		}
		if _, finished := finishedAt(i); finished {
			return nil
		}
	}
}

// settle reads the engine's record of an end that was told, or whose telling broke.
func (p *process) settle(ctx context.Context) (*runtime.Exit, error) {
	i, err := p.record(ctx)
	if err != nil {
		return nil, err
	}
	exit, err := exitOf(i)
	if err != nil {
		return nil, err
	}
	told, broke := p.at.told()
	if told && broke == nil && !p.at.untold && int64(state(i).ExitCode) != p.at.code {
		return nil, runtime.Fail(runtime.Uncertain, "the engine told exit status %d and recorded %d", p.at.code, state(i).ExitCode)
	}
	exit.Observer = "engine wait and inspect"
	switch {
	case !told:
		exit.Observer = "engine inspect"
	case broke != nil:
		exit.Observer = "engine inspect"
		exit.Notes = append(exit.Notes, "the wait broke: "+broke.Error())
	}
	exit.Usage.Wall = took(exit.Usage.Wall, i, p.began, p.plan.Identity.Remote)
	if counted := p.witness(exit); !counted && !exit.OOM && p.plan.Request.Limits.Memory != nil {
		exit.Notes = append(exit.Notes, noteUncounted)
	}
	exit.DrainCut = p.at.cut.Load()
	var broken *frameError
	switch err := p.at.streamErr; {
	case err == nil, exit.DrainCut:
	case errors.As(err, &broken):
		return nil, runtime.Fail(runtime.Uncertain, "the command ended with status %d, and its output is not whole: %w", state(i).ExitCode, err)
	default:
		exit.Notes = append(exit.Notes, err.Error())
	}
	return exit, nil
}

// witness adds what the kernel says of the command's end, where somebody watched it: an engine's exit status is the same for a signal and
// for a status of 128 and more, and not every engine notices a kill by the memory limit. It reports whether such a kill is counted or out of the
// question.
func (p *process) witness(x *runtime.Exit) (counted bool) {
	if p.watch == nil {
		return !killed(x)
	}
	byKill := killed(x)
	code, signal, known := p.watch.ended()
	switch {
	case !known:
	case signal != 0 && x.Code == 128+signal:
		x.Code, x.Signal, x.Notes = -1, syscall.Signal(signal), nil
		x.Observer += ", pidfd"
	case signal == 0 && x.Code == code:
		byKill, x.Notes = false, nil
		x.Observer += ", pidfd"
	}
	u := p.watch.usage()
	x.Usage.Wall = u.at.Sub(p.began)
	x.Usage.PeakMemory, x.Usage.UserCPU, x.Usage.SystemCPU = u.peak, u.user, u.system
	if u.killsFrom != "" && u.kills > 0 {
		x.OOMKills, x.MemoryEvents = u.kills, u.killsFrom
	}
	x.OOM = byKill && x.OOMKills > 0
	return u.killsFrom != "" || !byKill
}

// took is how long a run took whose end nobody watched, where the engine's record says recorded. Its record of the start is late where the host
// is busy, and a run would have taken less time than its command slept: where the clock is ours too, the time counts from when the start was
// asked for, as it does of a watched one.
func took(recorded time.Duration, i *container.InspectResponse, began time.Time, remote bool) time.Duration {
	if to, ok := finishedAt(i); ok && !remote && !began.IsZero() {
		return max(recorded, to.Sub(began))
	}
	return recorded
}

// noteUncounted stands where a command that had a memory limit ended by SIGKILL, or with its status, before anybody could open its control group,
// and the engine tells of no kill by the limit: Docker 20.10 loses one that the end of the container overtakes (measured).
const noteUncounted = "whether the memory limit killed is not known: the command ended before its control group was opened"

// killed reports whether the command ended by SIGKILL, or with the status that an engine has for that.
func killed(x *runtime.Exit) bool {
	return x.Signal == syscall.SIGKILL || x.Code == 128+int(syscall.SIGKILL)
}

// record gives the engine's record of an ended container. Where the wait broke, the engine may still know the end, or still run the
// container: then its events are listened to, where the engine tells them, and the end is looked for after each until ctx ends.
func (p *process) record(ctx context.Context) (*container.InspectResponse, error) {
	broken := time.Now()
	var news *notices
	defer func() {
		if news != nil {
			news.close()
		}
	}()
	for pause := p.b.limit.poll; ; {
		i, err := p.link.inspect(ctx, p.token.Name)
		told, broke := p.at.told()
		switch {
		case cerrdefs.IsNotFound(err):
			return nil, runtime.Fail(runtime.Uncertain, "the container vanished before its end was read: %w", err)
		case err != nil && broke == nil && time.Since(broken) < p.b.limit.afterwards && !errors.Is(err, context.Canceled):
			// The exit was told: the record is worth a few more tries.
		case err != nil:
			return nil, runtime.Fail(runtime.Uncertain, "the engine's record of the end cannot be read: %w", errors.Join(broke, err)).
				WithLeft(p.b.leftContainer(p.link, p.token.Name))
		case phaseOf(i).lives() && told && broke == nil && !p.at.untold && time.Since(broken) > p.b.limit.afterwards:
			return nil, runtime.Fail(runtime.Uncertain, "the engine told the end of a container that it says still runs")
		case !phaseOf(i).lives():
			return i, nil
		case err == nil && p.at.untold && time.Since(broken) > p.b.limit.afterwards:
			// What carried the streams has ended, and the command goes on.
			p.at.cut.Store(true)
		}
		if news == nil {
			news = p.link.notices(ctx, p.token.Name)
		}
		pause = news.wait(ctx, pause)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
}

// exitOf reads an ended container's record. It must have been started: engines have an exit status of 0 for one that never was.
func exitOf(i *container.InspectResponse) (*runtime.Exit, error) {
	s := state(i)
	from, ok := startedAt(i)
	if !ok {
		return nil, runtime.Fail(runtime.Uncertain, "the engine has no time of a start for the container, and an exit status of %d means nothing without one", s.ExitCode)
	}
	exit := &runtime.Exit{Ran: true, Code: s.ExitCode, Observer: "engine inspect"}
	if to, ok := finishedAt(i); ok && to.After(from) {
		exit.Usage.Wall = to.Sub(from)
	}
	if s.OOMKilled {
		exit.OOMKills, exit.MemoryEvents = 1, "State.OOMKilled"
		// The flag says that something in the container was killed by the memory limit; only with the status of a SIGKILL was it what
		// the container's end followed from.
		exit.OOM = killed(exit)
		exit.Notes = append(exit.Notes, "the engine tells that the memory limit killed, and not how often")
	}
	if n := s.ExitCode - 128; n > 0 && n <= 64 && !exit.OOM {
		exit.Notes = append(exit.Notes, fmt.Sprintf("an engine gives a command ended by signal %d and one that exits %d the same status", n, s.ExitCode))
	}
	return exit, nil
}

// Witnessed gives the recorded end of a run that nobody waited for.
func (r *resources) Witnessed(ctx context.Context) (*runtime.Exit, error) {
	i, err := r.look(ctx, r.token.Name)
	switch {
	case cerrdefs.IsNotFound(err):
		return nil, runtime.Fail(runtime.Uncertain, "the engine has no record of the container %s: %w", r.token.Name, err)
	case err != nil:
		return nil, runtime.Fail(runtime.Uncertain, "the engine's record of %s cannot be read: %w", r.token.Name, err)
	case phaseOf(i).lives():
		return nil, nil
	}
	if _, started := startedAt(i); !started {
		return &runtime.Exit{Ran: false, Code: -1, Observer: "engine inspect"}, nil
	}
	return exitOf(i)
}
