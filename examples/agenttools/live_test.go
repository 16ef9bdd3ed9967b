package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sbxkit/sbxkit/examples/agenttools/tools"
	"github.com/sbxkit/sbxkit/generated/bwrap"
	"github.com/sbxkit/sbxkit/generated/docker"
	"github.com/sbxkit/sbxkit/generated/local"
	"github.com/sbxkit/sbxkit/generated/podman"
	"github.com/sbxkit/sbxkit/internal/testhost"
	sbx "github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/engine"
	"github.com/sbxkit/sbxkit/runtime/journal"
)

// inside is where the toolbox stands in a sandbox.
const inside = "/opt/toolbox/toolbox"

// place is a backend of this host, as a server would be wired to it.
type place struct {
	backend sbx.Backend
	image   string
	// openly is true where there is no sandbox, which is said openly: the program itself has no name for that.
	openly bool
}

// places are the backends of this host, with the engines by their programs beside their APIs.
var places = []struct {
	name string
	find func(*testing.T) (place, error)
}{
	{"local", func(*testing.T) (p place, err error) {
		p.openly = true
		p.backend, err = local.New(local.Options{})
		return p, err
	}},
	{"bwrap", func(t *testing.T) (p place, err error) {
		testhost.Bwrap(t)
		p.backend, err = bwrap.New(bwrap.Options{})
		return p, err
	}},
	{"docker", func(t *testing.T) (place, error) { return onDocker(t, engine.ViaAPI) }},
	{"docker CLI", func(t *testing.T) (place, error) { return onDocker(t, engine.ViaCLI) }},
	{"podman", func(t *testing.T) (place, error) { return onPodman(t, engine.ViaAPI) }},
	{"podman CLI", func(t *testing.T) (place, error) { return onPodman(t, engine.ViaCLI) }},
}

func onDocker(t *testing.T, via engine.Via) (p place, err error) {
	host, image := testhost.Docker(t)
	p.image = image
	p.backend, err = docker.New(docker.Options{Endpoint: host, Via: via})
	return p, err
}

func onPodman(t *testing.T, via engine.Via) (p place, err error) {
	host, image := testhost.Podman(t)
	p.image = image
	p.backend, err = podman.New(podman.Options{Endpoint: host, Via: via})
	return p, err
}

// open makes the seam over a place, and says where the toolbox stands for its commands.
func (p place) open(t *testing.T, state string) (s tools.Seam, toolbox string) {
	t.Helper()
	toolbox, _ = testhost.Toolbox(t)
	b, opts := p.backend, []sbx.Option(nil)
	if p.openly {
		temporary := t.TempDir()
		b, opts = nil, []sbx.Option{sbx.WithMode(sbx.Disabled), sbx.WithUnsandboxed(p.backend), sbx.WithEnviron(func() []string {
			return append(os.Environ(), "TMPDIR="+temporary) // for what a session that is killed leaves
		})}
	}
	s, err := open(t.Context(), b, state, t.TempDir(), opts...)
	if err != nil {
		t.Fatal(err)
	}
	if s.Base.Image.Ref = p.image; !p.openly {
		s.Base.Mounts = []sbx.Mount{{Kind: sbx.MountBindRO, Source: toolbox, Target: inside}}
		toolbox = inside
	}
	return s, toolbox
}

// TestToolsOnRealBackends runs the same tools, unchanged, on every backend of this host.
func TestToolsOnRealBackends(t *testing.T) {
	for _, where := range places {
		t.Run(where.name, func(t *testing.T) {
			t.Parallel()
			p, err := where.find(t)
			if err != nil {
				t.Fatal(err)
			}
			state := filepath.Join(t.TempDir(), "state")
			s, toolbox := p.open(t, state)
			t.Run("tools", func(t *testing.T) {
				for tool, live := range map[string]func(*testing.T, tools.Seam){
					"shell": liveShell, "tasks": liveTasks, "repl": liveREPL,
					"agent": func(t *testing.T, s tools.Seam) { liveAgent(t, s, toolbox) },
				} {
					t.Run(tool, func(t *testing.T) {
						t.Parallel()
						live(t, s)
					})
				}
			})
			nothingLeft(t, p.backend, state)
			if err := s.Box.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// nothingLeft looks, as the next session would, for what this one left.
func nothingLeft(t *testing.T, b sbx.Backend, state string) {
	t.Helper()
	j, err := journal.OpenExisting(t.Context(), state)
	if err != nil {
		t.Fatal(err)
	}
	runs := 0
	err = j.List(t.Context(), func(sbx.Record, bool) error { runs++; return nil }, func(path string, err error) { t.Errorf("%s: %v", path, err) })
	if err != nil || runs != 0 {
		t.Errorf("%d runs are left in the journal, %v", runs, err)
	}
	if f, ok := b.(sbx.Reconciler); ok {
		if left, _, err := f.Find(t.Context(), j.Owner()); err != nil || len(left) != 0 {
			t.Errorf("the engine still has %+v, %v", left, err)
		}
	}
}

func liveShell(t *testing.T, s tools.Seam) {
	a, err := s.RunShell(t.Context(), "echo out; echo err >&2; echo made >made; exit 3", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if a.Code == nil || *a.Code != 3 || a.Stdout != "out\n" || a.Stderr != "err\n" {
		t.Errorf("%+v", a)
	}
	made := filepath.Join(s.Base.Workspace.Source, "made")
	if text, err := os.ReadFile(made); err != nil || string(text) != "made\n" {
		t.Errorf("the workspace has %q, %v", text, err)
	}
}

func liveTasks(t *testing.T, s tools.Seam) {
	tasks := tools.NewTasks(s)
	start := func(text string, l tools.TaskLimits) string {
		t.Helper()
		id, err := tasks.Start(t.Context(), text, l)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	ended := map[string]sbx.Outcome{
		start("while :; do echo 0123456789; done", tools.TaskLimits{Log: 4096}):                      sbx.OutputLimit,
		start("while :; do echo tick; sleep 0.1; done", tools.TaskLimits{Watchdog: 2 * time.Second}): sbx.TimedOut,
		start("echo once; sleep 600", tools.TaskLimits{Quiet: 2 * time.Second}):                      sbx.TimedOut,
		start("exit 3", tools.TaskLimits{}):                                                          sbx.Exited,
	}
	silent := start("echo begun; sleep 600", tools.TaskLimits{})
	look := func(id string) tools.Task {
		t.Helper()
		v, err := tasks.Log(id)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for id, outcome := range ended {
		until(t, id+" has ended", func() bool { return !look(id).Running })
		if v := look(id); v.Ended == nil || v.Ended.Outcome != string(outcome) || len(v.Log) > 4500 {
			t.Errorf("%+v (%+v), want %s", v, v.Ended, outcome)
		}
	}
	until(t, "the silent one has begun", func() bool { return look(silent).Log == "begun\n" })
	list := tasks.List()
	if len(list) != len(ended)+1 {
		t.Errorf("the list is %+v", list)
	}
	for _, v := range list {
		if v.Running != (v.ID == silent) || v.Log != "" || v.Command == "" {
			t.Errorf("the list has %+v", v)
		}
	}
	if v, err := tasks.Kill(t.Context(), silent); err != nil || v.Running || v.Ended.Outcome != string(sbx.Canceled) {
		t.Errorf("%+v, %v", v, err)
	}
	if err := tasks.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func liveREPL(t *testing.T, s tools.Seam) {
	r := tools.NewREPL(s)
	for _, c := range []struct {
		text, output string
		status       int
	}{
		{"x=5; cd /tmp", "", 0},
		{"f() {\n  echo \"f $1\"\n}", "", 0},
		{"f $x; pwd", "f 5\n/tmp\n", 0},
		{"false", "", 1},
		{"cat", "", 0}, // reads nothing of the session's own input
		{"printf 'no end of line'", "no end of line", 0},
		{"printf '%s 0 3\\n' aaaa; echo 1; echo two >&2", "aaaa 0 3\n1\ntwo\n", 0},
		{"if then", "", -1}, // a syntax error, with whatever words
		{"echo $x still there", "5 still there\n", 0},
	} {
		e, err := r.Eval(t.Context(), c.text, time.Minute)
		if err != nil {
			t.Fatalf("%q: %v", c.text, err)
		}
		if c.status < 0 {
			if e.Status == 0 || e.Output == "" {
				t.Errorf("%q gives %+v", c.text, e)
			}
			continue
		}
		if e.Output != c.output || e.Status != c.status {
			t.Errorf("%q gives %+v, want %q and %d", c.text, e, c.output, c.status)
		}
	}
	// The session's own marker, as a frame of its own: it stays output.
	if e, err := r.Eval(t.Context(), `echo "$1 0 3"; echo abc`, time.Minute); err != nil || !strings.HasSuffix(e.Output, " 0 3\nabc\n") || len(e.Output) < 20 {
		t.Errorf("%+v, %v", e, err)
	}
	if e, err := r.Eval(t.Context(), "seq 100000", time.Minute); err != nil || e.Dropped == 0 || !strings.HasPrefix(e.Output, "1\n2\n") {
		t.Errorf("%+v, %v", e, err)
	}
	if _, err := r.Eval(t.Context(), "exit 4", time.Minute); !errors.Is(err, sbx.ErrCommand) || !strings.Contains(err.Error(), "exited 4") {
		t.Errorf("%v", err)
	}
	if err := r.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func liveAgent(t *testing.T, s tools.Seam, toolbox string) {
	a, err := tools.StartAgent(t.Context(), s, []string{toolbox, "sbx-probe", "jsonrpc"}, tools.AgentLimits{Look: 5 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	long, err := json.Marshal(strings.Repeat("a long line; ", 20_000))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		method, params, result, failed string
		events                         int
	}{
		{"echo", `{"a":[1,"\u0000\n"]}`, `{"a":[1,"\u0000\n"]}`, "", 0},
		{"notify", `7`, "null", "", 1},
		{"echo", string(long), string(long), "", 0},
		{"nothing", `1`, "", "-32601", 0},
	} {
		looks := a.Looks()
		r, err := a.Call(t.Context(), c.method, json.RawMessage(c.params))
		// A byte of anybody else on the agent's stdin would be answered by an error of its own.
		if err != nil || string(r.Result) != c.result || len(r.Events) != c.events || !strings.Contains(string(r.Error), c.failed) {
			t.Fatalf("%s gives %+v, %v", c.method, r, err)
		}
		until(t, "the hook looks again", func() bool { return a.Looks() > looks })
	}
	if end, err := a.Close(t.Context()); err != nil || end.Code == nil || *end.Code != 0 {
		t.Errorf("%+v, %v", end, err)
	}
}

func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	timeout := time.After(30 * time.Second)
	for !holds() {
		select {
		case <-tick.C:
		case <-timeout:
			t.Fatalf("not within 30 s: %s", what)
		}
	}
}
