package engine

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"slices"
	"strings"

	"github.com/docker/docker/api/types/system"
	"github.com/docker/docker/api/types/versions"

	"github.com/sbxkit/sbxkit/runtime"
)

// minAPI is the oldest API this room speaks: Docker 19.03. A wait for the next exit came with 1.30, what create must be able to say
// (PidsLimit as a pointer, CgroupnsMode, mounts of every kind) with 1.40 and 1.41.
const minAPI = "1.40"

// greet asks the engine who it is. An engine that cannot be reached is Unsupported: the host has none. One that takes a connection and
// then does not answer, or answers nonsense, is Setup: it could, and did not.
func (b *Backend) greet(ctx context.Context, l link) (*runtime.Identity, error) {
	v, api, err := l.greet(ctx)
	if err != nil {
		return nil, b.unreached(ctx, l.endpoint(), err)
	}
	id := &runtime.Identity{
		Backend: b.def.Description.Name, Kind: b.def.Description.Kind, Engine: engineName(v), Version: engineVersion(v), API: api,
		Endpoint: l.endpoint().host, Remote: !l.endpoint().local(),
	}
	if !slices.Contains(b.def.Engines, id.Engine) {
		f := runtime.Fail(runtime.Unsupported, "the engine at %s calls itself %q, which the backend %s does not drive", id.Endpoint, id.Engine, id.Backend)
		return nil, f.At(runtime.StepProbe).WithCure("name an endpoint of %s, or use the backend for this engine", strings.Join(b.def.Engines, " or "))
	}
	if id.API != "" && versions.LessThan(id.API, minAPI) {
		return nil, runtime.Fail(runtime.Unsupported, "%s %s speaks API %s, and %s is needed", id.Engine, id.Version, id.API, minAPI).
			At(runtime.StepProbe).WithCure("upgrade the engine")
	}
	return id, nil
}

// inform adds what only the slower answer has. Names, never versions or paths, decide what an engine is.
func (b *Backend) inform(ctx context.Context, l link, id *runtime.Identity) (*system.Info, error) {
	info, err := l.info(ctx)
	if err != nil {
		return nil, b.unreached(ctx, l.endpoint(), err)
	}
	if info.OSType != "" && info.OSType != "linux" {
		return nil, runtime.Fail(runtime.Unsupported, "%s at %s runs %s containers, and sandboxes are Linux's", id.Engine, id.Endpoint, info.OSType).
			At(runtime.StepProbe).WithCure("switch the engine to Linux containers")
	}
	modules := map[string]bool{}
	for _, o := range info.SecurityOptions {
		// Options are "name=seccomp,profile=default", or the bare name on old engines.
		for f := range strings.SplitSeq(o, ",") {
			modules[strings.TrimPrefix(f, "name=")] = true
			switch strings.TrimPrefix(f, "name=") {
			case "rootless":
				id.Rootless = true
			case "userns":
				id.UserRemap = true
			}
		}
	}
	// Docker takes the name of an AppArmor profile where there is no AppArmor, records it, and does nothing (20.10, measured).
	for _, feature := range []string{"apparmor", "seccomp", "seccomp-profile"} {
		m, _, _ := strings.Cut(feature, "-")
		if !modules[m] {
			id.Absent = append(id.Absent, runtime.Absence{Feature: "hardening." + feature, Why: "the engine's host has no " + m, Cure: "use a host that has it, or leave it out of the policy and the launch"})
		}
	}
	if b.def.Options.Via == ViaCLI {
		id.Absent = append(id.Absent, runtime.Absence{Feature: "terminal", Why: "the command line program wants a terminal of its own", Cure: "drive the engine by its API"})
	}
	// A local socket can lead to a virtual machine. A planted file shows better, where there is an image to show it in.
	id.Remote = id.Remote || !seemsLocal(info)
	switch info.CgroupVersion {
	case "1":
		id.Cgroup = "v1"
	case "2":
		id.Cgroup = "v2"
	}
	if info.CgroupDriver == "none" {
		id.Cgroup = "none"
	}
	return info, nil
}

// unreached says why an engine gave no identity.
func (b *Backend) unreached(ctx context.Context, e endpoint, err error) *runtime.Failure {
	name := strings.Join(b.def.Engines, " or ")
	var f *runtime.Failure
	var program *cliError
	var through *sshError
	switch {
	case answered(err):
		f = runtime.Fail(runtime.Setup, "the engine at %s answered with an error: %w", e, err).WithCure("see the engine's own log")
	case errors.Is(err, fs.ErrPermission):
		f = runtime.Fail(runtime.Unsupported, "no permission to use the engine at %s: %w", e, err).
			WithCure("run as a user who may, or use a rootless engine; membership in a group that may is as good as root")
	case ctx.Err() != nil:
		f = runtime.Fail(runtime.Setup, "the engine at %s was not asked to the end: %w", e, context.Cause(ctx)).WithCure("allow the probe more time")
	case refused(err), errors.As(err, &through), errors.Is(err, errNoEngine), errors.As(err, &program):
		f = runtime.Fail(runtime.Unsupported, "no engine answers at %s: %w", e, err).WithCure("start %s, or name another endpoint", name)
	default:
		f = runtime.Fail(runtime.Setup, "what answers at %s is no engine, or one that hangs: %w", e, err).WithCure("restart %s, or name another endpoint", name)
	}
	return f.At(runtime.StepProbe)
}

// refused reports whether nobody took the connection: no socket, nobody who listens, no such host.
func refused(err error) bool {
	var dialling *net.OpError
	return errors.As(err, &dialling) && dialling.Op == "dial"
}
