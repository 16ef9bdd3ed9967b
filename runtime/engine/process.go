package engine

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/sbxkit/sbxkit/runtime"
)

// process is a started container.
type process struct {
	*resources
	at         *attachment
	id         runtime.ProcessIdentity
	guarantees []runtime.Guarantee
	began      time.Time
	terminal   bool
	// watch tells how the command ended where the kernel does; nil elsewhere.
	watch watcher

	// input ends when the copying of a stdin file has ended; nil without one.
	input chan struct{}

	once sync.Mutex // held by the one Wait that settles the end
	exit *runtime.Exit
	err  error
}

var _ runtime.Process = (*process)(nil)

// Identity names the process as the engine's host knows it; the pid counts on this host only where the engine is local.
func (p *process) Identity() runtime.ProcessIdentity { return p.id }

// Guarantees are what was measured.
func (p *process) Guarantees() []runtime.Guarantee { return p.guarantees }

// Stdin is the writing end of the attached stdin.
func (p *process) Stdin() io.WriteCloser {
	if p.input != nil || p.at.stdin == nil {
		return nil
	}
	return p.at.stdin
}

// Exec runs a command inside, beside the run's own.
func (p *process) Exec(ctx context.Context, argv []string) (int, error) {
	if len(argv) == 0 {
		return -1, runtime.Fail(runtime.Setup, "no command to run beside").At(runtime.StepStart)
	}
	code, err := p.link.exec(ctx, p.token.Name, argv)
	if err != nil {
		return -1, p.b.setup(p.link, hide(err, p.plan.Request), "running %s in %s", argv[0], p.token.Name).At(runtime.StepStart)
	}
	return code, nil
}
