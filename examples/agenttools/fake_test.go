package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sbxkit/sbxkit/examples/agenttools/tools"
	"github.com/sbxkit/sbxkit/generated/fake"
	sbx "github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/script"
)

// played runs f in a bubble, where an hour passes at once, with a seam over a fake that plays the script. Afterwards nothing may be left, and
// every expectation of the script must have been met.
func played(t *testing.T, sc *script.Script, f func(t *testing.T, s tools.Seam, w *script.World)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := script.NewWorld()
		b, err := fake.New(fake.Options{World: w, Script: sc})
		if err != nil {
			t.Fatal(err)
		}
		box, err := sbx.New(b, sbx.WithJournal(script.NewJournal("agenttools", filepath.Join(dir, "runs"))))
		if err != nil {
			t.Fatal(err)
		}
		f(t, tools.Seam{Box: box, Base: sbx.Launch{Workspace: &sbx.Workspace{Source: dir}}}, w)
		if err := errors.Join(box.Close(), w.Check()); err != nil {
			t.Error(err)
		}
		if left := w.Resources(); len(left) != 0 {
			t.Errorf("left: %v", left)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestTasksAreBounded(t *testing.T) {
	for _, c := range []struct {
		name    string
		do      []script.Action
		limits  tools.TaskLimits
		outcome sbx.Outcome
		took    time.Duration
		log     string
	}{
		{"watchdog", []script.Action{script.Repeat(1000, script.Stdout("tick\n"), script.Sleep(time.Minute))}, tools.TaskLimits{Watchdog: 30 * time.Minute}, sbx.TimedOut, 30 * time.Minute, "tick\ntick\n"},
		{"quiet", []script.Action{script.Stdout("once\n"), script.Hang()}, tools.TaskLimits{Quiet: 5 * time.Minute}, sbx.TimedOut, 5 * time.Minute, "once\n"},
		{"log cap", []script.Action{script.Repeat(1000, script.Stderr(strings.Repeat("x", 99)+"\n"), script.Sleep(time.Second))}, tools.TaskLimits{Log: 1000}, sbx.OutputLimit, 10 * time.Second, "xxx\n"},
		{"by itself", []script.Action{script.Sleep(time.Minute), script.Exit(3)}, tools.TaskLimits{}, sbx.Exited, time.Minute, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			played(t, &script.Script{Do: c.do}, func(t *testing.T, s tools.Seam, w *script.World) {
				tasks := tools.NewTasks(s)
				ctx, cancel := context.WithCancel(t.Context())
				id, err := tasks.Start(ctx, "make everything", c.limits)
				cancel() // what bounded the start does not bound the task
				if err != nil {
					t.Fatal(err)
				}
				if l := tasks.List(); len(l) != 1 || !l[0].Running || l[0].ID != id {
					t.Fatalf("the list is %+v", l)
				}
				time.Sleep(c.took - time.Nanosecond)
				if v, err := tasks.Log(id); err != nil || !v.Running {
					t.Errorf("ended before %v: %+v, %v", c.took, v.Ended, err)
				}
				time.Sleep(time.Minute) // for the stop ladder
				v, err := tasks.Log(id)
				if err != nil || v.Running || v.Ended == nil || v.Ended.Outcome != string(c.outcome) {
					t.Fatalf("%+v (%+v), %v; want %s", v, v.Ended, err, c.outcome)
				}
				if !strings.Contains(v.Log, c.log) || len(v.Log) > 1100 && c.limits.Log > 0 {
					t.Errorf("the log is %q", v.Log)
				}
				if inv := w.Runs()[0]; strings.Contains(strings.Join(inv.Argv, " "), "everything") || string(inv.ScriptText) != "make everything" {
					t.Errorf("the text went %q, and %q was staged", inv.Argv, inv.ScriptText)
				}
			})
		})
	}
}

func TestTasksEndByTheirOwnRun(t *testing.T) {
	played(t, &script.Script{Do: []script.Action{script.Hang()}}, func(t *testing.T, s tools.Seam, w *script.World) {
		tasks := tools.NewTasks(s)
		for range 3 {
			if _, err := tasks.Start(t.Context(), "sleep forever", tools.TaskLimits{}); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 { // a second kill is no error
			if v, err := tasks.Kill(t.Context(), "task-2"); err != nil || v.Running || v.Ended.Outcome != string(sbx.Canceled) {
				t.Fatalf("%+v, %v", v, err)
			}
		}
		if n := len(w.Resources()); n != 2 {
			t.Errorf("after one kill of three %d are there", n)
		}
		var bad *tools.BadRequest
		if _, err := tasks.Kill(t.Context(), "task-9"); !errors.As(err, &bad) {
			t.Errorf("killing what is not there gives %v", err)
		}
		if err := tasks.Close(t.Context()); err != nil {
			t.Error(err)
		}
		for _, v := range tasks.List() {
			if v.Running {
				t.Errorf("%s runs on after Close", v.ID)
			}
		}
	})
}

// evaluator plays the inside of the REPL: it keeps a count, and answers as repl.sh does with what answer gives.
func evaluator(answer func(n int, marker, text string) string) script.Action {
	return script.Func(func(c *script.Command) error {
		words := c.Request().Command
		marker := words[len(words)-2]
		in := bufio.NewReader(c.Stdin())
		for n := 1; ; n++ {
			head, err := in.ReadString('\n')
			if err == io.EOF {
				return c.Exit(0)
			}
			lines, err := strconv.Atoi(strings.TrimSpace(head))
			if err != nil {
				return fmt.Errorf("%q is no count of lines: %w", head, err)
			}
			var text string
			for range lines {
				line, err := in.ReadString('\n')
				if err != nil {
					return err
				}
				text += line
			}
			if text == "hang\n" {
				<-c.Context().Done()
				return c.Context().Err()
			}
			if _, err := io.WriteString(c.Stdout(), answer(n, marker, text)); err != nil {
				return err
			}
		}
	})
}

func TestREPLSessions(t *testing.T) {
	framed := func(n int, marker, text string) string {
		out := fmt.Sprintf("%d: %s%s 0 4\n", n, text, marker)
		return fmt.Sprintf("%s 0 %d\n%s", marker, len(out), out)
	}
	played(t, &script.Script{Do: []script.Action{evaluator(framed)}}, func(t *testing.T, s tools.Seam, w *script.World) {
		r := tools.NewREPL(s)
		for n := 1; n <= 3; n++ {
			e, err := r.Eval(t.Context(), "two\nlines", 0)
			if err != nil || e.Fresh != (n == 1) || !strings.HasPrefix(e.Output, fmt.Sprintf("%d: two\nlines\n", n)) {
				t.Fatalf("call %d: %+v, %v", n, e, err)
			}
		}
		began := time.Now()
		if _, err := r.Eval(t.Context(), "hang", 0); !errors.Is(err, sbx.ErrCommand) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a call that hangs gives %v", err)
		}
		if took := time.Since(began); took < time.Minute || took > 2*time.Minute {
			t.Errorf("a call that hangs took %v", took)
		}
		if e, err := r.Eval(t.Context(), "again", 0); err != nil || !e.Fresh || !strings.HasPrefix(e.Output, "1: again") {
			t.Errorf("after the end of a session: %+v, %v", e, err)
		}
		if err := errors.Join(r.Close(t.Context()), r.Close(t.Context())); err != nil {
			t.Error(err)
		}
		if inv := w.Runs()[1]; !inv.StdinEOF || !inv.Finished {
			t.Errorf("Close did not end the session by the end of its input: %+v", inv)
		}
	})
}

func TestREPLRefusesWhatIsNoFrame(t *testing.T) {
	for name, answer := range map[string]string{"no marker": "hello\n", "a size below zero": "%s 0 -1\n", "too little output": "%s 0 5\nab", "nothing": ""} {
		t.Run(name, func(t *testing.T) {
			sc := &script.Script{Do: []script.Action{evaluator(func(_ int, marker, _ string) string { return strings.ReplaceAll(answer, "%s", marker) })}}
			played(t, sc, func(t *testing.T, s tools.Seam, _ *script.World) {
				r := tools.NewREPL(s)
				if e, err := r.Eval(t.Context(), "code", time.Second); !errors.Is(err, sbx.ErrCommand) {
					t.Errorf("%+v, %v", e, err)
				}
			})
		})
	}
}

const question = `{"jsonrpc":"2.0","id":%d,"method":"echo","params":"hi"}` + "\n"

// TestLivenessNeverTouchesStdin lets the hook look at an agent for an hour between two calls: the agent has read those, and not a byte more.
func TestLivenessNeverTouchesStdin(t *testing.T) {
	sc := &script.Script{Do: []script.Action{
		script.Read(fmt.Sprintf(question, 1)), script.Stdout(`{"jsonrpc":"2.0","id":1,"result":"hi"}` + "\n"),
		script.Read(fmt.Sprintf(question, 2)), script.Sleep(30 * time.Second), script.Stdout(`{"jsonrpc":"2.0","id":2,"result":"hi"}` + "\n"),
		script.ReadEOF(),
	}}
	played(t, sc, func(t *testing.T, s tools.Seam, w *script.World) {
		a, err := tools.StartAgent(t.Context(), s, []string{"agent"}, tools.AgentLimits{Look: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		for n := 1; n <= 2; n++ {
			if r, err := a.Call(t.Context(), "echo", json.RawMessage(`"hi"`)); err != nil || string(r.Result) != `"hi"` {
				t.Fatalf("%+v, %v", r, err)
			}
			time.Sleep(25 * time.Minute)
			want := ""
			for i := 1; i <= n; i++ {
				want += fmt.Sprintf(question, i)
			}
			if inv := w.Runs()[0]; inv.Stdin.String() != want || inv.StdinClosed || inv.StdinEOF {
				t.Errorf("after %d looks the agent's stdin has %q, closed %v", a.Looks(), inv.Stdin, inv.StdinClosed)
			}
		}
		if a.Looks() < 2900 {
			t.Errorf("the hook looked %d times in 50 minutes", a.Looks())
		}
		if end, err := a.Close(t.Context()); err != nil || end.Code == nil || *end.Code != 0 {
			t.Errorf("%+v, %v", end, err)
		}
	})
}

func TestAStuckAgentIsEndedByItsLiveness(t *testing.T) {
	played(t, &script.Script{Do: []script.Action{script.Hang()}}, func(t *testing.T, s tools.Seam, _ *script.World) {
		a, err := tools.StartAgent(t.Context(), s, []string{"agent"}, tools.AgentLimits{Quiet: time.Minute, Look: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(30 * time.Minute) // it owes nothing, and may be silent
		began := time.Now()
		_, err = a.Call(t.Context(), "echo", nil)
		if took := time.Since(began); !errors.Is(err, sbx.ErrCommand) || !strings.Contains(err.Error(), "timed out (idle)") || took < time.Minute || took > 90*time.Second {
			t.Errorf("after %v: %v", took, err)
		}
	})
}

func TestRefusalsBecomeEnvelopes(t *testing.T) {
	for _, c := range []struct {
		at   script.Op
		kind sbx.Kind
		step sbx.Step
	}{
		{script.OnProbe, sbx.Unsupported, sbx.StepProbe},
		{script.OnPlan, sbx.Denied, sbx.StepPlan},
		{script.OnPrepare, sbx.Setup, sbx.StepPrepare},
		{script.OnStage, sbx.Denied, sbx.StepStage},
		{script.OnStart, sbx.Setup, sbx.StepStart},
		{script.OnWait, sbx.Uncertain, sbx.StepCapture},
	} {
		t.Run(string(c.at), func(t *testing.T) {
			sc := &script.Script{Faults: []script.Fault{script.Refuse(c.at, c.kind, "it is broken")}}
			played(t, sc, func(t *testing.T, s tools.Seam, w *script.World) {
				var out bytes.Buffer
				if err := serve(t.Context(), s, strings.NewReader(`{"id":"a","tool":"run_shell","command":"true"}`), &out); err != nil {
					t.Fatal(err)
				}
				var r response
				if err := json.Unmarshal(out.Bytes(), &r); err != nil {
					t.Fatal(err)
				}
				e := r.Error
				if e == nil || r.Result != nil || e.Kind != string(c.kind) || e.Step != string(c.step) || e.Cure == "" || !strings.Contains(e.Message, "it is broken") || string(r.ID) != `"a"` {
					t.Errorf("the answer is %s", out.Bytes())
				}
			})
		})
	}
}

func TestOnlyNamedBackendsAreUsed(t *testing.T) {
	for name, want := range map[string]string{"": "bwrap", "bwrap": "bwrap", "docker": "docker", "podman": "podman", "fake": "fake", "local": "", "none": "", "Docker": ""} {
		t.Run(name, func(t *testing.T) {
			b, err := backend(name)
			var bad *tools.BadRequest
			switch {
			case want == "" && (b != nil || !errors.As(err, &bad)):
				t.Errorf("got %v, %v", b, err)
			case want != "" && (err != nil || b.Describe().Name != want || b.Describe().Unsandboxed):
				t.Errorf("got %v, %v", b, err)
			}
		})
	}
}

func TestASessionAnswersEveryLine(t *testing.T) {
	played(t, &script.Script{Do: []script.Action{script.Stdout("done\n")}}, func(t *testing.T, s tools.Seam, _ *script.World) {
		in, err := os.ReadFile("testdata/session.jsonl")
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := serve(t.Context(), s, bytes.NewReader(in), &out); err != nil {
			t.Fatal(err)
		}
		want := []string{`"stdout":"done\n"`, `"task":"task-1"`, `"command":"build"`, `"kind":"request"`, `"kind":"request"`, `"kind":"request"`, `"kind":"request"`}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if len(lines) != len(want) {
			t.Fatalf("%d answers for %d requests:\n%s", len(lines), len(want), &out)
		}
		for i, w := range want {
			if !strings.Contains(lines[i], w) {
				t.Errorf("answer %d is %s, without %s", i+1, lines[i], w)
			}
		}
	})
}
