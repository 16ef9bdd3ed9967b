package engine

import (
	"bufio"
	"context"
	"io"
	"time"

	"github.com/docker/docker/api/types/events"
	"github.com/docker/docker/api/types/filters"
)

// noticed is the longest pause between two looks at a container whose events are listened to: a stream can miss one, as an engine can that
// is started again.
const noticed = 10 * time.Second

// notices tells when something happened to one container: each event is worth a look, and what it says is not read.
type notices struct {
	// more gets a value for one event or several; closed where the stream has ended, or could not be had.
	more <-chan struct{}
	stop context.CancelFunc
	done <-chan struct{}
}

// close ends the stream, and returns when it has ended.
func (n *notices) close() {
	n.stop()
	<-n.done
}

// listen makes notices of a stream: run calls the function it is given for each event, until ctx ends or the stream does.
func listen(ctx context.Context, run func(ctx context.Context, event func())) *notices {
	ctx, stop := context.WithCancel(ctx)
	more, done := make(chan struct{}, 1), make(chan struct{})
	go func() {
		defer close(done)
		defer close(more)
		run(ctx, func() {
			select {
			case more <- struct{}{}:
			default: // a look is due already
			}
		})
	}()
	return &notices{more: more, stop: stop, done: done}
}

// wait waits for an event, but no longer than pause where there is a stream: it gives the pause before the next look, which grows only without
// one.
func (n *notices) wait(ctx context.Context, pause time.Duration) (next time.Duration) {
	limit := noticed
	if n.more == nil {
		limit = pause
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case _, open := <-n.more:
		if !open {
			n.more = nil // from here on by looking alone
		}
		return pause
	}
	return min(2*pause, time.Second)
}

func (a *api) notices(ctx context.Context, name string) *notices {
	return listen(ctx, func(ctx context.Context, event func()) {
		told, failed := a.cli.Events(ctx, events.ListOptions{Filters: filters.NewArgs(filters.Arg("container", name))})
		event() // what happened before the stream stood is worth a look too
		for {
			select {
			case <-told:
				event()
			case <-failed:
				return
			}
		}
	})
}

func (c *cli) notices(ctx context.Context, name string) *notices {
	return listen(ctx, func(ctx context.Context, event func()) {
		// With what happened before the stream stood.
		cmd := c.client(ctx, "events", "--since", "1m", "--filter", "container="+name, "--format", "{{json .}}")
		out, err := cmd.StdoutPipe()
		if err != nil || cmd.Start() != nil {
			return
		}
		// A line each; how long one is does not matter.
		r := bufio.NewReader(out)
		for {
			if _, err := r.ReadSlice('\n'); err != nil && err != bufio.ErrBufferFull {
				break
			} else if err == nil {
				event()
			}
		}
		_, _ = io.Copy(io.Discard, r)
		_ = cmd.Wait() // a stream that ends is the end, whatever the program says of it
	})
}
