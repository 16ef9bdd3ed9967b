// Package conformance runs the conformance suite on every backend of this host, writes docs/conformance.md from what it finds, and keeps
// backends that are wrong on purpose, each of which the suite has to catch.
//
//sbx:seam it drives every backend
package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"syscall"
	"time"

	"github.com/sbxkit/sbxkit/generated/fake"
	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/sbxtest"
	"github.com/sbxkit/sbxkit/runtime/script"
)

// playWord is the program a fake's command stands for: the word after it is a sbxtest.Program as JSON.
const playWord = "play"

// spell gives a program as words that the fake's adapter reads.
func spell(p sbxtest.Program) ([]string, error) {
	text, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	return []string{playWord, string(text)}, nil
}

// Fake makes subjects of the scripted backend: a world each, in which the suite's programs are played.
func Fake(context.Context) (*sbxtest.Subject, error) {
	w := script.NewWorld()
	b, err := newFake(w)
	if err != nil {
		return nil, err
	}
	return &sbxtest.Subject{
		Backend:  b,
		Next:     func() (runtime.Backend, error) { return newFake(w) },
		Close:    w.Close,
		Commands: spell,
		Modelled: "a script stands in place of a process",
	}, nil
}

// played is the fake with an adapter that turns a run's program into the script it plays.
type played struct{ *fake.Backend }

func newFake(w *script.World) (runtime.Backend, error) {
	b, err := fake.New(fake.Options{World: w, Script: &script.Script{}})
	if err != nil {
		return nil, err
	}
	return &played{b}, nil
}

// Prepare queues the script of the plan's program, for this run alone.
func (b *played) Prepare(ctx context.Context, p *runtime.Plan) (runtime.Resources, error) {
	s, err := scriptOf(p.Request)
	if err != nil {
		return nil, err
	}
	id := p.Request.Run.ID
	s.Match = func(r *runtime.Request) bool { return r.Run.ID == id }
	b.Backend.Play(s)
	return b.Backend.Prepare(ctx, p)
}

// scriptOf is the script of a request's command. A program that is none of ours is not there, as in an empty file system.
func scriptOf(r *runtime.Request) (*script.Script, error) {
	if len(r.Command) != 2 || r.Command[0] != playWord {
		missing := runtime.Fail(runtime.Command, "%s: %w", r.Command[0], exec.ErrNotFound).About("command")
		return &script.Script{Faults: []script.Fault{{At: script.OnStart, Refuse: missing}}}, nil
	}
	var p sbxtest.Program
	if err := json.Unmarshal([]byte(r.Command[1]), &p); err != nil {
		return nil, fmt.Errorf("reading the fake's program: %w", err)
	}
	files := newModel(r)
	s := &script.Script{Exec: []script.ExecAnswer{{}}, Traps: map[syscall.Signal][]script.Action{}}
	for _, a := range p {
		switch a.Do {
		case sbxtest.DoIgnore:
			s.Ignore = append(s.Ignore, syscall.Signal(a.N))
		case sbxtest.DoTrap:
			s.Traps[syscall.SIGTERM] = []script.Action{script.Stdout(a.Text + "\n"), script.Exit(a.N)}
		case sbxtest.DoLeave:
			s.HoldStreams = a.For
		case sbxtest.DoWrite:
			if r.Artifacts != nil {
				s.Artifacts = append(s.Artifacts, script.Artifact{Path: files.absolute(a.Path), Data: []byte(a.Text)})
			}
			s.Do = append(s.Do, files.write(a))
		case sbxtest.DoRead:
			s.Do = append(s.Do, files.read(a))
		default:
			do, err := action(a)
			if err != nil {
				return nil, err
			}
			s.Do = append(s.Do, do)
		}
	}
	return s, nil
}

// action is what an act is in a script.
func action(a sbxtest.Act) (script.Action, error) {
	switch a.Do {
	case sbxtest.DoPrint:
		return script.Stdout(a.Text + "\n"), nil
	case sbxtest.DoPrintErr:
		return script.Stderr(a.Text + "\n"), nil
	case sbxtest.DoExit:
		return script.Exit(a.N), nil
	case sbxtest.DoDie:
		return script.Die(syscall.Signal(a.N)), nil
	case sbxtest.DoCat:
		return script.Echo(), nil
	case sbxtest.DoSleep:
		return script.Sleep(a.For), nil
	case sbxtest.DoHang, sbxtest.DoSpin:
		return script.Hang(), nil
	case sbxtest.DoReply:
		return script.Func(reply), nil
	case sbxtest.DoSpew:
		return script.Stdout(string(make([]byte, a.N))), nil
	case sbxtest.DoCount:
		return script.Func(func(c *script.Command) error { return count(c, a.N) }), nil
	case sbxtest.DoEnviron:
		return shown(func(r *runtime.Request) (lines []string) {
			for _, v := range r.Env {
				lines = append(lines, v.Name+"="+v.Value)
			}
			return lines
		}), nil
	case sbxtest.DoDir:
		return shown(func(r *runtime.Request) []string { return []string{r.Dir} }), nil
	case sbxtest.DoHost:
		return shown(func(r *runtime.Request) []string { return []string{r.Hostname} }), nil
	case sbxtest.DoUser:
		return shown(func(r *runtime.Request) []string { return []string{fmt.Sprint(r.User.UID), fmt.Sprint(r.User.GID)} }), nil
	case sbxtest.DoAllocate:
		return script.Func(func(c *script.Command) error {
			if m := c.Request().Limits.Memory; m != nil && m.Hard < uint64(a.N) {
				return c.OutOfMemory()
			}
			return c.Sleep(time.Hour)
		}), nil
	}
	return nil, fmt.Errorf("the fake plays no %q", a.Do)
}

// count writes n lines.
func count(c *script.Command, n int) error {
	for i := range n {
		if _, err := fmt.Fprintf(c.Stdout(), "line %d\n", i); err != nil {
			return err
		}
	}
	return nil
}

// shown writes what the request says of the command's place, a line each.
func shown(what func(*runtime.Request) []string) script.Action {
	return script.Func(func(c *script.Command) error {
		for _, line := range what(c.Request()) {
			if _, err := fmt.Fprintln(c.Stdout(), line); err != nil {
				return err
			}
		}
		return nil
	})
}
