package script

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"

	"github.com/sbxkit/sbxkit/runtime"
)

type commandStdin struct{ c *Command }

// Read waits for bytes, the end of stdin, or the end of the command.
func (s commandStdin) Read(p []byte) (int, error) {
	c := s.c
	if c.run.stdinFile != nil {
		c.run.fileOnce.Do(c.run.readFile)
	}
	if c.run.stdin == nil {
		c.run.record.change(func(i *Invocation) { i.StdinEOF = true })
		return 0, io.EOF
	}
	n, err := c.run.stdin.read(c.ctx, p)
	c.run.record.change(func(i *Invocation) {
		i.StdinRead += int64(n)
		i.StdinEOF = i.StdinEOF || errors.Is(err, io.EOF)
	})
	return n, err
}

// readFile fills the stdin pipe from the file the launch gave.
func (c *command) readFile() {
	c.stdin = newPipe()
	go func() {
		defer c.stdin.closeWrite()
		buf := make([]byte, 32<<10)
		for {
			n, err := c.stdinFile.Read(buf)
			c.record.change(func(i *Invocation) { i.Stdin.add(buf[:n]) })
			if _, werr := c.stdin.write(c.ctx, buf[:n]); werr != nil || err != nil {
				if err != nil && !errors.Is(err, io.EOF) && c.ctx.Err() == nil {
					c.record.problem("reading the launch's stdin file: %w", err)
				}
				return
			}
		}
	}()
}

type commandOutput struct {
	c      *Command
	to     *sink
	record func(*Invocation, []byte)
}

// Write waits until the stream took everything, or the command ended.
func (o commandOutput) Write(p []byte) (int, error) {
	n, err := o.to.pipe.write(o.c.ctx, p)
	o.c.run.record.change(func(i *Invocation) { o.record(i, p[:n]) })
	if err != nil && !errors.Is(err, syscall.EPIPE) && o.c.ctx.Err() == nil {
		err = fmt.Errorf("writing output: %w", err)
	}
	return n, err
}

// sink is an output stream: the pipe the command writes to and where its bytes go.
type sink struct {
	pipe *pipe
	to   io.Writer
	done chan struct{} // everything was handed over, or the stream was cut
}

func newSink(o runtime.Output) (*sink, error) {
	s := &sink{pipe: newPipe(), done: make(chan struct{})}
	switch {
	case o.File != nil && o.Writer == nil:
		s.to = o.File
	case o.Writer != nil && o.File == nil:
		s.to = o.Writer
	default:
		return nil, errors.New("exactly one of an output's File and Writer must be set")
	}
	return s, nil
}

// pump hands the bytes over until the last writer closed, or the stream is cut. What a crashed controller would get is lost.
func (s *sink) pump(c *command) {
	defer c.world.running.Done()
	defer close(s.done)
	buf := make([]byte, 32<<10)
	for {
		n, err := s.pipe.read(context.Background(), buf)
		if err != nil {
			return
		}
		if c.orphan() {
			continue
		}
		if _, err := s.to.Write(buf[:n]); err != nil {
			s.pipe.closeRead()
			return
		}
	}
}
