package process

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/attest"
)

func both(t *testing.T, f func(t *testing.T, b *Backend)) {
	t.Run("bwrap", func(t *testing.T) { f(t, backend(t, bwrapDefinition())) })
	t.Run("local", func(t *testing.T) { f(t, backend(t, localDefinition())) })
}

func TestEndIsTheCommandsOwn(t *testing.T) {
	for _, c := range []struct {
		name, script string
		code         int
		signal       syscall.Signal
	}{
		{"zero", "true", 0, 0},
		{"seven", "exit 7", 7, 0},
		{"killed", "kill -KILL $$", -1, syscall.SIGKILL},
		{"terminated", "kill -TERM $$", -1, syscall.SIGTERM},
		{"status 137 without a signal", "exit 137", 137, 0},
		{"status 255", "exit 255", 255, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			both(t, func(t *testing.T, b *Backend) {
				e := begin(t, b, sh(c.script)).wait(t)
				if ptraceDenied() && e.Observer == "json-status-fd" && c.code > 128 && len(e.Notes) > 0 {
					// It ended before its pid was known: the launcher's word is all there is, and the Exit says how it was read.
					return
				}
				if !e.Ran || e.Code != c.code || e.Signal != c.signal {
					t.Errorf("got %+v, want code %d signal %v", e, c.code, c.signal)
				}
			})
		})
	}
}

func TestStreamsAreSeparateAndWhole(t *testing.T) {
	both(t, func(t *testing.T, b *Backend) {
		r := begin(t, b, sh("echo out; echo err >&2; head -c 3000000 /dev/zero"))
		e := r.wait(t)
		if r.stderr.String() != "err\n" || len(r.stdout.String()) != 3000004 {
			t.Errorf("stderr %q, stdout %d bytes", r.stderr, len(r.stdout.String()))
		}
		if e.DrainCut || e.Usage.StdoutSize != 3000004 || e.Usage.StderrSize != 4 {
			t.Errorf("exit %+v", e)
		}
	})
}

func TestStdinHalfCloses(t *testing.T) {
	both(t, func(t *testing.T, b *Backend) {
		r := begin(t, b, runtime.Launch{Argv: []string{"cat"}, Stdin: runtime.Stdin{Mode: runtime.StdinPipe}})
		if _, err := io.WriteString(r.Stdin(), "abc"); err != nil {
			t.Fatal(err)
		}
		if err := r.Stdin().Close(); err != nil {
			t.Fatal(err)
		}
		if e := r.wait(t); e.Code != 0 || r.stdout.String() != "abc" {
			t.Errorf("exit %+v, stdout %q", e, r.stdout)
		}
	})
}

func TestStdinFileAndNone(t *testing.T) {
	both(t, func(t *testing.T, b *Backend) {
		name := filepath.Join(t.TempDir(), "in")
		if err := os.WriteFile(name, []byte("from a file"), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		r := begin(t, b, runtime.Launch{Argv: []string{"cat"}, Stdin: runtime.Stdin{Mode: runtime.StdinFile, File: f}})
		if r.wait(t); r.stdout.String() != "from a file" {
			t.Errorf("stdout %q", r.stdout)
		}
		r = begin(t, b, runtime.Launch{Argv: []string{"cat"}})
		if e := r.wait(t); e.Code != 0 || r.stdout.String() != "" || r.Stdin() != nil {
			t.Errorf("exit %+v, stdout %q", e, r.stdout)
		}
	})
}

func TestOutputFileIsHandedOver(t *testing.T) {
	both(t, func(t *testing.T, b *Backend) {
		f, err := os.Create(filepath.Join(t.TempDir(), "out"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		p := plan(t, b, sh("echo one; echo two >&2; echo three"), runtime.RunName{})
		p.Request.SameSink = true
		res := prepare(t, b, p)
		proc, err := res.Start(context.Background(), &runtime.StartRequest{Stdout: runtime.Output{File: f}, Stderr: runtime.Output{File: f}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := proc.Wait(context.Background(), time.Second); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(f.Name())
		if err != nil || string(got) != "one\ntwo\nthree\n" {
			t.Errorf("file holds %q, %v", got, err)
		}
	})
}

func TestOneSinkKeepsTheOrder(t *testing.T) {
	both(t, func(t *testing.T, b *Backend) {
		p := plan(t, b, sh("i=0; while [ $i -lt 200 ]; do echo o$i; echo e$i >&2; i=$((i+1)); done"), runtime.RunName{})
		p.Request.SameSink = true
		res := prepare(t, b, p)
		out := newSink()
		proc, err := res.Start(context.Background(), &runtime.StartRequest{Stdout: runtime.Output{Writer: out}, Stderr: runtime.Output{Writer: out}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := proc.Wait(context.Background(), time.Second); err != nil {
			t.Fatal(err)
		}
		var want bytes.Buffer
		for i := range 200 {
			want.WriteString("o" + itoa(i) + "\ne" + itoa(i) + "\n")
		}
		if out.String() != want.String() {
			t.Errorf("the order of writes was lost:\n%.200s", out)
		}
	})
}

func TestACommandThatCannotBeExecutedIsACommandFailure(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"plain": "text", "script": "#!/no/such/interpreter -x\n", "chain": "#!" + dir + "/script\n", "inside": "#!/workspace/script\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	// A binary of this machine whose loader is not there: its name is as long as the right one.
	self, err := os.ReadFile("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	if err := errorsOf(os.WriteFile(filepath.Join(dir, "binary"), bytes.Replace(self, []byte("/ld-linux"), []byte("/no-linux"), 1), 0o755),
		os.Chmod(filepath.Join(dir, "plain"), 0o644), os.Chmod(dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	workspace := &runtime.Workspace{Source: dir}
	both(t, func(t *testing.T, b *Backend) {
		place := "/workspace"
		if b.def.Gate == GateExec {
			place = dir
		}
		for _, c := range []struct {
			name string
			argv []string
			want error
		}{
			{"absent in PATH", []string{"no-such-command"}, exec.ErrNotFound},
			{"absent path", []string{"/no/such/command"}, exec.ErrNotFound},
			{"no execute bit", []string{place + "/plain"}, fs.ErrPermission},
			{"a directory", []string{"/usr"}, fs.ErrPermission},
			{"a script without its interpreter", []string{place + "/script"}, exec.ErrNotFound},
			{"a script whose interpreter is such a script", []string{place + map[string]string{dir: "/chain", "/workspace": "/inside"}[place]}, exec.ErrNotFound},
			{"a binary without its loader", []string{place + "/binary"}, exec.ErrNotFound},
		} {
			t.Run(c.name, func(t *testing.T) {
				r, err := tryBegin(t, b, runtime.Launch{Argv: c.argv, Workspace: workspace})
				if !errors.Is(err, runtime.ErrCommand) || !errors.Is(err, c.want) {
					t.Fatalf("got %v, want a command failure that wraps %v", err, c.want)
				}
				if r.stdout.String()+r.stderr.String() != "" {
					t.Errorf("words of the launcher reached the command's streams: %q %q", r.stdout, r.stderr)
				}
			})
		}
	})
}

func TestAnAbsentDirectoryIsASetupFailure(t *testing.T) {
	both(t, func(t *testing.T, b *Backend) {
		_, err := tryBegin(t, b, runtime.Launch{Argv: []string{"true"}, Dir: "/no/such/directory"})
		if !errors.Is(err, runtime.ErrSetup) || !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("got %v", err)
		}
	})
}

func TestTheLaunchersOwnErrorIsASetupFailureWithItsWords(t *testing.T) {
	b := backend(t, bwrapDefinition())
	p := plan(t, b, sh("true"), runtime.RunName{})
	for i := range p.Request.Mounts {
		if p.Request.Mounts[i].Target == "/usr" {
			p.Request.Mounts[i].Source = "/no/such/source"
		}
	}
	p = runtime.NewPlan("bwrap", p.Request, bwrapArgv(p.Request), bwrapExplain(p.Request))
	p.Identity = *probe(t, b)
	res := prepare(t, b, p)
	_, err := res.Start(context.Background(), &runtime.StartRequest{Stderr: runtime.Output{Writer: newSink()}})
	if !errors.Is(err, runtime.ErrSetup) || !strings.Contains(err.Error(), "/no/such/source") {
		t.Fatalf("got %v", err)
	}
}

// TestALauncherThatLeavesItsGateIsTold: bubblewrap may end at an error of its own after its first process was named and seized, and before
// the gate is opened.
func TestALauncherThatLeavesItsGateIsTold(t *testing.T) {
	if ptraceDenied() {
		t.Skip("a process that does not wait at its gate is never let through it: the start's own time ends it")
	}
	d := wrapped(t, `
exec 4<&-
(exec /bin/sh -c 'echo "{ \"child-pid\": $$ }" >&5; exec sleep 1000')
echo "no such source, says the launcher" >&2
exit 1
`)
	b := backend(t, d)
	probe(t, b)
	tamper(t, d)
	_, err := tryBegin(t, b, sh("true"))
	if !errors.Is(err, runtime.ErrSetup) || !strings.Contains(err.Error(), "no such source, says the launcher") {
		t.Fatalf("got %v", err)
	}
}

func TestSignalReachesTheCommand(t *testing.T) {
	both(t, func(t *testing.T, b *Backend) {
		r := begin(t, b, sh("trap 'echo got; exit 3' TERM; echo ready; while :; do sleep 0.01; done"))
		r.stdout.await(t, "ready")
		if err := r.Signal(context.Background(), syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if e := r.wait(t); e.Code != 3 || r.stdout.String() != "ready\ngot\n" {
			t.Errorf("exit %+v, stdout %q", e, r.stdout)
		}
		if err := r.Signal(context.Background(), syscall.SIGTERM); !errors.Is(err, os.ErrProcessDone) {
			t.Errorf("signal after the end: %v", err)
		}
	})
}

func TestKillTakesEverythingThatWasStarted(t *testing.T) {
	both(t, func(t *testing.T, b *Backend) {
		// A child, a grandchild that ignores TERM, and one in a session of its own, all holding stdout.
		r := begin(t, b, sh("(trap '' TERM; while :; do sleep 60; done) & setsid sleep 60 & echo ready; wait"))
		r.stdout.await(t, "ready")
		before := runProcesses(t, r)
		if len(before) < 3 {
			t.Fatalf("only %d processes stand", len(before))
		}
		for range 10 {
			if err := r.res.Kill(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		e := r.wait(t)
		if e.Signal != syscall.SIGKILL || e.DrainCut {
			t.Errorf("exit %+v", e)
		}
		down, err := r.res.Remove(context.Background())
		if err != nil || !down.Confirmed {
			t.Fatalf("remove: %+v, %v", down, err)
		}
		for _, id := range before {
			if fd, err := openIdentity(id); err == nil && !ended(fd) {
				t.Errorf("process %d is left", id.PID)
			}
		}
	})
}

// runProcesses lists what descends from the run's launcher.
func runProcesses(t testing.TB, r *live) []runtime.ProcessIdentity {
	t.Helper()
	all, err := processes(func(int, attest.Stat) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	in := map[int]bool{}
	for _, p := range r.res.Token().Processes {
		in[p.PID] = true
	}
	var out []runtime.ProcessIdentity
	for grew := true; grew; {
		grew = false
		for _, m := range all {
			if !in[m.id.PID] && in[m.stat.Parent] {
				in[m.id.PID], grew = true, true
			}
		}
	}
	for _, m := range all {
		if in[m.id.PID] {
			out = append(out, m.id)
		}
	}
	return out
}

func TestRemoveIsIdempotentInEveryState(t *testing.T) {
	both(t, func(t *testing.T, b *Backend) {
		remove := func(t *testing.T, res runtime.Resources) {
			t.Helper()
			for i := range 10 {
				down, err := res.Remove(context.Background())
				if err != nil || !down.Confirmed {
					t.Fatalf("remove %d: %+v, %v", i, down, err)
				}
				if i > 0 && down.How != "nothing" {
					t.Fatalf("remove %d found something: %+v", i, down)
				}
				if err := res.Kill(context.Background()); err != nil {
					t.Fatalf("kill after remove: %v", err)
				}
			}
		}
		t.Run("prepared", func(t *testing.T) { remove(t, prepare(t, b, plan(t, b, sh("true"), runtime.RunName{}))) })
		t.Run("running", func(t *testing.T) {
			r := begin(t, b, sh("echo ready; sleep 60"))
			r.stdout.await(t, "ready")
			remove(t, r.res)
			if err := r.Signal(context.Background(), syscall.SIGTERM); !errors.Is(err, os.ErrProcessDone) {
				t.Errorf("signal after remove: %v", err)
			}
		})
		t.Run("ended", func(t *testing.T) {
			r := begin(t, b, sh("true"))
			r.wait(t)
			remove(t, r.res)
		})
		t.Run("failed start", func(t *testing.T) {
			r, err := tryBegin(t, b, runtime.Launch{Argv: []string{"no-such-command"}}) //sbx:allow lostfailure it fails, and what it has left is removed
			if err == nil {
				t.Fatal("started")
			}
			remove(t, r.res)
		})
		t.Run("at once", func(t *testing.T) {
			r := begin(t, b, sh("sleep 60"))
			errs := make(chan error)
			for range 10 {
				go func() {
					_, err := r.res.Remove(context.Background())
					errs <- err
				}()
			}
			for range 10 {
				if err := <-errs; err != nil {
					t.Error(err)
				}
			}
		})
	})
}

func TestStartIsCalledOnce(t *testing.T) {
	both(t, func(t *testing.T, b *Backend) {
		r := begin(t, b, sh("true"))
		if _, err := r.res.Start(context.Background(), &runtime.StartRequest{}); !errors.Is(err, runtime.ErrSetup) {
			t.Errorf("second start: %v", err)
		}
		r.wait(t)
	})
}

func TestAGrandchildThatHoldsAPipeCannotHangWait(t *testing.T) {
	b := backend(t, localDefinition()) // in a pid namespace that dies with its parent there is no such grandchild
	r := begin(t, b, sh("(trap '' TERM HUP; exec sleep 60) & echo out"))
	began := time.Now()
	e, err := r.Wait(context.Background(), 50*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if !e.DrainCut || e.Code != 0 || r.stdout.String() != "out\n" {
		t.Errorf("exit %+v, stdout %q", e, r.stdout)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("waited %v", took)
	}
	if _, err := r.res.Remove(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestASlowSinkLosesNothing(t *testing.T) {
	both(t, func(t *testing.T, b *Backend) {
		p := plan(t, b, sh("head -c 60000 /dev/zero"), runtime.RunName{})
		res := prepare(t, b, p)
		slow := &slowSink{gate: make(chan struct{})}
		proc, err := res.Start(context.Background(), &runtime.StartRequest{Stdout: runtime.Output{Writer: slow}})
		if err != nil {
			t.Fatal(err)
		}
		impatient, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		if _, err := proc.Wait(impatient, time.Millisecond); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("waiting with a stuck sink: %v", err)
		}
		close(slow.gate)
		e, err := proc.Wait(context.Background(), time.Millisecond)
		if err != nil || slow.n != 60000 || e.DrainCut {
			t.Errorf("exit %+v, %v, %d bytes", e, err, slow.n)
		}
	})
}

type slowSink struct {
	gate chan struct{}
	n    int
}

func (s *slowSink) Write(b []byte) (int, error) {
	<-s.gate
	s.n += len(b)
	return len(b), nil
}

func TestAScriptIsReadFromADescriptor(t *testing.T) {
	both(t, func(t *testing.T, b *Backend) {
		text := append([]byte("echo \"$1\"; exit 5\n#"), bytes.Repeat([]byte("x"), 4<<20)...)
		l := runtime.Launch{Script: &runtime.Script{Interpreter: []string{"/bin/sh", "-eu"}, Text: text, Args: []string{"canary"}}}
		p := plan(t, b, l, runtime.RunName{})
		if strings.Contains(strings.Join(p.Argv(), " "), "exit 5") {
			t.Error("the script's text is in the argv")
		}
		r := begin(t, b, l)
		if e := r.wait(t); e.Code != 5 || r.stdout.String() != "canary\n" {
			t.Errorf("exit %+v, stdout %q stderr %.300q", e, r.stdout, r.stderr)
		}
	})
}

func TestCredentialsReachTheCommandByTheirRole(t *testing.T) {
	b := backend(t, bwrapDefinition())
	r := begin(t, b, runtime.Launch{
		//sbx:allow rawshell the test's own text, run in the sandbox; how a script is staged is another test's subject
		Argv: []string{"/bin/sh", "-c", `echo "$TEST_CREDENTIAL"; cat /run/sbx/credentials/file; stat -c %a /run/sbx/credentials/file; cat /proc/self/fd/$SBX_CREDENTIAL_FD_FD`},
		Credentials: map[string]runtime.Credential{
			"env": {Value: []byte("canary-env")}, "file": {Value: []byte("canary-file\n")}, "fd": {Value: []byte("canary-fd")},
		},
	})
	r.wait(t)
	if got := r.stdout.String(); got != "canary-env\ncanary-file\n400\ncanary-fd" {
		t.Errorf("stdout %q, stderr %q", got, r.stderr)
	}
	for _, id := range r.res.Token().Processes {
		for _, file := range []string{"cmdline", "environ"} {
			if c, err := os.ReadFile("/proc/" + itoa(id.PID) + "/" + file); err == nil && bytes.Contains(c, []byte("canary-")) {
				t.Errorf("a credential stands in %s of the launcher", file)
			}
		}
	}
}

func TestCancellingTheStartLeavesNothing(t *testing.T) {
	both(t, func(t *testing.T, b *Backend) {
		for _, at := range []string{"before", "at the record", "while started"} {
			t.Run(at, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(context.Background())
				defer cancel(nil)
				why := errors.New("the caller's reason")
				p := plan(t, b, sh("echo ran"), runtime.RunName{})
				res := prepare(t, b, p)
				out := newSink()
				sr := &runtime.StartRequest{Stdout: runtime.Output{Writer: out}}
				switch at {
				case "before":
					cancel(why)
				case "at the record":
					sr.Record = func(runtime.Token) error { cancel(why); return nil }
				case "while started":
					time.AfterFunc(2*time.Millisecond, func() { cancel(why) })
				}
				proc, err := res.Start(ctx, sr)
				if err == nil && at == "while started" {
					// It came to run first: then it is the run's.
					if _, err := proc.Wait(context.Background(), time.Second); err != nil {
						t.Error(err)
					}
					return
				}
				if !errors.Is(err, runtime.ErrSetup) || !errors.Is(err, why) {
					t.Errorf("got %v", err)
				}
				if out.String() != "" {
					t.Errorf("the command ran: %q", out)
				}
				if down, err := res.Remove(context.Background()); err != nil || !down.Confirmed {
					t.Errorf("remove: %+v, %v", down, err)
				}
			})
		}
	})
}

func TestARefusedRecordStartsNothing(t *testing.T) {
	both(t, func(t *testing.T, b *Backend) {
		p := plan(t, b, sh("echo ran"), runtime.RunName{})
		res := prepare(t, b, p)
		out := newSink()
		full := errors.New("the disk is full")
		_, err := res.Start(context.Background(), &runtime.StartRequest{Stdout: runtime.Output{Writer: out}, Record: func(runtime.Token) error { return full }})
		if !errors.Is(err, runtime.ErrSetup) || !errors.Is(err, full) || out.String() != "" {
			t.Errorf("got %v, stdout %q", err, out)
		}
	})
}

func TestAReopenedRunIsKilledByItsTokenAlone(t *testing.T) {
	both(t, func(t *testing.T, b *Backend) {
		r := begin(t, b, sh("echo ready; sleep 60 & sleep 60"))
		r.stdout.await(t, "ready")
		token := r.res.Token()
		stranger := token
		stranger.Processes = append([]runtime.ProcessIdentity(nil), token.Processes...)
		for i := range stranger.Processes {
			stranger.Processes[i].StartTime++
		}
		for name, other := range map[string]runtime.Token{"another start time": stranger, "another boot": withBoot(token, "another")} {
			again, err := b.Reopen(context.Background(), other)
			if err != nil {
				t.Fatal(err)
			}
			if down, err := again.Remove(context.Background()); err != nil || down.How != "nothing" {
				t.Errorf("%s: %+v, %v", name, down, err)
			}
		}
		if err := r.Signal(context.Background(), syscall.Signal(0)); err != nil {
			t.Fatalf("a token of something else touched the run: %v", err)
		}
		for i := range 10 {
			again, err := b.Reopen(context.Background(), token)
			if err != nil {
				t.Fatal(err)
			}
			if err := again.Kill(context.Background()); err != nil {
				t.Fatal(err)
			}
			down, err := again.Remove(context.Background())
			if err != nil || !down.Confirmed {
				t.Fatalf("remove %d: %+v, %v", i, down, err)
			}
		}
		if e := r.wait(t); e.Signal != syscall.SIGKILL {
			t.Errorf("exit %+v", e)
		}
	})
}

func withBoot(t runtime.Token, boot string) runtime.Token {
	t.Processes = append([]runtime.ProcessIdentity(nil), t.Processes...)
	for i := range t.Processes {
		t.Processes[i].BootID = boot
	}
	return t
}

func TestLimitsAreTheCommandsOwn(t *testing.T) {
	both(t, func(t *testing.T, b *Backend) {
		l := sh("ulimit -Sn; ulimit -Hn; ulimit -Sc; ulimit -St; ulimit -Ht; ulimit -Sf")
		l.Limits = runtime.Limits{OpenFiles: &runtime.Limit{Soft: 33, Hard: 44}, Core: runtime.AtMost(0), CPUTime: &runtime.Limit{Soft: 5, Hard: 6}, FileSize: runtime.AtMost(1 << 20)}
		r := begin(t, b, l)
		r.wait(t)
		if b.def.Gate == GateExec && ptraceDenied() {
			// Nothing holds a plain process then: the limits come right after its exec, and the guarantees say so.
			for _, g := range r.Guarantees() {
				if strings.HasPrefix(g.Name, "limits.") && g.When != runtime.WhenAfterExec {
					t.Errorf("%+v", g)
				}
			}
			return
		}
		if got := strings.Fields(r.stdout.String()); strings.Join(got, " ") != "33 44 0 5 6 2048" {
			t.Errorf("limits inside: %v", got)
		}
	})
}

func TestALimitThatCannotBeSetIsUnsupported(t *testing.T) {
	var own unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &own); err != nil {
		t.Fatal(err)
	}
	both(t, func(t *testing.T, b *Backend) {
		l := sh("echo ran")
		l.Limits.OpenFiles = runtime.AtMost(1 << 40) // above /proc/sys/fs/nr_open: refused even to a privileged process
		r, err := tryBegin(t, b, l)
		if !errors.Is(err, runtime.ErrUnsupported) || r.stdout.String() != "" {
			t.Errorf("got %v, stdout %q", err, r.stdout)
		}
	})
}

func TestAGoroutineThatEndsItsThreadDoesNotEndTheSandbox(t *testing.T) {
	b := backend(t, bwrapDefinition())
	l := runtime.Launch{Argv: []string{"cat"}, Stdin: runtime.Stdin{Mode: runtime.StdinPipe}}
	p := plan(t, b, l, runtime.RunName{})
	r := &live{res: prepare(t, b, p), stdout: newSink(), stderr: newSink()}
	started := make(chan error)
	go func() {
		// Never unlocked: the thread dies with the goroutine.
		lockThread()
		var err error
		r.Process, err = r.res.Start(context.Background(), &runtime.StartRequest{Stdin: runtime.StdinPipe, Stdout: runtime.Output{Writer: r.stdout}})
		started <- err
	}()
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(r.Stdin(), "still here"); err != nil {
		t.Fatal(err)
	}
	r.stdout.await(t, "still here")
	r.Stdin().Close()
	if e := r.wait(t); e.Code != 0 {
		t.Errorf("exit %+v", e)
	}
}

func TestNothingOfTheLauncherShowsInside(t *testing.T) {
	b := backend(t, bwrapDefinition())
	t.Setenv("SBX_TEST_CANARY", "canary")
	// A descriptor that something opened without close-on-exec.
	leak, err := unix.Open("/dev/null", unix.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(leak)
	r := begin(t, b, sh("tr '\\0' '\\n' </proc/1/environ; echo --; env; echo --; for f in /proc/self/fd/*; do [ -e $f ] && echo ${f##*/}; done; echo --; cat /proc/1/comm"))
	r.wait(t)
	parts := strings.Split(r.stdout.String(), "--\n")
	if len(parts) != 4 || parts[0] != "" {
		t.Fatalf("got %q", r.stdout)
	}
	if got := strings.Fields(parts[1]); len(got) != 2 || !strings.HasPrefix(got[0], "PATH=") && !strings.HasPrefix(got[1], "PATH=") {
		t.Errorf("environment inside: %q", got)
	}
	if got := strings.Join(strings.Fields(parts[2]), " "); got != "0 1 2" {
		t.Errorf("descriptors inside: %q", got)
	}
}
