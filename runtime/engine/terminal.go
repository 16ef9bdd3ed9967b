package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/sbxkit/sbxkit/runtime"
)

// Resize sets the size of the terminal.
func (p *process) Resize(columns, rows uint16) error {
	if !p.terminal {
		return runtime.Fail(runtime.Unsupported, "the run has no terminal").At(runtime.StepStart).About("terminal")
	}
	return p.resize(context.Background(), columns, rows)
}

// resize asks the engine for a size until the terminal has it, where its size can be read on this host; elsewhere the engine's answer
// counts. Podman answers before its monitor has set anything, and of several sizes that the monitor reads at once it sets the first
// (measured on conmon 2.1.6), so that a size can be lost for good.
func (p *process) resize(ctx context.Context, columns, rows uint16) error {
	ctx, cancel := bounded(ctx, p.b.limit.look, "by giving the terminal its size")
	defer cancel()
	for {
		if err := p.link.resize(ctx, p.token.Name, columns, rows); err != nil {
			return fmt.Errorf("resizing the terminal of %s: %w", p.token.Name, err)
		}
		for pause := p.b.limit.poll; pause < resizePatience; pause *= 2 {
			if c, r, seen := p.terminalSize(); !seen || c == columns && r == rows || ended(p.at) {
				return nil
			}
			select {
			case <-time.After(pause):
			case <-ctx.Done():
				return fmt.Errorf("resizing the terminal of %s: %w", p.token.Name, context.Cause(ctx))
			}
		}
	}
}

// lives reports whether the container's command may still be running: false only where the engine says that it is not.
func (p *process) lives(ctx context.Context) bool {
	i, err := p.link.inspect(ctx, p.token.Name)
	return err != nil || phaseOf(i).lives()
}

// resizePatience is the longest pause between two looks at a terminal before its size is asked for again.
const resizePatience = 200 * time.Millisecond
