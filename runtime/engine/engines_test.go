package engine

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/sbxkit/sbxkit/internal/testhost"
	"github.com/sbxkit/sbxkit/runtime"
)

// underTest is a real engine the tests run on, and the way it is driven.
type underTest struct {
	name     string // Docker Engine, Podman Engine
	program  string
	endpoint string
	image    string
	via      Via
	// proxy is the way to the engine itself, behind a daemon of the tests; known is the engine's identity where it was probed before.
	proxy http.Handler
	known *runtime.Identity
}

// eachEngine runs f on each real engine hack/setup found; an absent one is a skip with its reason.
func eachEngine(t *testing.T, f func(t *testing.T, e underTest)) {
	for _, e := range []struct {
		name, program string
		find          func(testing.TB) (host, image string)
	}{
		{"Docker Engine", "docker", testhost.Docker},
		{"Podman Engine", "podman", testhost.Podman},
	} {
		t.Run(e.program, func(t *testing.T) {
			host, image := e.find(t)
			f(t, underTest{name: e.name, program: e.program, endpoint: host, image: image, via: ViaAPI})
		})
	}
}

// definition is a hand-written stand-in for a generated backend.
func (e underTest) definition() Definition {
	return Definition{
		Description: &runtime.Description{
			Name: e.program, Kind: "engine", Spec: "test.yaml", Exports: true,
			Features: []runtime.Feature{
				{Name: "hardening.capabilities", How: runtime.HowSpelled}, {Name: "hardening.init", How: runtime.HowSpelled},
				{Name: "hardening.no-new-privileges", How: runtime.HowSpelled}, {Name: "hardening.read-only-root", How: runtime.HowSpelled},
				{Name: "limits.memory", How: runtime.HowSpelled}, {Name: "limits.open-files", How: runtime.HowSpelled},
				{Name: "limits.processes", How: runtime.HowSpelled},
			},
		},
		Argv:    argvByHand,
		Explain: func(*runtime.Request) []runtime.Word { return []runtime.Word{{Text: "run", Spec: "test.yaml:1"}} },
		Create:  createByHand, Engines: []string{e.name}, EndpointEnv: []string{"DOCKER_HOST"}, Contexts: true, Program: e.program,
		Probe: []string{"true"}, Options: Options{Endpoint: e.endpoint, Via: e.via},
	}
}

// createByHand says what a generated create says for the features of these tests.
func createByHand(r *runtime.Request) *CreateRequest {
	c := NewCreateRequest(r)
	c.Config.Image, c.Config.Cmd, c.Config.WorkingDir, c.Config.Hostname = r.Image.Ref, r.Command, r.Dir, r.Hostname
	c.HostConfig.NetworkMode = NetworkMode(r.Network.Mode)
	if r.Network.Mode == runtime.NetworkPrivate {
		c.HostConfig.NetworkMode = NetworkMode(r.Run.Name())
	}
	c.HostConfig.LogConfig.Type = "none"
	if r.Terminal != nil {
		c.Config.Tty = true
	}
	if r.User.Kind == runtime.UserID {
		c.Config.User = fmt.Sprintf("%d:%d", r.User.UID, r.User.GID)
	}
	for _, v := range r.Env {
		c.Config.Env = append(c.Config.Env, v.Name+"="+v.Value)
	}
	if l := r.Limits.OpenFiles; l != nil {
		c.HostConfig.Ulimits = append(c.HostConfig.Ulimits, &Ulimit{Name: "nofile", Soft: int64(l.Soft), Hard: int64(l.Hard)})
	}
	if l := r.Limits.UserProcesses; l != nil {
		c.HostConfig.Ulimits = append(c.HostConfig.Ulimits, &Ulimit{Name: "nproc", Soft: int64(l.Soft), Hard: int64(l.Hard)})
	}
	if l := r.Limits.Memory; l != nil {
		c.HostConfig.Memory, c.HostConfig.MemorySwap = int64(l.Hard), int64(l.Hard)
	}
	if l := r.Limits.Processes; l != nil {
		c.HostConfig.PidsLimit = new(int64(l.Hard))
	}
	if r.Hardening.Init {
		c.HostConfig.Init = new(true)
	}
	if r.Hardening.Capabilities {
		c.HostConfig.CapDrop = StrSlice{"ALL"}
	}
	if r.Hardening.NoNewPrivileges {
		c.HostConfig.SecurityOpt = append(c.HostConfig.SecurityOpt, "no-new-privileges")
	}
	c.HostConfig.ReadonlyRootfs = r.Hardening.ReadOnlyRoot
	for _, m := range r.Mounts {
		switch m.Kind {
		case runtime.MountBindRO, runtime.MountBindRW:
			c.HostConfig.Mounts = append(c.HostConfig.Mounts, Mount{Type: MountTypeBind, Source: m.Source, Target: m.Target, ReadOnly: m.Kind == runtime.MountBindRO})
		case runtime.MountTmpfs:
			c.HostConfig.Mounts = append(c.HostConfig.Mounts, Mount{Type: MountTypeTmpfs, Target: m.Target, TmpfsOptions: &TmpfsOptions{SizeBytes: m.Size}})
		case runtime.MountVolume:
			c.HostConfig.Mounts = append(c.HostConfig.Mounts, Mount{Type: MountTypeVolume, Source: m.Source, Target: m.Target})
		}
	}
	return c
}

// argvByHand gives the words for createByHand's container.
func argvByHand(r *runtime.Request) []string {
	c := createByHand(r)
	c.Name = r.Run.Name()
	words := []string{"run"}
	flag := func(name, value string) {
		if value != "" {
			words = append(words, name, value)
		}
	}
	flag("--user", c.Config.User)
	flag("--workdir", c.Config.WorkingDir)
	flag("--hostname", c.Config.Hostname)
	for _, v := range r.Env {
		flag("--env", v.Name)
	}
	if r.Stdin != runtime.StdinNone {
		words = append(words, "--interactive")
	}
	if r.Hardening.Init {
		words = append(words, "--init")
	}
	for _, m := range r.Mounts {
		if m.Kind == runtime.MountTmpfs {
			flag("--tmpfs", fmt.Sprintf("%s:size=%d", m.Target, m.Size))
		}
	}
	c.HostConfig.Mounts = slices.DeleteFunc(c.HostConfig.Mounts, func(m Mount) bool { return m.Type == MountTypeTmpfs })
	return append(words, requestWords(c)[1:]...)
}

func (e underTest) backend(t *testing.T, change ...func(*Definition)) *Backend {
	t.Helper()
	d := e.definition()
	for _, c := range change {
		c(&d)
	}
	b, err := New(d)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func (e underTest) request(command ...string) *runtime.Request {
	return &runtime.Request{
		Run: runtime.RunName{ID: strings.ToLower(rand.Text()), Owner: "engine-test"}, Command: command, Image: runtime.Image{Ref: e.image},
		Network: runtime.Network{Mode: runtime.NetworkNone}, Stdin: runtime.StdinNone,
		// Podman asks for 1048576 of each that is not said, which root without CAP_SYS_RESOURCE may not set (measured on 4.3.1).
		Limits: runtime.Limits{OpenFiles: runtime.AtMost(256), UserProcesses: runtime.AtMost(4096)},
	}
}

// deadline bounds every wait of these tests; nothing waits that long where the code is right.
const deadline = 60 * time.Second

func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	t.Cleanup(cancel)
	return ctx
}

// launched is a run of these tests with what it wrote.
type launched struct {
	t        *testing.T
	plan     *runtime.Plan
	res      runtime.Resources
	proc     runtime.Process
	out, err syncBuffer
}

// plan plans and prepares; what was prepared is removed at the end of the test.
func prepare(t *testing.T, b *Backend, r *runtime.Request) *launched {
	t.Helper()
	ctx := within(t)
	id, err := b.Probe(ctx, runtime.ProbeRequest{})
	if err != nil {
		t.Fatal(err)
	}
	image, err := b.Ensure(ctx, r.Image, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := b.Plan(runtime.PlanInput{Request: r, Identity: *id, Image: image})
	if err != nil {
		t.Fatal(err)
	}
	res, err := b.Prepare(ctx, p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), deadline)
		defer cancel()
		if down, err := res.Remove(ctx); err != nil || !down.Confirmed {
			t.Errorf("removing: %+v, %v", down, err)
		}
	})
	return &launched{t: t, plan: p, res: res}
}

func (l *launched) stage() error {
	r := l.plan.Request
	_, err := l.res.Stage(within(l.t), &runtime.Stage{Workspace: r.Workspace, Script: r.Script, Credentials: r.Credentials})
	return err
}

func (l *launched) start() {
	l.t.Helper()
	if err := l.stage(); err != nil {
		l.t.Fatal(err)
	}
	p, err := l.res.Start(within(l.t), &runtime.StartRequest{
		Stdin: l.plan.Request.Stdin, Terminal: l.plan.Request.Terminal,
		Stdout: runtime.Output{Writer: &l.out}, Stderr: runtime.Output{Writer: &l.err},
	})
	if err != nil {
		l.t.Fatal(err)
	}
	l.proc = p
}

func (l *launched) wait() *runtime.Exit {
	l.t.Helper()
	x, err := l.proc.Wait(within(l.t), 5*time.Second)
	if err != nil {
		l.t.Fatalf("%v\nstdout: %q\nstderr: %q", err, l.out.String(), l.err.String())
	}
	if !x.Ran {
		l.t.Fatalf("nobody saw the command run: %+v", x)
	}
	return x
}

// launch prepares, stages and starts.
func launch(t *testing.T, b *Backend, r *runtime.Request) *launched {
	t.Helper()
	l := prepare(t, b, r)
	l.start()
	return l
}

// syncBuffer can be read while it is written.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}
