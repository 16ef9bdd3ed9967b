package engine

import (
	"context"
	"errors"
	"os/exec"

	"github.com/sbxkit/sbxkit/runtime"
)

// An engine reads a container's two streams from two pipes, and what it hands on of them has no order (measured: lines that alternate
// arrive swapped). Where a launch wants both in one sink, the command is started by a shell of the image that makes them one descriptor
// and is then replaced by the command. The shell's text is a constant; the command's words are its parameters and never read as text.

// joiner stands before a command whose streams are one.
var joiner = []string{"/bin/sh", "-c", `exec "$@" 2>&1`, "sh"}

// join puts the joiner before the command of a request whose streams are one; a terminal is one stream by itself.
func join(r *runtime.Request) {
	if !joined(r) {
		return
	}
	r.Command = append(append([]string(nil), joiner...), r.Command...)
	if r.Script != nil {
		s := *r.Script
		s.Word += len(joiner)
		r.Script = &s
	}
}

func joined(r *runtime.Request) bool { return r.SameSink && r.Terminal == nil }

// ownCommand is the command without what this room put before it.
func ownCommand(r *runtime.Request) string {
	if joined(r) {
		return r.Command[len(joiner)]
	}
	return r.Command[0]
}

// lookJoiner refuses a run whose streams cannot be made one.
func (r *resources) lookJoiner(ctx context.Context) error {
	if !joined(r.plan.Request) {
		return nil
	}
	err := r.lookFor(ctx, joiner[0])
	if errors.Is(err, runtime.ErrCommand) {
		return runtime.Fail(runtime.Unsupported, "the image has no %s, which makes both streams one: %w", joiner[0], exec.ErrNotFound).About("streams.shared").
			WithCure("give stdout and stderr a sink each, or use an image with a shell")
	}
	return err
}
