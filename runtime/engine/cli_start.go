package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
)

// start runs "start --attach": the program attaches, waits for the next exit and starts, in this order (docker/cli, cli/command/container/
// start.go). It holds the streams; what it exits with is not believed: the container's end is read by inspect.
func (c *cli) start(ctx context.Context, name string, s startOptions) (_ *attachment, err error) {
	if s.terminal {
		return nil, &startError{"attach", fmt.Errorf("a terminal by the command line program: %w", errors.ErrUnsupported)}
	}
	words := []string{"start", "--attach"}
	if s.stdin {
		words = append(words, "--interactive")
	}
	if c.isPodman() {
		// Podman's program logs on the stream that it hands on the command's standard error by, as where the command does not read its input.
		words = append([]string{"--log-level", "fatal"}, words...)
	}
	// The client lives as long as the container; release ends it.
	living, leave := context.WithCancel(context.WithoutCancel(ctx))
	cmd := c.client(living, append(words, name)...)
	if s.dir != "" {
		cmd.Dir = s.dir
	}
	cmd.WaitDelay = 0 // the streams have pipes of their own, and a drain of their own
	p, err := newClientPipes(cmd, s.stdin)
	if err != nil {
		leave()
		return nil, &startError{"attach", err}
	}
	at := &attachment{ended: make(chan struct{}), drained: make(chan struct{}), conn: p, untold: true}
	if s.stdin {
		at.stdin = &clientStdin{p.in}
	}
	at.release = func() {
		leave()
		p.close()
	}
	if s.ready != nil {
		if err := s.ready(); err != nil {
			leave()
			p.handed()
			p.close()
			return nil, &startError{"attach", err}
		}
	}
	if err := cmd.Start(); err != nil {
		leave()
		p.close()
		return nil, &startError{"attach", fmt.Errorf("starting %s: %w", c.program, err)}
	}
	p.handed()
	says := &capped{limit: maxSays}
	go at.pumpPipes(p, s, says)
	go func() {
		defer close(at.ended)
		// Any end of the client is worth a look at the container; what it says of it is not. One that was killed no longer carried the streams.
		_ = cmd.Wait()
		if cmd.ProcessState != nil && !cmd.ProcessState.Exited() {
			at.cut.Store(true)
		}
	}()
	if at.described, err = c.started(ctx, name, at); err != nil {
		at.close()
		<-at.ended
		<-at.drained
		var failed *startError
		if errors.As(err, &failed) && failed.err == errNotStarted {
			failed.err = &cliError{words: []string{"start"}, says: says.String(), err: errNotStarted, class: cerrdefs.ErrUnknown}
		}
		return nil, err
	}
	return at, nil
}

// errNotStarted is a client that ended while its container was never started.
var errNotStarted = errors.New("the container was not started")

// started waits until the engine has a time of the start, or the client has ended without one, and gives the description that has it. A look
// is a process of the program, as costly as what it looks for, which takes an engine a tenth of a second alone.
func (c *cli) started(ctx context.Context, name string, at *attachment) (*container.InspectResponse, error) {
	asking, cancel := bounded(ctx, c.limit.start, "start")
	defer cancel()
	for pause := 10 * c.limit.poll; ; pause = min(2*pause, 100*time.Millisecond) {
		select {
		case <-at.ended:
		case <-asking.Done():
		case <-time.After(pause):
		}
		gone := ended(at)
		i, err := c.inspect(asking, name)
		if err == nil {
			if _, ok := startedAt(i); ok {
				return i, nil
			}
			if gone {
				return nil, &startError{"start", errNotStarted}
			}
		}
		if asking.Err() != nil {
			return nil, &startError{"start", context.Cause(asking)}
		}
		if gone && err != nil {
			return nil, &startError{"start", err}
		}
	}
}

// clientPipes are a client's three streams. Both ends are pipes of ours, so that reads can have deadlines.
type clientPipes struct {
	in       *os.File // nil without stdin
	out, err *os.File
	child    []*os.File
	once     sync.Once
}

func newClientPipes(cmd *exec.Cmd, stdin bool) (_ *clientPipes, err error) {
	p := &clientPipes{}
	defer func() {
		if err != nil {
			p.handed()
			p.close()
		}
	}()
	var child *os.File
	if stdin {
		if child, p.in, err = os.Pipe(); err != nil {
			return nil, err
		}
		p.child = append(p.child, child)
		cmd.Stdin = child
	}
	if p.out, child, err = os.Pipe(); err != nil {
		return nil, err
	}
	p.child = append(p.child, child)
	cmd.Stdout = child
	if p.err, child, err = os.Pipe(); err != nil {
		return nil, err
	}
	p.child = append(p.child, child)
	cmd.Stderr = child
	return p, nil
}

// clientStdin is the writing end of a client's stdin.
type clientStdin struct{ *os.File }

// Close ends the input. Idempotent.
func (s *clientStdin) Close() error {
	if err := s.File.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}

// handed closes the child's ends once the child has them.
func (p *clientPipes) handed() {
	for _, f := range p.child {
		_ = f.Close()
	}
	p.child = nil
}

func (p *clientPipes) close() {
	p.once.Do(func() {
		for _, f := range []*os.File{p.in, p.out, p.err} {
			if f != nil {
				_ = f.Close()
			}
		}
	})
}

// SetReadDeadline bounds the reads of both outputs.
func (p *clientPipes) SetReadDeadline(t time.Time) error {
	return errors.Join(p.out.SetReadDeadline(t), p.err.SetReadDeadline(t))
}

// pumpPipes copies both outputs to their sinks until they end; each has a goroutine of its own, and says keeps the beginning of the second
// for a start that fails.
func (a *attachment) pumpPipes(p *clientPipes, s startOptions, says io.Writer) {
	defer close(a.drained)
	var wait sync.WaitGroup
	var errs [2]error
	for n, x := range []struct {
		from io.Reader
		to   io.Writer
	}{{p.out, s.stdout}, {p.err, io.MultiWriter(says, s.stderr)}} {
		wait.Go(func() {
			r := hurried{a, x.from}
			errs[n] = stopReading(r, copyRaw(x.to, r))
		})
	}
	wait.Wait()
	for n, err := range errs {
		if errors.Is(err, os.ErrClosed) || errors.Is(err, syscall.EIO) {
			errs[n] = nil
		}
	}
	a.streamErr = errors.Join(errs[:]...)
}
