package process

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/attest"
	"github.com/sbxkit/sbxkit/runtime/mounts"
)

// probes remembers what was found of a program, by the file's identity: a program that is replaced is probed anew.
type probes struct {
	mu    sync.Mutex
	found map[programKey]*runtime.Identity
}

type programKey struct {
	path      string
	dev, ino  uint64
	sec, nsec int64
	size      int64
	uid       int
}

// Probe finds the program, asks it for its version and options, and launches a real command in it.
func (b *Backend) Probe(ctx context.Context, r runtime.ProbeRequest) (*runtime.Identity, error) {
	lookup := r.Lookup
	if lookup == nil {
		lookup = os.LookupEnv
	}
	id := &runtime.Identity{Backend: b.def.Description.Name, Kind: b.def.Description.Kind, Unsandboxed: b.def.Description.Unsandboxed}
	key := programKey{uid: os.Geteuid()}
	if b.def.Program != "" {
		path, err := b.findProgram(lookup)
		if err != nil {
			return nil, err
		}
		var st unix.Stat_t
		if err := unix.Stat(path, &st); err != nil {
			return nil, runtime.Fail(runtime.Unsupported, "looking at %s: %w", path, err).At(runtime.StepProbe)
		}
		key.path, key.dev, key.ino, key.sec, key.nsec, key.size = path, uint64(st.Dev), st.Ino, int64(st.Mtim.Sec), int64(st.Mtim.Nsec), st.Size
		id.Program, id.Engine = path, b.def.Program
	} else {
		id.Engine = "linux"
	}
	b.probes.mu.Lock()
	defer b.probes.mu.Unlock()
	if known := b.probes.found[key]; known != nil && !r.Deep {
		c := *known
		return &c, nil
	}
	if b.def.Program != "" {
		if err := b.ask(ctx, id); err != nil {
			return nil, err
		}
	}
	if err := b.tryGroups(id); err != nil {
		return nil, err
	}
	if err := b.proveLaunch(ctx, id); err != nil {
		return nil, err
	}
	if err := b.proveParentDeath(ctx, id); err != nil {
		return nil, err
	}
	if b.def.Gate == GateExec {
		if err := otherUser(id); err != nil {
			return nil, runtime.Fail(runtime.Setup, "%w", err).At(runtime.StepProbe)
		}
	}
	if b.probes.found == nil {
		b.probes.found = map[programKey]*runtime.Identity{}
	}
	b.probes.found[key] = id
	c := *id
	return &c, nil
}

// findProgram gives the program's path: the caller's, the override's, or the first in PATH.
func (b *Backend) findProgram(lookup func(string) (string, bool)) (string, error) {
	name, said := b.def.Program, ""
	if v, ok := lookup(b.def.Override); b.def.Override != "" && ok && v != "" {
		name, said = v, b.def.Override
	}
	if b.def.Options.Program != "" {
		name, said = b.def.Options.Program, "Options.Program"
	}
	search, _ := lookup("PATH")
	root, err := unix.Open("/", unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", runtime.Fail(runtime.Setup, "opening /: %w", err).At(runtime.StepProbe)
	}
	defer unix.Close(root)
	dir, err := os.Getwd()
	if err != nil {
		dir = "/"
	}
	path, err := attest.FindCommand(root, name, search, dir)
	if err == nil {
		return path, nil
	}
	f := runtime.Fail(runtime.Unsupported, "the program %s: %w", name, err).At(runtime.StepProbe)
	switch {
	case said != "":
		return "", f.WithCure("%s names it: give the path of an executable file", said)
	case b.def.Override != "":
		return "", f.WithCure("install %s (%s), or name it with %s", b.def.Program, packages(b.def.Program), b.def.Override)
	}
	return "", f.WithCure("install %s (%s)", b.def.Program, packages(b.def.Program))
}

// packages names what to install for a program where its package has another name.
func packages(program string) string {
	if program == "bwrap" {
		return "apt-get install bubblewrap, dnf install bubblewrap"
	}
	return "the package of that name"
}

var option = regexp.MustCompile(`(?m)^\s+(--[a-z0-9][a-z0-9-]*)`)

// ask reads the program's version and its options: what this build really has, since distributions backport.
func (b *Backend) ask(ctx context.Context, id *runtime.Identity) error {
	if len(b.def.Version.Args) > 0 {
		out, err := b.answer(ctx, id.Program, b.def.Version.Args)
		if err != nil {
			return err
		}
		m := regexp.MustCompile(b.def.Version.Pattern).FindSubmatch(out)
		if len(m) < 2 {
			return runtime.Fail(runtime.Unsupported, "%s %s does not say a version that matches %q", id.Program, strings.Join(b.def.Version.Args, " "), b.def.Version.Pattern).
				At(runtime.StepProbe).WithCure("check that it is %s", b.def.Program)
		}
		id.Version = string(m[1])
		// "bubblewrap 0.8.0": its own name for itself.
		if name, rest, ok := strings.Cut(strings.TrimSpace(string(out)), " "); ok && rest == id.Version {
			id.Engine = name
		}
	}
	if len(b.def.Flags) > 0 {
		out, err := b.answer(ctx, id.Program, b.def.Flags)
		if err != nil {
			return err
		}
		id.Flags = []string{}
		for _, m := range option.FindAllSubmatch(out, -1) {
			id.Flags = append(id.Flags, string(m[1]))
		}
		slices.Sort(id.Flags)
		id.Flags = slices.Compact(id.Flags)
	}
	return nil
}

// answer runs the program with words that make it print something and end.
func (b *Backend) answer(ctx context.Context, program string, args []string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, answerDeadline)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env, cmd.Dir = []string{}, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.WaitDelay = time.Second
	var out bytes.Buffer
	cmd.Stdout = &bounded{to: &out, left: 1 << 20}
	cmd.Stderr = cmd.Stdout
	err := cmd.Run()
	if ctx.Err() != nil {
		return nil, runtime.Fail(runtime.Setup, "%s %s did not answer: %w", program, strings.Join(args, " "), context.Cause(ctx)).At(runtime.StepProbe)
	}
	if err != nil {
		return nil, runtime.Fail(runtime.Unsupported, "running %s %s: %w", program, strings.Join(args, " "), err).At(runtime.StepProbe).WithCure("check that it is %s", b.def.Program)
	}
	return out.Bytes(), nil
}

const (
	answerDeadline = 10 * time.Second
	launchDeadline = 30 * time.Second
)

// bounded keeps the first bytes that are written to it.
type bounded struct {
	to   *bytes.Buffer
	left int
}

func (w *bounded) Write(b []byte) (int, error) {
	n := min(len(b), w.left)
	w.to.Write(b[:n])
	w.left -= n
	return len(b), nil
}

// proveLaunch runs the probe's command under the policy. Where that fails, it is launched again with one thing left out at a time:
// what makes it work is what this host cannot do. What the policy only prefers is then noted as absent, what it requires refuses.
func (b *Backend) proveLaunch(ctx context.Context, id *runtime.Identity) error {
	if len(b.def.Launch) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, launchDeadline)
	defer cancel()
	d := b.def.Description
	left := map[string]bool{}
	for range 1 + len(suspects) {
		err := b.tryLaunch(ctx, id, left)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil || errors.Is(err, runtime.ErrUncertain) || errors.Is(err, runtime.ErrDenied) {
			return runtime.AsFailure(err, runtime.Setup).At(runtime.StepProbe)
		}
		if errors.Is(err, errNotKept) {
			// The sandbox stands, and is not what the policy says: no host's refusal.
			f := runtime.AsFailure(err, runtime.Setup)
			return runtime.Fail(runtime.Unsupported, "%s does not keep its own policy here: %s", d.Name, f.Message).At(runtime.StepProbe).About(f.Feature).WithCure("%s", f.Cure).Because(err)
		}
		culprit := b.culprit(ctx, id, left)
		if culprit == nil {
			return b.unexplained(err)
		}
		why, cure := culprit.explain()
		level := levelOf(d, culprit.feature)
		if level != runtime.LevelPreferred {
			return runtime.Fail(runtime.Unsupported, "%s works here only without %s: %s", d.Name, culprit.feature, why).At(runtime.StepProbe).
				About(culprit.feature).WithCure("%s", cure).Because(err)
		}
		left[culprit.feature] = true
		id.Absent = append(id.Absent, runtime.Absence{Feature: culprit.feature, Why: why, Cure: cure})
	}
	return nil
}

func levelOf(d *runtime.Description, feature string) runtime.Level {
	for _, h := range d.Policy.Hardening {
		if h.Name == feature {
			return h.Level
		}
	}
	return runtime.LevelRequired
}

// culprit is the one suspect without which a launch works.
func (b *Backend) culprit(ctx context.Context, id *runtime.Identity, left map[string]bool) *suspect {
	for i := range suspects {
		s := &suspects[i]
		if left[s.feature] {
			continue
		}
		without := map[string]bool{s.feature: true}
		for f := range left {
			without[f] = true
		}
		if b.tryLaunch(ctx, id, without) == nil {
			return s
		}
	}
	return nil
}

// unexplained is the failure of a launch that nothing left out makes work: what is left is the making of any sandbox at all.
func (b *Backend) unexplained(err error) error {
	d := b.def.Description
	f := runtime.AsFailure(err, runtime.Setup)
	switch {
	case f.Kind == runtime.Command:
		return runtime.Fail(runtime.Unsupported, "the probe's command %s cannot run in %s: %w", b.def.Launch[0], d.Name, err).At(runtime.StepProbe).
			WithCure("see to it that %s is below the policy's mounts", b.def.Launch[0])
	case b.def.Gate == GateBlockFD:
		why, cure := around.refusesAll()
		return runtime.Fail(runtime.Unsupported, "%s cannot make a sandbox here: %s: %s", d.Name, why, f.Message).At(runtime.StepProbe).
			About("hardening.user-namespace").WithCure("%s", cure).Because(err)
	}
	return runtime.Fail(runtime.Unsupported, "a minimal launch of %s failed: %s", d.Name, f.Message).At(runtime.StepProbe).WithCure("%s", f.Cure).Because(err)
}

// tryLaunch walks a minimal launch through every step, with the features of without left out.
func (b *Backend) tryLaunch(ctx context.Context, id *runtime.Identity, without map[string]bool) error {
	p, err := b.probePlan(id, without)
	if err != nil {
		return err
	}
	res, err := b.Prepare(ctx, p)
	if err != nil {
		return err
	}
	exit, err := b.walk(ctx, res)
	down, cancel := context.WithTimeout(context.WithoutCancel(ctx), abortDeadline)
	defer cancel()
	if _, rerr := res.Remove(down); rerr != nil {
		return rerr
	}
	if err != nil {
		return err
	}
	if !exit.Ran || exit.Signal != 0 || exit.Code != 0 {
		return runtime.Fail(runtime.Setup, "the probe's command %s ended with status %d, signal %d", strings.Join(b.def.Launch, " "), exit.Code, exit.Signal)
	}
	return nil
}

func (b *Backend) walk(ctx context.Context, res runtime.Resources) (*runtime.Exit, error) {
	none := runtime.Output{Writer: io.Discard}
	proc, err := res.Start(ctx, &runtime.StartRequest{Stdin: runtime.StdinNone, Stdout: none, Stderr: none})
	if err != nil {
		return nil, err
	}
	return proc.Wait(ctx, time.Second)
}

// probePlan plans the probe's command under the policy, with the policy's hardening but without features left out.
func (b *Backend) probePlan(id *runtime.Identity, without map[string]bool) (*runtime.Plan, error) {
	d := *b.def.Description
	d.Policy.Hardening = slices.DeleteFunc(slices.Clone(d.Policy.Hardening), func(h runtime.HardeningRule) bool { return without[h.Name] })
	d.Policy.Mounts = slices.DeleteFunc(slices.Clone(d.Policy.Mounts), func(m runtime.Mount) bool { return without["mount."+string(m.Kind)] })
	if without["network.none"] {
		d.Policy.Network = runtime.NetworkHost
	}
	d.Policy.Credentials = nil
	req, dropped, err := runtime.Resolve(runtime.ResolveInput{
		Description: &d, Launch: &runtime.Launch{Argv: b.def.Launch}, Run: runtime.RunName{}, Identity: *id,
		CallerUID: os.Getuid(), CallerGID: os.Getgid(),
	})
	if err != nil {
		return nil, err
	}
	return b.Plan(runtime.PlanInput{Request: req, Identity: *id, Host: mounts.OS{}, Dropped: dropped})
}
