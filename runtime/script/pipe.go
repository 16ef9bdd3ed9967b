package script

import (
	"context"
	"errors"
	"io"
	"sync"
	"syscall"
)

// pipeBytes is the capacity of a pipe: Linux's own (pipe(7)), so that a command whose output nobody takes blocks where a real one does.
const pipeBytes = 64 << 10

var errCut = errors.New("the stream was cut")

// pipe is a pipe in memory with a bounded buffer. Waiting is on channels alone, so that a synctest bubble's clock moves meanwhile.
type pipe struct {
	mu      sync.Mutex
	buf     []byte
	writers int
	broken  bool // nobody reads any more
	changed chan struct{}
}

func newPipe() *pipe { return &pipe{writers: 1, changed: make(chan struct{})} }

// wake tells everybody who waits that something changed; the mutex is held.
func (p *pipe) wake() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// read waits for bytes; io.EOF where no writer is left.
func (p *pipe) read(ctx context.Context, b []byte) (int, error) {
	for {
		p.mu.Lock()
		switch {
		case len(p.buf) > 0:
			n := copy(b, p.buf)
			p.buf = p.buf[n:]
			p.wake()
			p.mu.Unlock()
			return n, nil
		case p.broken:
			p.mu.Unlock()
			return 0, errCut
		case p.writers == 0:
			p.mu.Unlock()
			return 0, io.EOF
		}
		changed := p.changed
		p.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	}
}

// write waits for room; EPIPE where nobody reads.
func (p *pipe) write(ctx context.Context, b []byte) (int, error) {
	done := 0
	for {
		p.mu.Lock()
		if p.broken {
			p.mu.Unlock()
			return done, syscall.EPIPE
		}
		if n := min(len(b)-done, pipeBytes-len(p.buf)); n > 0 {
			p.buf = append(p.buf, b[done:done+n]...)
			done += n
			p.wake()
		}
		changed := p.changed
		p.mu.Unlock()
		if done == len(b) {
			return done, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return done, context.Cause(ctx)
		}
	}
}

// closeWrite takes a writer away; with the last one the reader finds the end. Beyond that it does nothing.
func (p *pipe) closeWrite() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.writers > 0 {
		p.writers--
		p.wake()
	}
}

// shut takes all writers away, and says whether one was left.
func (p *pipe) shut() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	held := p.writers > 0
	p.writers = 0
	p.wake()
	return held
}

// closeRead breaks the pipe: what is in it is lost, and its writers get EPIPE.
func (p *pipe) closeRead() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.broken = true
	p.buf = nil
	p.wake()
}
