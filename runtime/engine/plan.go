package engine

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/mounts"
)

// stageDir is the directory inside that scripts and credential files are staged in: a volume of the run, so that neither a read-only
// root nor a tmpfs above it stands in the way.
var stageDir = path.Dir(runtime.ScriptTarget)

// Plan orders what a request asks for, names the run's resources, and builds the words and the create request. Pure.
func (b *Backend) Plan(in runtime.PlanInput) (*runtime.Plan, error) {
	p, err := b.plan(in)
	if err != nil {
		return nil, runtime.AsFailure(err, runtime.Setup).At(runtime.StepPlan)
	}
	return p, nil
}

func (b *Backend) plan(in runtime.PlanInput) (*runtime.Plan, error) {
	if in.Request == nil || len(in.Request.Command) == 0 {
		return nil, runtime.Fail(runtime.Setup, "a plan without a command")
	}
	if in.Image == nil {
		return nil, runtime.Fail(runtime.Setup, "a plan without the facts of its image").About("image").WithCure("call Ensure first")
	}
	r := *in.Request
	r.Mounts = slices.Clone(r.Mounts)
	join(&r)
	nameVolumes(&r)
	if err := visible(&r, in.Identity); err != nil {
		return nil, err
	}
	if err := readSeccomp(&r, in); err != nil {
		return nil, err
	}
	planned, err := b.planMounts(&r, in)
	if err != nil {
		return nil, err
	}
	r.Mounts = planned.Mounts
	if err := stageable(&r); err != nil {
		return nil, err
	}
	if err := carried(&r, in.Identity); err != nil {
		return nil, err
	}
	words := append([]runtime.Word{{Text: b.def.Program, Spec: b.def.Description.Spec}}, b.def.Explain(&r)...)
	p := runtime.NewPlan(b.def.Description.Name, &r, append([]string{b.def.Program}, b.def.Argv(&r)...), words)
	p.Identity, p.Image = in.Identity, in.Image
	p.Dropped = append(slices.Clone(in.Dropped), planned.Dropped...)
	// The words name each variable, and the program takes its value from its own environment: no value stands in an argv.
	p.Environment = r.Env
	p.Token = runtime.Token{Backend: p.Backend, Run: r.Run, Name: r.Run.Name(), Endpoint: in.Identity.Endpoint, Image: in.Image.ID, Volumes: runVolumes(&r)}
	if r.Network.Mode == runtime.NetworkPrivate {
		p.Token.Networks = []string{r.Run.Name()}
	}
	p.Claims = b.claims(&r, in.Image)
	c := b.createRequest(&r)
	if r.Hardening.SeccompProfile != "" {
		c.HostConfig.SecurityOpt = append(c.HostConfig.SecurityOpt, seccompOption(&r, in.Identity.Engine))
	}
	if err := masking(&r, c, in.Identity); err != nil {
		return nil, err
	}
	p.Create = c
	p.Steps = steps(p)
	return p, nil
}

// planMounts orders and checks the mounts. Sources are paths of the engine's host, and looked at only where that is this one: --mount of
// Docker refuses an absent source, and Podman 4.3 makes a directory of it, whatever asked (measured).
func (b *Backend) planMounts(r *runtime.Request, in runtime.PlanInput) (*mounts.Result, error) {
	host := in.Host
	if in.Identity.Remote {
		host = nil
	}
	sockets := make([]mounts.Socket, 0, len(b.def.Description.Policy.Sockets))
	for _, s := range b.def.Description.Policy.Sockets {
		sockets = append(sockets, mounts.Socket{Path: s})
	}
	return mounts.Plan(mounts.Input{
		Mounts: r.Mounts, Host: host, Sockets: sockets, Tool: mounts.Tool{Name: b.def.Program, Image: true},
	})
}

// Names of what belongs to a run, after the run's own.
const (
	workspaceSuffix = "-workspace"
	// seedSuffix is of a container that is never started: a workspace is uploaded through it.
	seedSuffix = "-seed"
)

// nameVolumes gives volumes of the run the run's name, and adds those that the workspace and what is staged need.
func nameVolumes(r *runtime.Request) {
	prefix := r.Run.Name() + "-"
	for i := range r.Mounts {
		m := &r.Mounts[i]
		if m.Kind == runtime.MountVolume && m.Scope != runtime.VolumeCache && m.Scope != runtime.VolumeSession {
			m.Scope = runtime.VolumeRun
			if !strings.HasPrefix(m.Source, prefix) {
				m.Source = prefix + m.Source
			}
		}
	}
	if w := r.Workspace; w != nil && (w.Mode == runtime.WorkspaceCopy || w.Mode == runtime.WorkspaceVolume) && !mountedAt(r, w.Target) {
		r.Mounts = append(r.Mounts, runtime.Mount{Kind: runtime.MountVolume, Source: r.Run.Name() + workspaceSuffix, Target: w.Target, Scope: runtime.VolumeRun, Origin: "workspace"})
	}
	if len(staged(r)) != 0 && !mountedAt(r, stageDir) {
		r.Mounts = append(r.Mounts, runtime.Mount{Kind: runtime.MountVolume, Source: prefix + "stage", Target: stageDir, Scope: runtime.VolumeRun, Origin: "stage"})
	}
}

func mountedAt(r *runtime.Request, target string) bool {
	return slices.ContainsFunc(r.Mounts, func(m runtime.Mount) bool { return m.Target == target && m.Kind == runtime.MountVolume })
}

// runVolumes lists the volumes that go with the run.
func runVolumes(r *runtime.Request) []string {
	var names []string
	for _, m := range r.Mounts {
		if m.Kind == runtime.MountVolume && m.Scope == runtime.VolumeRun && !slices.Contains(names, m.Source) {
			names = append(names, m.Source)
		}
	}
	return names
}

// staged lists the paths inside that step 3 writes to the stage directory.
func staged(r *runtime.Request) []string {
	var paths []string
	if r.Script != nil {
		paths = append(paths, r.Script.Target)
	}
	for _, c := range r.Credentials {
		if c.File != "" {
			paths = append(paths, c.File)
		}
	}
	for _, m := range r.Mounts {
		if uploaded(m.Kind) && below(m.Target, stageDir) {
			paths = append(paths, m.Target)
		}
	}
	return paths
}

// uploaded reports whether a kind of mount is no mount of an engine, but something put into the container by archive.
func uploaded(k runtime.MountKind) bool {
	return k == runtime.MountFile || k == runtime.MountSymlink || k == runtime.MountDir
}

// below reports whether p is dir or under it.
func below(p, dir string) bool {
	return p == dir || strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/")
}

// stageable refuses what could be uploaded and would not be seen: engines unpack an archive into the container's own root or a volume, and
// what stands there is hidden by a mount made at the start, or is read-only.
func stageable(r *runtime.Request) error {
	for _, c := range r.Credentials {
		if c.File != "" && !below(c.File, stageDir) {
			return runtime.Fail(runtime.Unsupported, "the credential of role %q is a file at %s: an engine stages files below %s only", c.Role, c.File, stageDir).
				About("credentials.file").WithCure("set its file in policy.credentials of the spec to a path below %s", stageDir)
		}
		if c.Descriptor != 0 {
			return runtime.Fail(runtime.Unsupported, "the credential of role %q is a descriptor, and no descriptor passes into a container", c.Role).About("credentials.descriptor")
		}
	}
	for _, m := range r.Mounts {
		if !uploaded(m.Kind) || below(m.Target, stageDir) {
			continue
		}
		feature := "mount." + string(m.Kind)
		if r.Hardening.ReadOnlyRoot {
			return runtime.Fail(runtime.Unsupported, "%s (%s): the root is read-only, and an engine uploads nothing into it", m.Target, m.Origin).
				About(feature).WithCure("put it below %s", stageDir)
		}
		for _, over := range r.Mounts {
			if !uploaded(over.Kind) && below(m.Target, over.Target) {
				return runtime.Fail(runtime.Unsupported, "%s (%s): the %s at %s would hide it", m.Target, m.Origin, over.Kind, over.Target).
					About(feature).WithCure("put it below %s", stageDir)
			}
		}
	}
	return nil
}

// createRequest completes what the spec's words say with what this room does for every engine.
func (b *Backend) createRequest(r *runtime.Request) *CreateRequest {
	c := b.def.Create(r)
	c.Name = r.Run.Name()
	// The engine's own removal races with reading the exit (Podman 4.3.1 gave 0 for a command that exited 3): removal is step 8's.
	c.HostConfig.AutoRemove = false
	stdin := r.Stdin == runtime.StdinPipe || r.Stdin == runtime.StdinFile || r.Terminal != nil
	c.Config.AttachStdout, c.Config.AttachStderr, c.Config.AttachStdin = true, true, stdin
	// Once: the engine closes the command's stdin when the one attached connection is half-closed; without it Docker never does.
	c.Config.OpenStdin, c.Config.StdinOnce = stdin, stdin
	c.Config.Tty = r.Terminal != nil
	if r.Network.Mode == runtime.NetworkPrivate {
		c.Networking.EndpointsConfig = map[string]*EndpointSettings{r.Run.Name(): {Aliases: append(slices.Clone(r.Network.Aliases), c.Aliases...)}}
	}
	if r.Image.Platform != "" {
		os, rest, _ := strings.Cut(r.Image.Platform, "/")
		architecture, variant, _ := strings.Cut(rest, "/")
		c.Platform = &Platform{OS: os, Architecture: architecture, Variant: variant}
	}
	return c
}

// steps says what each step will do.
func steps(p *runtime.Plan) []runtime.PlannedStep {
	var out []runtime.PlannedStep
	add := func(s runtime.Step, does string) { out = append(out, runtime.PlannedStep{Step: s, Does: does}) }
	prepare := "create the container, not started"
	if len(p.Token.Volumes) != 0 {
		prepare += ", and " + plural(len(p.Token.Volumes), "volume")
	}
	if len(p.Token.Networks) != 0 {
		prepare += ", and a network"
	}
	add(runtime.StepPrepare, prepare+"; read back what the engine accepted")
	stage := "look for the command in the container"
	if n := len(staged(p.Request)); n != 0 {
		stage += "; upload " + plural(n, "file") + " to " + stageDir
	}
	if w := p.Request.Workspace; w != nil && (w.Mode == runtime.WorkspaceCopy || w.Mode == runtime.WorkspaceVolume) {
		stage += "; upload the workspace to " + w.Target
	}
	add(runtime.StepStage, stage)
	add(runtime.StepStart, "attach, wait for the next exit, start, attest")
	add(runtime.StepCapture, "streams to their end, exit, inspect")
	if a := p.Request.Artifacts; a != nil && len(a.Paths) != 0 {
		add(runtime.StepExport, "download "+strings.Join(a.Paths, ", "))
	}
	add(runtime.StepRemove, "remove the container and what goes with it; see it gone")
	return out
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}
