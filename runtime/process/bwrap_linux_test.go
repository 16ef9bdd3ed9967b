package process

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	goruntime "runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/mounts"
)

// bwrapArgv is a builder as the generator writes them, by hand, for this room's own tests: it makes room for its words once, as those do.
func bwrapArgv(r *runtime.Request) []string {
	text := make([]string, 0, wordsAtMost(r))
	bwrapWords(r, func(_ string, w ...string) { text = append(text, w...) })
	return text
}

func bwrapExplain(r *runtime.Request) []runtime.Word {
	words := make([]runtime.Word, 0, wordsAtMost(r))
	bwrapWords(r, func(feature string, w ...string) {
		for _, x := range w {
			words = append(words, runtime.Word{Text: x, For: feature, Spec: "bwrap_test.yaml:1"})
		}
	})
	return words
}

func wordsAtMost(r *runtime.Request) int { return 40 + 3*len(r.Env) + 5*len(r.Mounts) + len(r.Command) }

func bwrapWords(r *runtime.Request, add func(feature string, words ...string)) {
	add("", "bwrap")
	add("gate.args", "--args", strconv.Itoa(r.Descriptors.Args))
	add("gate.block", "--block-fd", strconv.Itoa(r.Descriptors.Block))
	add("gate.status", "--json-status-fd", strconv.Itoa(r.Descriptors.Status))
	h := r.Hardening
	for _, f := range []struct {
		on            bool
		feature, flag string
	}{
		{h.UserNamespace, "hardening.user-namespace", "--unshare-user"},
		{h.PIDNamespace, "hardening.pid-namespace", "--unshare-pid"},
		{h.IPCNamespace, "hardening.ipc-namespace", "--unshare-ipc"},
		{h.UTSNamespace, "hardening.uts-namespace", "--unshare-uts"},
		{h.CgroupNamespace, "hardening.cgroup-namespace", "--unshare-cgroup"},
		{r.Network.Mode == runtime.NetworkNone || r.Network.Mode == runtime.NetworkEgress, "network.none", "--unshare-net"},
		{h.UserNamespaceOff, "hardening.user-namespace-off", "--disable-userns"},
		{h.NewSession, "hardening.new-session", "--new-session"},
		{h.ParentDeath, "hardening.parent-death", "--die-with-parent"},
	} {
		if f.on {
			add(f.feature, f.flag)
		}
	}
	if h.Capabilities {
		add("hardening.capabilities", "--cap-drop", "ALL")
	}
	if r.Hostname != "" {
		add("hostname", "--hostname", r.Hostname)
	}
	if r.User.Kind == runtime.UserID {
		add("user.id", "--uid", strconv.Itoa(r.User.UID), "--gid", strconv.Itoa(r.User.GID))
	}
	for _, v := range r.Env {
		add("environment", "--setenv", v.Name, v.Value)
	}
	for _, m := range r.Mounts {
		f := "mount." + string(m.Kind)
		switch m.Kind {
		case runtime.MountBindRO:
			add(f, "--ro-bind", m.Source, m.Target)
		case runtime.MountBindRW:
			add(f, "--bind", m.Source, m.Target)
		case runtime.MountSocket:
			add(f, "--bind", m.Source, m.Target)
		case runtime.MountTmpfs:
			if m.Size > 0 {
				add(f, "--size", strconv.FormatInt(m.Size, 10))
			}
			add(f, "--tmpfs", m.Target)
		case runtime.MountFile:
			add(f, "--perms", "0"+strconv.FormatUint(uint64(m.Mode.Perm()), 8), "--ro-bind-data", strconv.Itoa(m.Descriptor), m.Target)
		case runtime.MountSymlink:
			add(f, "--symlink", m.Source, m.Target)
		case runtime.MountMaskFile:
			add(f, "--ro-bind", "/dev/null", m.Target)
		case runtime.MountMaskDir:
			add(f, "--tmpfs", m.Target)
		case runtime.MountProc:
			add(f, "--proc", m.Target)
		case runtime.MountDev:
			add(f, "--dev", m.Target)
		case runtime.MountDir:
			add(f, "--dir", m.Target)
		default:
			panic("no word for mount " + string(m.Kind))
		}
	}
	if h.ReadOnlyRoot {
		add("hardening.read-only-root", "--remount-ro", "/")
	}
	if h.Seccomp != "" {
		add("hardening.seccomp", "--seccomp", strconv.Itoa(r.Descriptors.Seccomp))
	}
	if r.Dir != "" {
		add("workdir", "--chdir", r.Dir)
	}
	add("", "--")
	add("command", r.Command...)
}

// flags are the options of the hand-written builder by feature.
var flags = map[string][]runtime.Flag{
	"hardening.user-namespace":     {{Name: "--unshare-user"}},
	"hardening.user-namespace-off": {{Name: "--disable-userns", Since: "0.8.0"}},
	"mount.tmpfs":                  {{Name: "--size", Since: "0.7.0"}, {Name: "--tmpfs"}},
	"gate.status":                  {{Name: "--json-status-fd", Since: "0.3.2"}},
}

func describe(name, kind string) *runtime.Description {
	d := &runtime.Description{Name: name, Kind: kind}
	for _, n := range append(runtime.Vocabulary(), "gate.args", "gate.block", "gate.status") {
		f := runtime.Feature{Name: n, How: runtime.HowSpelled, Flags: flags[n]}
		switch n {
		case "limits.memory", "limits.swap", "limits.processes", "limits.cpus", "limits.cpuset":
			f.By = "cgroup"
		}
		d.Features = append(d.Features, f)
	}
	sortFeatures(d.Features)
	d.Policy = runtime.Policy{
		Environment:   runtime.EnvironmentPolicy{Accept: []string{"*"}, Set: []runtime.Variable{{Name: "PATH", Value: "/usr/local/bin:/usr/bin:/bin", Public: true}}},
		NetworkAccept: []runtime.NetworkMode{runtime.NetworkHost, runtime.NetworkEgress},
		UserAccept:    []runtime.UserKind{runtime.UserID, runtime.UserCaller},
		Workspace:     runtime.WorkspacePolicy{Target: "/workspace", Accept: []runtime.WorkspaceMode{runtime.WorkspaceBindRW, runtime.WorkspaceBindRO}},
		Credentials: []runtime.CredentialRule{
			{Role: "env", Env: "TEST_CREDENTIAL"}, {Role: "file", File: "/run/sbx/credentials/file", Mode: 0o400}, {Role: "fd", Descriptor: true},
		},
	}
	return d
}

func sortFeatures(f []runtime.Feature) {
	for i := range f {
		for j := i; j > 0 && f[j].Name < f[j-1].Name; j-- {
			f[j], f[j-1] = f[j-1], f[j]
		}
	}
}

// bwrapDefinition is bwrap with a policy that has every hardening option.
func bwrapDefinition() Definition {
	d := describe("bwrap", "process")
	for _, n := range []string{"capabilities", "cgroup-namespace", "ipc-namespace", "new-session", "no-new-privileges", "parent-death", "pid-namespace", "user-namespace", "uts-namespace"} {
		d.Policy.Hardening = append(d.Policy.Hardening, runtime.HardeningRule{Name: "hardening." + n, Level: runtime.LevelRequired})
	}
	for _, dir := range []string{"/usr", "/bin", "/lib", "/lib64", "/sbin"} {
		d.Policy.Mounts = append(d.Policy.Mounts, runtime.Mount{Kind: runtime.MountBindRO, Source: dir, Target: dir, Optional: true})
	}
	d.Policy.Mounts = append(d.Policy.Mounts,
		runtime.Mount{Kind: runtime.MountProc, Target: "/proc"}, runtime.Mount{Kind: runtime.MountDev, Target: "/dev"},
		runtime.Mount{Kind: runtime.MountTmpfs, Target: "/tmp"})
	d.Policy.Dir = "/"
	return Definition{
		Description: d, Argv: bwrapArgv, Explain: bwrapExplain, Program: "bwrap", Override: "SBX_BWRAP",
		Version: VersionProbe{Args: []string{"--version"}, Pattern: `bubblewrap (\S+)`}, Flags: []string{"--help"}, Launch: []string{"true"},
		Gate: GateBlockFD, Arguments: ArgumentsDescriptor,
	}
}

func localArgv(r *runtime.Request) []string { return r.Command }

func localExplain(r *runtime.Request) []runtime.Word {
	var words []runtime.Word
	for _, w := range r.Command {
		words = append(words, runtime.Word{Text: w, For: "command"})
	}
	return words
}

func localDefinition() Definition {
	d := describe("local", "process")
	d.Unsandboxed = true
	d.Policy.Network = runtime.NetworkHost
	d.Policy.Dir = "/"
	return Definition{Description: d, Argv: localArgv, Explain: localExplain, Launch: []string{"true"}, Gate: GateExec}
}

// backend makes a backend of the definition that ends with the test, or skips where its program is not on this host.
func backend(t testing.TB, d Definition) *Backend {
	t.Helper()
	if d.Program != "" && d.Options.Program == "" {
		if _, err := exec.LookPath(d.Program); err != nil {
			t.Skipf("%s is not installed: %v", d.Program, err)
		}
	}
	b, err := New(d)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

func probe(t testing.TB, b *Backend) *runtime.Identity {
	t.Helper()
	id, err := b.Probe(context.Background(), runtime.ProbeRequest{})
	if err != nil {
		t.Fatalf("probing: %v", err)
	}
	return id
}

func plan(t testing.TB, b *Backend, l runtime.Launch, run runtime.RunName) *runtime.Plan {
	t.Helper()
	p, err := tryPlan(t, b, l, run)
	if err != nil {
		t.Fatalf("planning: %v", err)
	}
	return p
}

func tryPlan(t testing.TB, b *Backend, l runtime.Launch, run runtime.RunName) (*runtime.Plan, error) {
	t.Helper()
	id := probe(t, b)
	req, dropped, err := runtime.Resolve(runtime.ResolveInput{Description: b.Describe(), Launch: &l, Run: run, Identity: *id, CallerUID: os.Getuid(), CallerGID: os.Getgid()})
	if err != nil {
		return nil, err
	}
	return b.Plan(runtime.PlanInput{Request: req, Identity: *id, Host: mounts.OS{}, Dropped: dropped})
}

// sink is a Writer that keeps what it gets; it may be read while it is written to.
type sink struct {
	mu  sync.Mutex
	buf bytes.Buffer
	got chan struct{}
}

func (s *sink) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.buf.Write(b)
	if s.got != nil {
		select {
		case s.got <- struct{}{}:
		default:
		}
	}
	return len(b), nil
}

func (s *sink) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.String()
}

// await waits until what was written holds text.
func (s *sink) await(t testing.TB, text string) {
	t.Helper()
	limit := time.After(20 * time.Second)
	for !bytes.Contains([]byte(s.String()), []byte(text)) {
		select {
		case <-s.got:
		case <-limit:
			t.Fatalf("waited for %q, have %q", text, s.String())
		}
	}
}

func newSink() *sink { return &sink{got: make(chan struct{}, 1)} }

// live is a started run of a test.
type live struct {
	runtime.Process
	res            runtime.Resources
	stdout, stderr *sink
}

func prepare(t testing.TB, b *Backend, p *runtime.Plan) runtime.Resources {
	t.Helper()
	res, err := b.Prepare(context.Background(), p)
	if err != nil {
		t.Fatalf("preparing: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if _, err := res.Remove(ctx); err != nil {
			t.Errorf("removing: %v", err)
		}
	})
	return res
}

func begin(t testing.TB, b *Backend, l runtime.Launch) *live {
	t.Helper()
	r, err := tryBegin(t, b, l)
	if err != nil {
		t.Fatalf("starting: %v", err)
	}
	return r
}

func tryBegin(t testing.TB, b *Backend, l runtime.Launch) (*live, error) {
	t.Helper()
	p := plan(t, b, l, runtime.RunName{})
	res := prepare(t, b, p)
	r := &live{res: res, stdout: newSink(), stderr: newSink()}
	proc, err := res.Start(context.Background(), &runtime.StartRequest{
		Stdin: p.Request.Stdin, StdinFile: l.Stdin.File, Stdout: runtime.Output{Writer: r.stdout}, Stderr: runtime.Output{Writer: r.stderr}, Terminal: p.Request.Terminal,
	})
	r.Process = proc
	return r, err
}

func (r *live) wait(t testing.TB) *runtime.Exit {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	e, err := r.Wait(ctx, time.Second)
	if err != nil {
		t.Fatalf("waiting: %v", err)
	}
	return e
}

func sh(script string, args ...string) runtime.Launch {
	//sbx:allow rawshell the tests' own text, run in the sandbox; how a script is staged is another test's subject
	return runtime.Launch{Argv: append([]string{"/bin/sh", "-c", script}, args...)}
}

func itoa(n int) string { return strconv.Itoa(n) }

func lockThread() { goruntime.LockOSThread() }
