// Package tools holds the code-execution tools of an agent server: a foreground shell, background tasks, a session that keeps its state
// between calls, and an agent that talks JSON-RPC over its standard streams.
//
// All of them start what they start through one Seam, which the program that uses them wires to a backend. Nothing in this package knows which
// one that is: a tool holds the Run that a launch gave it, and ends what it started by that Run alone, however long ago it was started.
package tools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	sbx "github.com/sbxkit/sbxkit/runtime"
)

// Seam is the one way these tools start anything. It is safe for concurrent use.
type Seam struct {
	Box *sbx.Sandbox
	// Base is what all launches have in common: image, workspace, user. It is not changed.
	Base sbx.Launch
}

// launch starts l's command with everything it leaves open taken from Base.
func (s Seam) launch(ctx context.Context, l sbx.Launch) (*sbx.Run, error) {
	l.Image, l.Workspace, l.User, l.Mounts = s.Base.Image, s.Base.Workspace, s.Base.User, s.Base.Mounts
	return s.Box.Launch(ctx, l)
}

// shellScript is text for the shell. It is staged as a file, so that no word of it reaches an argument vector.
func shellScript(text string, args ...string) *sbx.Script {
	return &sbx.Script{Interpreter: []string{"/bin/sh"}, Text: []byte(text), Args: args}
}

// Answer is how a command ended.
type Answer struct {
	// Outcome is the seam's word for it: "exited", "timed-out", "output-limit", …
	Outcome string `json:"outcome"`
	// Code is the exit status; absent where none was witnessed.
	Code   *int   `json:"code,omitempty"`
	Detail string `json:"detail"`
	// Cause says why the seam stopped the command, if it did.
	Cause  string `json:"cause,omitempty"`
	Stdout string `json:"stdout,omitempty"`
	Stderr string `json:"stderr,omitempty"`
	// Dropped counts the bytes of output that are not shown.
	Dropped int64 `json:"dropped,omitempty"`
	// Backend is who ran it, as the probe found it.
	Backend string `json:"backend"`
}

func answer(res *sbx.Result, stdout, stderr *sbx.Tail) *Answer {
	a := &Answer{Outcome: string(res.Outcome), Detail: res.String(), Cause: res.Evidence.Cause, Backend: res.Facts.Identity.String()}
	if res.Outcome == sbx.Exited {
		a.Code = &res.Code
	}
	a.Stdout, a.Dropped = stdout.String(), stdout.Dropped()
	if stderr != stdout {
		a.Stderr = stderr.String()
		a.Dropped += stderr.Dropped()
	}
	return a
}

// within is d, or fallback where none was asked for.
func within(d, fallback time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return fallback
}

// pipes is a started command that is talked to: what it reads, what it says, and what it says on standard error.
type pipes struct {
	run    *sbx.Run
	stdin  io.WriteCloser
	stdout io.Reader
	stderr *sbx.Tail
}

// converse starts a command that is talked to. Its output is read by this side alone, byte for byte; there is no terminal in between.
func (s Seam) converse(ctx context.Context, l sbx.Launch) (*pipes, error) {
	l.Stdin = sbx.Stdin{Mode: sbx.StdinPipe}
	p := &pipes{stderr: sbx.NewTail(4<<10, 4<<10)}
	l.Stdout, l.Stderr = sbx.Pipe, p.stderr
	r, err := s.launch(ctx, l)
	if err != nil {
		return nil, err
	}
	p.run, p.stdin, p.stdout = r, r.Stdin(), r.Stdout()
	return p, nil
}

// ask calls talk, which writes a question and reads its answer. When ctx ends first, or talk cannot go on, the command is killed: nobody
// would know what the next bytes belong to. The error then says how the command ended.
func (p *pipes) ask(ctx context.Context, talk func() error) error {
	killed := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() { killed <- p.run.Kill(context.WithoutCancel(ctx)) })
	err := talk()
	stopped := stop()
	if stopped && err == nil {
		return nil
	}
	if ctx.Err() != nil {
		err = fmt.Errorf("%w before the answer was complete", context.Cause(ctx))
	}
	res, failed := p.end(context.WithoutCancel(ctx))
	if !stopped {
		failed = errors.Join(failed, <-killed)
	}
	if failed != nil {
		return failed
	}
	return sbx.Fail(sbx.Command, "it has ended (%s): %w", res, err).At(sbx.StepCapture).WithCure("start it again; what it knew is lost. It said: %.300q", p.stderr.String())
}

// end closes what the command reads and waits for its end; where that does not come by itself, the run is stopped.
func (p *pipes) end(ctx context.Context) (*sbx.Result, error) {
	closed := p.stdin.Close()
	drained := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, p.stdout)
		drained <- err
	}()
	grace, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	res, err := p.run.Wait(grace)
	if res == nil {
		res, err = p.run.Stop(ctx)
	}
	if err != nil {
		return res, err
	}
	if err := <-drained; err != nil {
		return res, fmt.Errorf("reading the rest of the output: %w", err)
	}
	if closed != nil && res.Outcome == sbx.Exited && res.Code == 0 {
		return res, fmt.Errorf("closing what the command reads: %w", closed)
	}
	return res, nil
}
