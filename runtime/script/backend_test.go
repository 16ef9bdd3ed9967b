package script_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/script"
)

// description is a backend whose policy asks for nothing.
var description = &runtime.Description{
	Name: "fake", Kind: "script", Exports: true,
	Stop: []runtime.StopRung{{Signal: int(syscall.SIGTERM), Grace: 5 * time.Second}, {Grace: 10 * time.Second}},
}

func definition(w *script.World, s *script.Script) script.Definition {
	return script.Definition{
		Description: description, World: w, Script: s,
		Argv: func(r *runtime.Request) []string { return append([]string{"fake"}, r.Command...) },
		Explain: func(r *runtime.Request) []runtime.Word {
			list := []runtime.Word{{Text: "fake", Spec: "fake.yaml:1"}}
			for _, c := range r.Command {
				list = append(list, runtime.Word{Text: c, Spec: "fake.yaml:2", For: "command"})
			}
			return list
		},
	}
}

func newBackend(t *testing.T, w *script.World, s *script.Script) *script.Backend {
	t.Helper()
	b, err := script.New(definition(w, s))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.World().Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// buffer is a sink that is safe to read while the command writes.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// run is one run taken to its start by hand, as a driver would.
type run struct {
	t       *testing.T
	b       *script.Backend
	res     runtime.Resources
	proc    runtime.Process
	out     *buffer
	err     *buffer
	request *runtime.Request
	start   runtime.StartRequest
}

const runID = "aaaaaaaaaaaaaaaaaaaaaaaaaa"

func request(id, owner string) *runtime.Request {
	return &runtime.Request{
		Run: runtime.RunName{ID: id, Owner: owner}, Command: []string{"job", "one"}, Dir: "/workspace",
		Env:   []runtime.Variable{{Name: "TOKEN", Value: "s3cret", Origin: "launch"}},
		Stdin: runtime.StdinPipe,
	}
}

func prepare(t *testing.T, b *script.Backend, req *runtime.Request) (*run, error) {
	t.Helper()
	r := &run{t: t, b: b, out: &buffer{}, err: &buffer{}, request: req}
	r.start = runtime.StartRequest{
		Stdin: req.Stdin, Stdout: runtime.Output{Writer: r.out}, Stderr: runtime.Output{Writer: r.err}, Terminal: req.Terminal,
	}
	id, err := b.Probe(t.Context(), runtime.ProbeRequest{})
	if err != nil {
		return r, err
	}
	p, err := b.Plan(runtime.PlanInput{Request: req, Identity: *id})
	if err != nil {
		return r, err
	}
	r.res, err = b.Prepare(t.Context(), p)
	return r, err
}

func start(t *testing.T, s *script.Script) *run {
	t.Helper()
	return startOn(t, newBackend(t, nil, s), request(runID, "owner"))
}

func startOn(t *testing.T, b *script.Backend, req *runtime.Request) *run {
	t.Helper()
	r, err := prepare(t, b, req)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.res.Stage(t.Context(), &runtime.Stage{}); err != nil {
		t.Fatal(err)
	}
	if r.proc, err = r.res.Start(t.Context(), &r.start); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *run) wait() *runtime.Exit {
	r.t.Helper()
	x := r.end()
	if !x.Ran {
		r.t.Fatalf("the command never ran: %+v", x)
	}
	return x
}

// closes closes c, and fails the test where that fails: what a defer drops is lost.
func closes(t testing.TB, c io.Closer) {
	t.Helper()
	if err := c.Close(); err != nil {
		t.Errorf("closing: %v", err)
	}
}

// end is wait, for a command that may never have run.
func (r *run) end() *runtime.Exit {
	r.t.Helper()
	x, err := r.proc.Wait(r.t.Context(), time.Second)
	if err != nil {
		r.t.Fatalf("Wait: %v", err)
	}
	return x
}

func (r *run) record() *script.Invocation {
	r.t.Helper()
	list := r.b.World().Runs()
	if len(list) != 1 {
		r.t.Fatalf("%d runs, want 1", len(list))
	}
	return list[0]
}

func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

func TestHowACommandEnds(t *testing.T) {
	tests := []struct {
		name string
		do   []script.Action
		want runtime.Exit
	}{
		{"the end of the script is exit 0", nil, runtime.Exit{Ran: true}},
		{"exit", []script.Action{script.Exit(7), script.Stdout("never")}, runtime.Exit{Ran: true, Code: 7}},
		{"signal of its own", []script.Action{script.Die(syscall.SIGSEGV)}, runtime.Exit{Ran: true, Code: -1, Signal: syscall.SIGSEGV}},
		{"out of memory", []script.Action{script.OutOfMemory()}, runtime.Exit{Ran: true, Code: -1, Signal: syscall.SIGKILL, OOM: true, OOMKills: 1, MemoryEvents: "script"}},
		{"after an hour", []script.Action{script.Sleep(time.Hour), script.Exit(1)}, runtime.Exit{Ran: true, Code: 1, Usage: runtime.Usage{Wall: time.Hour}}},
		{"nested", []script.Action{script.Repeat(3, script.Sleep(time.Second)), script.Exit(2)}, runtime.Exit{Ran: true, Code: 2, Usage: runtime.Usage{Wall: 3 * time.Second}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := start(t, &script.Script{Do: tt.do})
				got := r.wait()
				tt.want.Observer = "script"
				if g, w := *got, tt.want; g.Ran != w.Ran || g.Code != w.Code || g.Signal != w.Signal || g.OOM != w.OOM || g.OOMKills != w.OOMKills ||
					g.Observer != w.Observer || g.Usage != w.Usage || g.DrainCut {
					t.Errorf("exit %+v, want %+v", g, w)
				}
				if again := r.wait(); again != got {
					t.Errorf("a second Wait gave another exit: %+v", again)
				}
				if r.out.String() != "" {
					t.Errorf("stdout %q after the end", r.out)
				}
			})
		})
	}
}

func TestVanishedCommandIsUncertain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := start(t, &script.Script{Do: []script.Action{script.Stdout("x"), script.Vanish()}})
		x, err := r.proc.Wait(t.Context(), time.Second)
		if !errors.Is(err, runtime.ErrUncertain) || x != nil {
			t.Errorf("Wait gave %v, %v; want Uncertain", x, err)
		}
		if left := r.b.World().Resources(); len(left) != 0 {
			t.Errorf("the container is still there: %v", left)
		}
		if d, err := r.res.Remove(t.Context()); err != nil || d.How != "nothing" {
			t.Errorf("Remove after vanishing: %v, %v", d, err)
		}
	})
}

func TestOutputsComeOverTimeAndInOrder(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := start(t, &script.Script{Do: []script.Action{
			script.Stdout("a"), script.Sleep(time.Minute), script.Stderr("b"), script.Sleep(time.Minute), script.Stdout("c"),
		}})
		for _, want := range []struct{ out, err string }{{"a", ""}, {"a", "b"}, {"ac", "b"}} {
			synctest.Wait()
			if r.out.String() != want.out || r.err.String() != want.err {
				t.Errorf("stdout %q, stderr %q; want %q, %q", r.out, r.err, want.out, want.err)
			}
			time.Sleep(time.Minute)
		}
		r.wait()
		if i := r.record(); i.Stdout.String() != "ac" || i.Stderr.String() != "b" || !i.Finished {
			t.Errorf("recorded %q, %q, finished %v", i.Stdout, i.Stderr, i.Finished)
		}
	})
}

func TestSameSinkKeepsTheOrderOfWrites(t *testing.T) {
	bubble(t, func(t *testing.T) {
		req := request(runID, "owner")
		req.SameSink = true
		r := startOn(t, newBackend(t, nil, &script.Script{Do: []script.Action{script.Stdout("1"), script.Stderr("2"), script.Stdout("3")}}), req)
		r.wait()
		if r.out.String() != "123" || r.err.String() != "" {
			t.Errorf("stdout %q, stderr %q", r.out, r.err)
		}
	})
}

func TestFilesAreSinksAndSourcesToo(t *testing.T) {
	bubble(t, func(t *testing.T) {
		in, err := os.Create(t.TempDir() + "/in")
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		if _, err := in.WriteString("from a file"); err != nil {
			t.Fatal(err)
		}
		if _, err := in.Seek(0, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		out, err := os.Create(t.TempDir() + "/out")
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		req := request(runID, "owner")
		req.Stdin = runtime.StdinFile
		r, err := prepare(t, newBackend(t, nil, &script.Script{Do: []script.Action{script.Echo()}}), req)
		if err != nil {
			t.Fatal(err)
		}
		r.start.StdinFile, r.start.Stdout = in, runtime.Output{File: out}
		if r.proc, err = r.res.Start(t.Context(), &r.start); err != nil {
			t.Fatal(err)
		}
		if r.proc.Stdin() != nil {
			t.Error("a run with a stdin file has a stdin pipe")
		}
		r.wait()
		got, err := os.ReadFile(out.Name())
		if err != nil || string(got) != "from a file" {
			t.Errorf("the file has %q, %v", got, err)
		}
	})
}

func TestEverythingIsRecorded(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBackend(t, nil, &script.Script{Name: "one", Do: []script.Action{script.Read("hello"), script.ReadEOF(), script.Stdout("bye")}})
		req := request(runID, "owner")
		r, err := prepare(t, b, req)
		if err != nil {
			t.Fatal(err)
		}
		secret := runtime.Secret("credential")
		st := &runtime.Stage{Script: &runtime.StagedScript{Text: []byte("echo")}, Credentials: []runtime.CredentialGrant{{Role: "api", Env: "KEY", Value: secret}}}
		if _, err := r.res.Stage(t.Context(), st); err != nil {
			t.Fatal(err)
		}
		recorded, started := 0, 0
		r.start.Record = func(tk runtime.Token) error {
			recorded++
			if len(tk.Processes) != 1 || started != 0 {
				t.Errorf("Record was given %d processes, after %d starts", len(tk.Processes), started)
			}
			return nil
		}
		r.start.Started = func() { started++ }
		if r.proc, err = r.res.Start(t.Context(), &r.start); err != nil {
			t.Fatal(err)
		}
		clear(secret) // as the driver does after the run
		if _, err := io.WriteString(r.proc.Stdin(), "hello"); err != nil {
			t.Fatal(err)
		}
		if err := r.proc.Stdin().Close(); err != nil {
			t.Fatal(err)
		}
		r.wait()
		if _, err := r.res.Remove(t.Context()); err != nil {
			t.Fatal(err)
		}
		i := r.record()
		if recorded != 1 || started != 1 {
			t.Errorf("Record %d times, Started %d times; want once each", recorded, started)
		}
		for what, ok := range map[string]bool{
			"argv":          slices.Equal(i.Argv, []string{"fake", "job", "one"}),
			"command":       slices.Equal(i.Command, []string{"job", "one"}),
			"environment":   len(i.Env) == 1 && i.Env[0].Value == "s3cret",
			"credential":    len(i.Credentials) == 1 && string(i.Credentials[0].Value) == "credential",
			"script text":   string(i.ScriptText) == "echo",
			"stdin":         i.Stdin.String() == "hello" && i.StdinRead == 5 && i.StdinClosed && i.StdinEOF,
			"stdout":        i.Stdout.String() == "bye",
			"owner and run": i.Owner == "owner" && i.Run.ID == runID && i.Script == "one",
			"removes":       i.Removes == 1,
			"digest":        strings.HasPrefix(i.PlanDigest, "sha256:"),
			"times":         !i.Started.IsZero() && !i.Ended.IsZero(),
		} {
			if !ok {
				t.Errorf("%s: recorded %+v", what, i)
			}
		}
		want := []script.Op{script.OnPlan, script.OnPrepare, script.OnStage, script.OnHeld, script.OnReleased, script.OnStart, script.OnWait, script.OnRemove}
		if got := b.World().Ops(runID); !slices.Equal(got, want) {
			t.Errorf("order %v, want %v", got, want)
		}
		if err := b.World().Check(); err != nil {
			t.Error(err)
		}
	})
}

func TestScriptsAreCastByOrderAndMatch(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBackend(t, nil, &script.Script{Name: "standing"})
		b.Play(
			&script.Script{Name: "for b", Match: func(r *runtime.Request) bool { return strings.HasPrefix(r.Run.ID, "b") }},
			&script.Script{Name: "first"}, &script.Script{Name: "second"},
		)
		for _, id := range []string{"a", "c", "b", "d"} {
			startOn(t, b, request(id, "owner")).wait()
		}
		var got []string
		for _, i := range b.World().Runs() {
			got = append(got, i.Script)
		}
		if want := []string{"first", "second", "for b", "standing"}; !slices.Equal(got, want) {
			t.Errorf("played %v, want %v", got, want)
		}
	})
}

func TestWaitBoundsTheWaitingAndNotTheRun(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := start(t, &script.Script{Do: []script.Action{script.Sleep(time.Hour), script.Exit(3)}})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := r.proc.Wait(ctx, 0); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, runtime.ErrUncertain) {
			t.Errorf("Wait gave %v, want the context's error", err)
		}
		if x := r.wait(); x.Code != 3 {
			t.Errorf("exit %+v", x)
		}
	})
}
