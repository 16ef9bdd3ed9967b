package process

import (
	"fmt"
	"path"
	"slices"
	"strconv"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/mounts"
)

// maxWords is how many words bubblewrap takes in all after its own name, those of --args included (MAX_ARGS of bubblewrap.c).
const maxWords = 9000

// Plan orders the mounts, numbers the descriptors, builds the argv and refuses what this build of the program does not have.
func (b *Backend) Plan(in runtime.PlanInput) (*runtime.Plan, error) {
	req := *in.Request
	dropped := slices.Clip(in.Dropped)
	next := runtime.FirstDescriptor
	for _, n := range []int{req.Descriptors.Heartbeat, req.Descriptors.Notify} {
		next = max(next, n+1)
	}
	for _, c := range req.Credentials {
		next = max(next, c.Descriptor+1)
	}
	var notes []string
	if b.def.Gate == GateBlockFD {
		// The planner owns the mounts from here on; the request of the caller is not changed.
		res, err := b.planMounts(&req, in, next)
		if err != nil {
			return nil, err
		}
		dropped = append(dropped, res.Dropped...)
		notes = res.Notes
	} else if err := b.planDirect(&req, next); err != nil {
		return nil, err
	}
	if req.Terminal != nil {
		// The launcher gets a session of its own whose terminal is the private one; another session inside would have none.
		req.Hardening.NewSession = false
	}

	argv, words := b.def.Argv(&req), b.def.Explain(&req)
	if len(argv) != len(words) {
		return nil, runtime.Fail(runtime.Setup, "the generated builder gives %d words and explains %d", len(argv), len(words)).At(runtime.StepPlan).WithCure("go generate ./...")
	}
	if err := b.checkWords(&req, in.Identity, argv, words); err != nil {
		return nil, err
	}
	p := runtime.NewPlan(b.def.Description.Name, &req, argv, words)
	p.Identity = in.Identity
	p.Dropped = dropped
	p.Image = in.Image
	p.Token = runtime.Token{Backend: b.def.Description.Name, Run: req.Run}
	if in.Identity.Cgroup != "" { // a dry run on a host that was not probed has no place for a group, and cannot be prepared
		group, err := planGroup(&req, &in.Identity)
		if err != nil {
			return nil, runtime.AsFailure(err, runtime.Unsupported).At(runtime.StepPlan)
		}
		if group != nil {
			p.Token.Cgroups = group.Paths()
		}
	}
	if b.def.Gate == GateExec {
		p.Environment = req.Env
	}
	p.Claims = b.claims(&req, in.Request)
	p.Steps = b.steps(p, notes)
	return p, nil
}

func (b *Backend) planMounts(req *runtime.Request, in runtime.PlanInput, next int) (*mounts.Result, error) {
	d := &req.Descriptors
	d.Block, d.Status = BlockDescriptor, StatusDescriptor
	if b.def.Arguments == ArgumentsDescriptor {
		d.Args = ArgsDescriptor
	}
	first := firstDescriptor
	if req.Hardening.Seccomp != "" {
		if _, err := filter(req.Hardening.Seccomp); err != nil {
			return nil, runtime.Fail(runtime.Unsupported, "%w", err).At(runtime.StepPlan).About("hardening.seccomp")
		}
		d.Seccomp = first
		first++
	}
	ask := slices.Clone(req.Mounts)
	for _, c := range req.Credentials {
		if c.File != "" {
			ask = append(ask, runtime.Mount{Kind: runtime.MountFile, Target: c.File, Data: c.Value, Mode: mode(c.Mode), Origin: "credential " + c.Role})
		}
	}
	ask = append(ask, kernelSettings(ask, in.Host)...)
	limit := runtime.FirstDescriptor
	files := 0
	for _, m := range ask {
		if m.Kind == runtime.MountFile {
			files++
		}
	}
	if first+files > limit {
		// They do not fit below what the command sees; they stand above it.
		first, limit = next, 0
	}
	var sockets []mounts.Socket
	for _, s := range b.def.Description.Policy.Sockets {
		sockets = append(sockets, mounts.Socket{Path: s, Because: "policy.sockets"})
	}
	if req.Network.Mode == runtime.NetworkEgress && req.Network.Socket != "" {
		sockets = append(sockets, mounts.Socket{Path: req.Network.Socket, Because: "network egress"})
	}
	bare := *req
	bare.Mounts = nil
	used := len(b.def.Argv(&bare))
	res, err := mounts.Plan(mounts.Input{
		Mounts: ask, Host: in.Host, Sockets: sockets,
		Tool: mounts.Tool{Name: b.def.Program, Words: maxWords, UsedWords: used - 1, WordsOf: b.wordsOf(), FirstDescriptor: first, DescriptorLimit: limit},
	})
	if err != nil {
		return nil, err
	}
	req.Mounts = res.Mounts
	return res, nil
}

// wordsOf counts the words of an operation as the builder makes them, whatever else is asked for.
func (b *Backend) wordsOf() func(*runtime.Mount) int {
	// What a builder can make differ between two operations of a kind: each option is there or not.
	type shape struct {
		kind       runtime.MountKind
		mode, size bool
	}
	known := map[shape]int{}
	without := len(b.def.Argv(&runtime.Request{}))
	return func(m *runtime.Mount) int {
		s := shape{m.Kind, m.Permission() != 0, m.Size != 0}
		n, ok := known[s]
		if !ok {
			n = len(b.def.Argv(&runtime.Request{Mounts: []runtime.Mount{*m}})) - without
			known[s] = n
		}
		return n
	}
}

// kernelFiles are what a write to, below /proc, changes the whole machine. Only their owner's id guards them, not a capability: bubblewrap
// started by root leaves the command that id, and covers a directory only where the directory itself could be written
// (setup_newroot in bubblewrap.c), which /proc/sys is not.
var kernelFiles = []string{"acpi", "bus", "fs", "irq", "scsi", "sys", "sysrq-trigger"}

// kernelSettings are read-only mounts of them for each proc that is asked for, where the host has them and nothing else was asked for there.
func kernelSettings(ask []runtime.Mount, host runtime.HostView) (add []runtime.Mount) {
	if host == nil {
		return nil
	}
	for _, m := range ask {
		if m.Kind != runtime.MountProc {
			continue
		}
		for _, name := range kernelFiles {
			target := path.Join(m.Target, name)
			if slices.ContainsFunc(ask, func(o runtime.Mount) bool { return path.Clean(o.Target) == target }) {
				continue
			}
			source := "/proc/" + name
			if _, err := host.Lstat(source); err != nil {
				continue
			}
			add = append(add, runtime.Mount{Kind: runtime.MountBindRO, Source: source, Target: target, Origin: m.Origin + " (kernel settings)"})
		}
	}
	return add
}

// planDirect readies a request for a command that is started with nothing between: a script is read from a descriptor of its own.
func (b *Backend) planDirect(req *runtime.Request, next int) error {
	if len(req.Mounts) > 0 {
		m := req.Mounts[0]
		return runtime.Fail(runtime.Unsupported, "%s has no file system of its own: it cannot mount %s", b.def.Description.Name, m.Target).
			At(runtime.StepPlan).About("mount." + string(m.Kind))
	}
	for _, c := range req.Credentials {
		if c.File != "" {
			return runtime.Fail(runtime.Unsupported, "%s has no file system of its own: it cannot give the credential of role %q as a file", b.def.Description.Name, c.Role).
				At(runtime.StepPlan).About("credentials.file").WithCure("deliver it by environment or descriptor")
		}
	}
	if s := req.Script; s != nil {
		target := "/proc/self/fd/" + strconv.Itoa(next)
		staged := *s
		staged.Target = target
		req.Script = &staged
		req.Command = slices.Clone(req.Command)
		req.Command[s.Word] = target
		req.Mounts = []runtime.Mount{{Kind: runtime.MountFile, Target: target, Data: s.Text, Mode: 0o444, Origin: "script", Descriptor: next}}
	}
	return nil
}

// checkWords refuses a word that this build of the program does not know, and an argv or a variable that it or the kernel cannot take.
func (b *Backend) checkWords(req *runtime.Request, id runtime.Identity, argv []string, words []runtime.Word) error {
	for i, w := range argv {
		if len(w) > mounts.DefaultWordBytes {
			return runtime.Fail(runtime.Unsupported, "a word of %s has %d bytes, and a command line takes at most %d in one word", name(words[i]), len(w), mounts.DefaultWordBytes).
				At(runtime.StepPlan).About(words[i].For).WithCure("hand it over as a file")
		}
	}
	for _, v := range req.Env {
		// The kernel takes a variable as one word, its name and the sign between included (execve(2)).
		if n := len(v.Name) + 1 + len(v.Value); n > mounts.DefaultWordBytes {
			return runtime.Fail(runtime.Unsupported, "the variable %s has %d bytes with its name, and an environment takes at most %d in one variable", v.Name, n, mounts.DefaultWordBytes).
				At(runtime.StepPlan).About("environment").WithCure("hand it over as a file")
		}
	}
	if b.def.Gate == GateExec {
		return nil
	}
	if tail := len(argv) - len(req.Command); tail < 1 || !slices.Equal(argv[tail:], req.Command) {
		return runtime.Fail(runtime.Setup, "the argv of %s does not end in the command", b.def.Description.Name).At(runtime.StepPlan).WithCure("its spec's last words must be the command's")
	}
	if n := len(argv) - 1; n > maxWords {
		return runtime.Fail(runtime.Unsupported, "%s takes at most %d words, and this launch needs %d", b.def.Program, maxWords, n).At(runtime.StepPlan).
			About("command").WithCure("use fewer mounts or variables")
	}
	if id.Flags == nil {
		return nil
	}
	for i, w := range words {
		f, ok := b.def.Description.Feature(w.For)
		if !ok {
			continue
		}
		j := slices.IndexFunc(f.Flags, func(f runtime.Flag) bool { return f.Name == argv[i] })
		if j < 0 || slices.Contains(id.Flags, argv[i]) {
			continue
		}
		since := "a newer version"
		if f.Flags[j].Since != "" {
			since = "version " + f.Flags[j].Since
		}
		return runtime.Fail(runtime.Unsupported, "%s %s has no %s, which %s needs", b.def.Program, id.Version, argv[i], w.For).
			At(runtime.StepPlan).About(w.For).WithCure("install %s or later of %s, or do without %s", since, b.def.Program, w.For)
	}
	return nil
}

func name(w runtime.Word) string {
	if w.For == "" {
		return "the argv"
	}
	return w.For
}

func (b *Backend) steps(p *runtime.Plan, notes []string) []runtime.PlannedStep {
	r := p.Request
	prepare := "nothing: no state directory"
	if r.Run.Dir != "" {
		prepare = "the run's directory"
	}
	start := "the command itself, in a session of its own, stopped at its exec by ptrace: limits, attestation, release"
	down := "end and confirm every process of the session"
	if b.def.Gate == GateBlockFD {
		start = fmt.Sprintf("%s with an empty environment, held before the command exists: limits, attestation; stopped at the command's exec: attestation, release", b.def.Program)
		down = "end the sandbox and confirm that it is gone"
		if r.Hardening.PIDNamespace {
			down = "end the pid namespace and confirm its end by pidfd"
		}
	}
	files := 0
	for _, m := range r.Mounts {
		if m.Kind == runtime.MountFile {
			files++
		}
	}
	steps := []runtime.PlannedStep{
		{Step: runtime.StepPrepare, Does: prepare},
		{Step: runtime.StepStage, Does: fmt.Sprintf("%d files by descriptor", files)},
		{Step: runtime.StepStart, Does: start},
		{Step: runtime.StepCapture, Does: "streams to their end, exit status, usage"},
		{Step: runtime.StepExport, Does: "nothing: the candidate is the workspace itself"},
		{Step: runtime.StepRemove, Does: down},
	}
	for _, n := range notes {
		steps = append(steps, runtime.PlannedStep{Step: runtime.StepPlan, Does: n})
	}
	return steps
}
