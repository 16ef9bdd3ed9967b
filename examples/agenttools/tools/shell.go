package tools

import (
	"context"
	"time"

	sbx "github.com/sbxkit/sbxkit/runtime"
)

const (
	foregroundTime = 2 * time.Minute
	shownBytes     = 32 << 10
)

// RunShell is the foreground tool: it runs text with the shell and waits for its end. A command that does not end within timeout (zero: two
// minutes), or when ctx ends, is stopped. The error is for what the sandbox could not do; how the command ended is the Answer's to say.
func (s Seam) RunShell(ctx context.Context, text string, timeout time.Duration) (*Answer, error) {
	stdout, stderr := sbx.NewTail(shownBytes/2, shownBytes/2), sbx.NewTail(shownBytes/4, shownBytes/4)
	r, err := s.launch(ctx, sbx.Launch{
		Script: shellScript(text), Stdout: stdout, Stderr: stderr,
		Timeouts: sbx.Timeouts{Wall: within(timeout, foregroundTime)},
	})
	if err != nil {
		return nil, err
	}
	res, err := r.Wait(ctx)
	if res == nil {
		// The caller went away. The ladder has its own deadlines.
		res, err = r.Stop(context.WithoutCancel(ctx))
	}
	if err != nil {
		return nil, err
	}
	return answer(res, stdout, stderr), nil
}
