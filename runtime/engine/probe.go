package engine

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	cerrdefs "github.com/containerd/errdefs"

	"github.com/sbxkit/sbxkit/runtime"
)

// Probe finds the engine, asks who it is, and makes it run a real minimal container of the image it is given, if that image is there; it
// never fetches one. The container is removed again, also when ctx ends early.
func (b *Backend) Probe(ctx context.Context, r runtime.ProbeRequest) (*runtime.Identity, error) {
	lookup := r.Lookup
	if lookup == nil {
		lookup = os.LookupEnv
	}
	e, err := b.resolve(lookup)
	if err != nil {
		return nil, runtime.AsFailure(err, runtime.Setup).At(runtime.StepProbe)
	}
	l, err := b.link(e, lookup)
	if err != nil {
		return nil, runtime.AsFailure(err, runtime.Setup).At(runtime.StepProbe)
	}
	b.mu.Lock()
	b.probed = e.host
	b.mu.Unlock()
	id, err := b.identify(ctx, l)
	if err != nil {
		return nil, err
	}
	ref := r.Image
	if ref == "" {
		ref = b.def.Options.Image
	}
	if ref == "" {
		ref = b.def.Description.Policy.Image.Ref
	}
	if ref == "" {
		return id, nil
	}
	if _, err := l.image(ctx, ref); err != nil {
		if cerrdefs.IsNotFound(err) {
			// An absent image is Ensure's to report, with its cure: the engine itself answers.
			return id, nil
		}
		return nil, b.unreached(ctx, e, fmt.Errorf("looking for the image %s: %w", ref, err))
	}
	if err := b.proveLaunch(ctx, l, id, ref); err != nil {
		return nil, runtime.AsFailure(err, runtime.Setup).At(runtime.StepProbe)
	}
	return id, nil
}

// proveLaunch runs the probe's command in a container with no network, and removes it. A command the image does not have also proves
// the launch: the engine made everything up to it.
func (b *Backend) proveLaunch(ctx context.Context, l link, id *runtime.Identity, ref string) (err error) {
	name := newProbeName()
	req := &CreateRequest{
		Config:     &Config{Image: ref, Cmd: b.def.Probe, Labels: map[string]string{runtime.LabelPrefix + "probe": name}},
		HostConfig: &HostConfig{NetworkMode: "none", LogConfig: LogConfig{Type: "none"}, Resources: Resources{Ulimits: probeUlimits()}},
		Networking: &NetworkingConfig{}, Name: name,
	}
	defer func() {
		cleanup, cancel := detached(ctx, b.limit.remove, "the removal of the probe's container")
		defer cancel()
		if gone := b.removeContainer(cleanup, l, name); gone != nil && err == nil {
			err = gone
		}
	}()
	making, cancel := lingering(ctx, b.limit.afterwards)
	_, err = l.create(making, req, nil)
	cancel()
	if err != nil {
		return b.setup(l, err, "%s cannot make a container of %s", id, ref)
	}
	if err := ctx.Err(); err != nil {
		return runtime.Fail(runtime.Setup, "the probe's launch was cancelled: %w", context.Cause(ctx))
	}
	at, err := l.start(ctx, name, startOptions{stdout: io.Discard, stderr: io.Discard})
	if err != nil {
		return b.setup(l, err, "%s cannot start a container of %s", id, ref)
	}
	defer at.close()
	select {
	case <-at.ended:
		if at.waitErr != nil {
			return b.setup(l, at.waitErr, "%s did not tell the end of a container of %s", id, ref)
		}
	case <-ctx.Done():
		return runtime.Fail(runtime.Setup, "the probe's launch did not end: %w", context.Cause(ctx))
	case <-time.After(b.limit.start):
		return runtime.Fail(runtime.Setup, "the probe's launch on %s did not end in %v", id, b.limit.start).WithCure("give an image whose command ends, or set the spec's probe.launch")
	}
	i, err := l.inspect(ctx, name)
	if err != nil {
		return b.setup(l, err, "%s did not describe the probe's container", id)
	}
	if _, ok := startedAt(i); !ok {
		return runtime.Fail(runtime.Setup, "%s told the end of a container that it never started", id)
	}
	if at.code != 0 && len(b.def.Probe) != 0 {
		return runtime.Fail(runtime.Setup, "the probe's launch on %s ended with status %d, not 0", id, at.code).WithCure("run: %s run --rm %s %s", b.def.Program, ref, shellWords(b.def.Probe))
	}
	return nil
}

// probeUlimits are low on purpose: Podman asks for 1048576 of each that is not said, which root without CAP_SYS_RESOURCE may not set
// (measured on 4.3.1).
func probeUlimits() []*Ulimit {
	return []*Ulimit{{Name: "nofile", Soft: 64, Hard: 64}, {Name: "nproc", Soft: 1024, Hard: 1024}}
}
