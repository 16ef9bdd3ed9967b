package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"

	"github.com/docker/docker/api/types/container"
)

// startError says how far a start came.
type startError struct {
	// step is "attach", "wait" or "start".
	step string
	err  error
}

func (e *startError) Error() string { return e.step + ": " + e.err.Error() }

func (e *startError) Unwrap() error { return e.err }

// start attaches, waits for the next exit, and starts. This order loses no byte and no exit on any engine: an attach after the start
// loses early output, a wait after the start can be answered for an exit that was seen before (measured, Docker 20.10 and Podman 4.3).
func (a *api) start(ctx context.Context, name string, s startOptions) (_ *attachment, err error) {
	asking, cancel := bounded(ctx, a.limit.start, "POST /containers/{name}/attach, wait and start")
	defer cancel()
	if !a.answering.Load() {
		if _, _, err := a.greet(asking); err != nil {
			return nil, &startError{"attach", err}
		}
	}
	w, err := a.attach(asking, name, s.output()...)
	if err != nil {
		return nil, &startError{"attach", causeOf(asking, err)}
	}
	at := &attachment{ended: make(chan struct{}), drained: make(chan struct{}), conn: w}
	// The wait outlives the call that starts it; release ends it.
	waiting, leave := context.WithCancel(context.WithoutCancel(ctx))
	var in *wire
	at.release = func() {
		leave()
		w.Close()
		if in != nil {
			in.Close()
		}
	}
	defer func() {
		if err != nil {
			at.close()
		}
	}()
	if s.stdin {
		// A connection of its own: Podman ends an attached connection, output and all, when the command no longer reads (measured on 4.3.1).
		// Its container monitor sends output to every connection, whatever that asked for, and waits for the slowest: so there the output
		// is asked for here too, and dropped.
		streams := []string{"stdin"}
		if a.isPodman() {
			streams = append(streams, s.output()...)
		}
		if in, err = a.attach(asking, name, streams...); err != nil {
			return nil, &startError{"attach", causeOf(asking, err)}
		}
		go drop(in)
		if _, ok := in.Conn.(closeWriter); !ok {
			return nil, &startError{"attach", fmt.Errorf("the connection to %s cannot be half-closed: %w", a.at.host, errors.ErrUnsupported)}
		}
		at.stdin = &stdin{conn: in.Conn}
	}
	if err := a.awaitExit(asking, waiting, name, at); err != nil {
		return nil, &startError{"wait", causeOf(asking, err)}
	}
	go at.pump(w, s)
	if s.ready != nil {
		if err := s.ready(); err != nil {
			at.close()
			<-at.drained
			return nil, &startError{"attach", err}
		}
	}
	if err := a.cli.ContainerStart(asking, name, container.StartOptions{}); err != nil {
		at.close()
		<-at.drained
		return nil, &startError{"start", causeOf(asking, err)}
	}
	return at, nil
}

// output names the streams a start reads.
func (s startOptions) output() []string {
	if s.terminal {
		return []string{"stdout"}
	}
	return []string{"stdout", "stderr"}
}

// attach connects to streams of a container.
func (a *api) attach(ctx context.Context, name string, streams ...string) (*wire, error) {
	q := url.Values{"stream": {"1"}}
	for _, s := range streams {
		q.Set(s, "1")
	}
	return a.hijack(ctx, "/containers/"+url.PathEscape(name)+"/attach", q, nil)
}

// awaitExit asks for the next exit and returns when the engine has taken the question. The answer is left in at.
func (a *api) awaitExit(asking, waiting context.Context, name string, at *attachment) error {
	taken := make(chan struct{})
	go func() {
		defer close(at.ended)
		answer, failed := a.cli.ContainerWait(waiting, name, container.WaitConditionNextExit)
		// An answer that is there at once is no question taken.
		select {
		case r := <-answer:
			at.answer(r)
			return
		case at.waitErr = <-failed:
			return
		default:
			close(taken)
		}
		// One of the two always comes, also after waiting ended: leaving before would leave the client's own goroutine behind.
		select {
		case r := <-answer:
			at.answer(r)
		case at.waitErr = <-failed:
		}
	}()
	select {
	case <-taken:
		return nil
	case <-at.ended:
		if at.waitErr != nil {
			return at.waitErr
		}
		return fmt.Errorf("the engine answered a wait for the next exit of a container that was not started, with status %d", at.code)
	case <-asking.Done():
		return context.Cause(asking)
	}
}

// answer takes what the engine answered to the wait.
func (a *attachment) answer(r container.WaitResponse) {
	a.code = r.StatusCode
	if r.Error != nil && r.Error.Message != "" {
		a.waitErr = fmt.Errorf("the engine's answer to the wait: %s", r.Error.Message)
	}
}

// pump copies the output to its sinks until it ends.
func (a *attachment) pump(w io.Reader, s startOptions) {
	defer close(a.drained)
	r := hurried{a, w}
	var err error
	if s.terminal {
		err = copyRaw(s.stdout, r)
	} else {
		err = demux(r, s.stdout, s.stderr)
	}
	a.streamErr = stopReading(r, err)
}

// copyRaw copies a terminal's stream, which has no frames.
func copyRaw(to io.Writer, r io.Reader) error {
	buf := make([]byte, frameBuffer)
	for {
		n, err := r.Read(buf)
		if n > 0 {
			if _, werr := to.Write(buf[:n]); werr != nil {
				return &sinkError{werr}
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// drop reads a connection until it ends or is closed.
func drop(w *wire) { _, _ = io.Copy(io.Discard, w) }

// stdin is the writing end of an attached connection.
type stdin struct{ conn net.Conn }

// Write gives os.ErrClosed after Close, and the connection's error when the command or the engine has gone.
func (s *stdin) Write(p []byte) (int, error) {
	n, err := s.conn.Write(p)
	if errors.Is(err, net.ErrClosed) {
		err = os.ErrClosed
	}
	return n, err
}

// Close half-closes: the command reads end of file, its output still comes. Idempotent.
func (s *stdin) Close() error {
	err := halfClose(s.conn)
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
