package engine

import (
	"archive/tar"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/system"

	"github.com/sbxkit/sbxkit/runtime"
)

// trial is the probe's own container. It asks for what engines drop without a word, so that what is dropped is known before a run asks
// for it, and shows the engine a planted file, so that it is known whether a path here is a path there.
type trial struct {
	b     *Backend
	link  link
	id    *runtime.Identity
	ref   string
	image string
	// near is true where nothing yet says that the engine is on another host.
	near bool
}

// Where the planted file is shown inside.
const (
	trialMount = "/run/sbx-probe"
	trialFile  = "planted"
)

// run makes the trial. An engine that refuses all at once is asked again for less: what was then left out is absent.
func (t *trial) run(ctx context.Context) error {
	planted, content, err := t.plant()
	if err != nil {
		return err
	}
	if planted != "" {
		defer os.RemoveAll(planted)
	}
	return t.asking(planted, func(a ask) error { return t.launch(ctx, a, content) })
}

// look makes a container that is never started, and looks at the planted file through it. An engine that refuses the mount, and makes the
// container without it, does not see the file; one that refuses an init has none.
func (t *trial) look(ctx context.Context) error {
	planted, content, err := t.plant()
	if err != nil {
		return err
	}
	if planted == "" {
		t.id.Remote = true
	} else {
		defer os.RemoveAll(planted)
	}
	return t.asking(planted, func(a ask) error {
		return t.make(ctx, a, func(name string) error {
			if a.source != "" {
				if err := t.see(ctx, name, content); err != nil {
					return err
				}
			}
			i, err := t.link.inspect(ctx, name)
			if err != nil {
				return t.b.setup(t.link, err, "%s did not describe the container it was looked through", t.id)
			}
			t.missing(i, a.limits)
			return nil
		})
	})
}

// ask is what one container of the trial is made with.
type ask struct {
	source       string // the planted directory; empty without
	limits, init bool
}

// asking asks for all, and then for less and less until it is given; what was then left out is absent.
func (t *trial) asking(planted string, try func(ask) error) error {
	var refused error
	for n := range 8 {
		a := ask{source: planted, init: n&1 == 0, limits: n&4 == 0}
		if n&2 != 0 {
			a.source = ""
		}
		if n&2 != 0 && planted == "" || n&1 != 0 && !t.wantsInit() {
			continue
		}
		a.init = a.init && t.wantsInit()
		err := try(a)
		if err == nil {
			t.leftOut(a, planted, refused)
			return nil
		}
		if !answered(err) || errors.Is(err, runtime.ErrUncertain) {
			return err
		}
		refused = err
	}
	return refused
}

// leftOut says what an engine did without.
func (t *trial) leftOut(a ask, planted string, refused error) {
	if a.source == "" {
		t.id.Remote = true
	}
	if !a.limits {
		for _, f := range []string{"limits.memory", "limits.swap", "limits.cpus", "limits.processes"} {
			t.absent(f, "the engine refuses the limit: "+refused.Error(), "use a host or an engine that keeps it, or leave it out of the policy")
		}
	}
	if !a.init && t.wantsInit() {
		t.absent("hardening.init", "the engine has no init: "+refused.Error(), "install it on the engine's host (Podman: catatonit), or leave it out of the policy")
	}
}

// wantsInit reports whether the policy asks for an init.
func (t *trial) wantsInit() bool {
	return slices.ContainsFunc(t.b.def.Description.Policy.Hardening, func(h runtime.HardeningRule) bool {
		return h.Name == "hardening.init" && h.Level != runtime.LevelOff
	})
}

func (t *trial) absent(feature, why, cure string) {
	t.id.Absent = append(t.id.Absent, runtime.Absence{Feature: feature, Why: why, Cure: cure})
}

// plant makes a directory with a file that only this host has; empty where the engine is known to be on another. A file by itself would
// not do: Podman 4.3 answers 500 for the archive of a bound file (measured).
func (t *trial) plant() (dir, content string, err error) {
	if !t.near {
		return "", "", nil
	}
	content = rand.Text()
	dir, err = os.MkdirTemp("", "sbx-probe-")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, trialFile), []byte(content), 0o400)
	}
	if err != nil {
		return "", "", runtime.Fail(runtime.Setup, "planting a file to show to the engine: %w", errors.Join(err, os.RemoveAll(dir)))
	}
	return dir, content, nil
}

// request asks for everything a policy is likely to.
func (t *trial) request(name string, a ask) *CreateRequest {
	c := &CreateRequest{
		Config: &Config{Image: t.ref, Cmd: t.b.def.Probe, Labels: map[string]string{runtime.LabelPrefix + "probe": name}},
		HostConfig: &HostConfig{
			NetworkMode: "none", LogConfig: LogConfig{Type: "none"}, CgroupnsMode: container.CgroupnsModePrivate, ReadonlyRootfs: true,
			CapDrop: StrSlice{"ALL"}, SecurityOpt: []string{"no-new-privileges"},
			// Low on purpose: Podman asks for 1048576 of each that is not said, which root without CAP_SYS_RESOURCE may not set (measured
			// on 4.3.1).
			Resources: Resources{Ulimits: []*Ulimit{{Name: "nofile", Soft: 64, Hard: 64}, {Name: "nproc", Soft: 1024, Hard: 1024}}},
		},
		Networking: &NetworkingConfig{}, Name: name,
	}
	if len(t.b.def.Probe) != 0 {
		c.Config.Entrypoint, c.Config.Cmd = t.b.def.Probe[:1], t.b.def.Probe[1:]
	}
	if a.init {
		c.HostConfig.Init = new(true)
	}
	if a.limits {
		c.HostConfig.Memory, c.HostConfig.MemorySwap, c.HostConfig.NanoCPUs, c.HostConfig.PidsLimit = trialMemory, trialMemory, trialCPUs, new(int64(trialPids))
	}
	if a.source != "" {
		c.HostConfig.Mounts = []Mount{{Type: MountTypeBind, Source: a.source, Target: trialMount, ReadOnly: true}}
	}
	return c
}

const (
	trialMemory = 128 << 20
	trialCPUs   = 1_000_000_000
	trialPids   = 64
)

// launch makes, runs and removes one container of the trial.
func (t *trial) launch(ctx context.Context, a ask, content string) error {
	return t.make(ctx, a, func(name string) error {
		if a.source != "" {
			if err := t.see(ctx, name, content); err != nil {
				return err
			}
		}
		return t.start(ctx, name, a.limits)
	})
}

// make makes a container, uses it, and sees it removed.
func (t *trial) make(ctx context.Context, a ask, use func(name string) error) (err error) {
	name := newProbeName()
	defer func() {
		cleanup, cancel := detached(ctx, t.b.limit.remove, "the removal of the probe's container")
		defer cancel()
		if gone := t.b.removeContainer(cleanup, t.link, name); gone != nil {
			err = errors.Join(err, gone)
		}
	}()
	making, cancel := lingering(ctx, t.b.limit.afterwards)
	_, err = t.link.create(making, t.request(name, a), nil)
	cancel()
	if err != nil {
		return t.b.setup(t.link, err, "%s cannot make a container of %s", t.id, t.ref)
	}
	if ctx.Err() != nil {
		return runtime.Fail(runtime.Setup, "the probe's launch was cancelled: %w", context.Cause(ctx))
	}
	return use(name)
}

// see looks at the planted file through the engine's eyes.
func (t *trial) see(ctx context.Context, name, content string) error {
	body, err := t.link.download(ctx, name, trialMount+"/"+trialFile)
	if cerrdefs.IsNotFound(err) {
		t.id.Remote = true
		return nil
	}
	if err != nil {
		return t.b.setup(t.link, err, "looking at a planted file through %s", t.id)
	}
	defer body.Close()
	archive := tar.NewReader(body)
	if _, err := archive.Next(); err != nil {
		return runtime.Fail(runtime.Setup, "looking at a planted file through %s: %w", t.id, err)
	}
	have, err := io.ReadAll(io.LimitReader(archive, int64(len(content))+1))
	if err != nil {
		return runtime.Fail(runtime.Setup, "looking at a planted file through %s: %w", t.id, err)
	}
	// Podman makes a directory of a source that is not there.
	t.id.Remote = string(have) != content
	return nil
}

// start runs the container to its end and reads back what the engine made of it.
func (t *trial) start(ctx context.Context, name string, limits bool) error {
	gone, err := lookCommand(ctx, t.link, name, firstWord(t.b.def.Probe), "/", "", func(string) bool { return false })
	if err != nil {
		return t.b.setup(t.link, err, "looking for the probe's command in %s", t.ref)
	}
	at, err := t.link.start(ctx, name, startOptions{stdout: io.Discard, stderr: io.Discard})
	switch {
	case err != nil && gone != nil && answered(err):
		// The image has not got the probe's command: everything up to its execution was done.
	case err != nil:
		return t.b.setup(t.link, err, "%s cannot start a container of %s", t.id, t.ref)
	default:
		defer at.close()
		if err := t.wait(ctx, at); err != nil {
			return err
		}
	}
	i, err := t.link.inspect(ctx, name)
	if err != nil {
		return t.b.setup(t.link, err, "%s did not describe the probe's container", t.id)
	}
	if at != nil {
		if _, ok := startedAt(i); !ok {
			return runtime.Fail(runtime.Setup, "%s told the end of a container that it never started", t.id)
		}
	}
	t.missing(i, limits)
	return nil
}

func firstWord(words []string) string {
	if len(words) == 0 {
		return "true"
	}
	return words[0]
}

func (t *trial) wait(ctx context.Context, at *attachment) error {
	select {
	case <-at.ended:
	case <-ctx.Done():
		return runtime.Fail(runtime.Setup, "the probe's launch did not end: %w", context.Cause(ctx))
	case <-time.After(t.b.limit.start):
		return runtime.Fail(runtime.Setup, "the probe's launch on %s did not end in %v", t.id, t.b.limit.start).
			WithCure("give an image whose command ends, or set probe.launch of the spec")
	}
	if at.waitErr != nil {
		return t.b.setup(t.link, at.waitErr, "%s did not tell the end of a container of %s", t.id, t.ref)
	}
	if at.code != 0 && len(t.b.def.Probe) != 0 {
		return runtime.Fail(runtime.Setup, "the probe's launch on %s ended with status %d, not 0", t.id, at.code).
			WithCure("run: %s", t.b.command(t.link, slices.Concat([]string{"run", "--rm", t.ref}, t.b.def.Probe)...))
	}
	return nil
}

// missing compares the engine's record with what the trial asked for.
func (t *trial) missing(i *container.InspectResponse, limits bool) {
	if i.ContainerJSONBase == nil || i.HostConfig == nil {
		return
	}
	h := i.HostConfig
	type check struct {
		feature    string
		have, want any
	}
	checks := []check{{"hardening.cgroup-namespace", h.CgroupnsMode, container.CgroupnsModePrivate}, {"hardening.read-only-root", h.ReadonlyRootfs, true}}
	if limits {
		pids := int64(0)
		if h.PidsLimit != nil {
			pids = *h.PidsLimit
		}
		checks = append(checks, check{"limits.memory", h.Memory, int64(trialMemory)}, check{"limits.swap", h.MemorySwap, int64(trialMemory)},
			check{"limits.cpus", h.NanoCPUs, int64(trialCPUs)}, check{"limits.processes", pids, int64(trialPids)})
	}
	for _, c := range checks {
		if c.have != c.want {
			t.absent(c.feature, fmt.Sprintf("the engine was asked for %v and recorded %v", c.want, c.have), "use a host or an engine that keeps it, or leave it out of the policy")
		}
	}
}

// seemsLocal reports whether an engine says of its host what is so of this one; a planted file then shows it.
func seemsLocal(info *system.Info) bool {
	name, err := os.Hostname()
	if err != nil || info.Name != "" && info.Name != name {
		return false
	}
	release := kernelRelease()
	return release == "" || info.KernelVersion == "" || info.KernelVersion == release
}
