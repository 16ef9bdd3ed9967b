package engine

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/docker/docker/api/types/container"
)

// exec runs argv inside and waits for its end. The exit status is read only once the engine says that the exec has ended: Podman gives
// 0 for one that runs.
func (a *api) exec(ctx context.Context, name string, argv []string) (int, error) {
	asking, cancel := bounded(ctx, a.limit.start, "POST /containers/{name}/exec")
	defer cancel()
	made, err := a.cli.ContainerExecCreate(asking, name, container.ExecOptions{AttachStdout: true, AttachStderr: true, Cmd: argv})
	if err != nil {
		return -1, causeOf(asking, err)
	}
	// Attached, because its end is the end of the stream; the output is nobody's.
	w, err := a.hijack(asking, "/exec/"+made.ID+"/start", nil, container.ExecStartOptions{})
	if err != nil {
		return -1, causeOf(asking, err)
	}
	defer w.Close()
	stop := context.AfterFunc(ctx, func() { w.Close() })
	defer stop()
	if _, err := io.Copy(io.Discard, w); err != nil && ctx.Err() == nil {
		return -1, fmt.Errorf("reading the output of the command beside: %w", err)
	}
	for pause := a.limit.poll; ; pause = min(2*pause, time.Second) {
		look, cancel := bounded(ctx, a.limit.look, "GET /exec/{id}/json")
		i, err := a.cli.ContainerExecInspect(look, made.ID)
		err = causeOf(look, err)
		cancel()
		if err != nil {
			return -1, err
		}
		if !i.Running {
			return i.ExitCode, nil
		}
		select {
		case <-ctx.Done():
			return -1, context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}
