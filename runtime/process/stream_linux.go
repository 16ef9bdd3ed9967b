package process

import (
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sbxkit/sbxkit/runtime"
)

// stream copies what the command writes to a pipe into a sink, from one goroutine, with one buffer.
type stream struct {
	reader *os.File
	sink   io.Writer
	done   chan struct{}
	// patience is how long one read may wait, in nanoseconds, once the command has ended; 0 before.
	patience atomic.Int64
	cut      bool // read after done
	err      error
	size     int64
}

// streamBuffer is a pipe's default capacity: what the kernel can have for us at once.
const streamBuffer = 64 << 10

var streamBuffers = sync.Pool{New: func() any { b := make([]byte, streamBuffer); return &b }}

func newStream(reader *os.File, sink io.Writer) *stream {
	return &stream{reader: reader, sink: sink, done: make(chan struct{})}
}

// copy runs until end of file, or until the stream is cut.
func (s *stream) copy() {
	defer close(s.done)
	defer s.reader.Close()
	buf := streamBuffers.Get().(*[]byte)
	defer streamBuffers.Put(buf)
	for {
		if p := s.patience.Load(); p > 0 {
			s.reader.SetReadDeadline(time.Now().Add(time.Duration(p)))
		}
		n, err := s.reader.Read(*buf)
		if n > 0 {
			s.size += int64(n)
			// An Output's Writer drops what it does not want and returns no error.
			s.sink.Write((*buf)[:n])
		}
		switch {
		case err == nil:
		case errors.Is(err, io.EOF):
			return
		case errors.Is(err, unix.EIO):
			// The end of a pseudo-terminal: its last user closed it.
			return
		case errors.Is(err, os.ErrDeadlineExceeded):
			// A read is refused once its deadline passed, whether or not there is something: what stands in the pipe is not lost.
			end, err := s.rest(*buf)
			s.cut, s.err = !end, err
			return
		default:
			s.err = err
			return
		}
	}
}

// rest copies what stands in the pipe now, without waiting, and reports whether that was the end of the stream.
func (s *stream) rest(buf []byte) (end bool, err error) {
	conn, err := s.reader.SyscallConn()
	if err != nil {
		return false, err
	}
	// At most a pipe's capacity: somebody who goes on writing is not the command.
	left := 1 << 20
	ctlErr := conn.Control(func(fd uintptr) {
		for left > 0 {
			n, rerr := unix.Read(int(fd), buf)
			switch {
			case errors.Is(rerr, unix.EINTR):
				continue
			case errors.Is(rerr, unix.EAGAIN):
				return
			case errors.Is(rerr, unix.EIO):
				end = true
				return
			case rerr != nil:
				err = rerr
				return
			case n == 0:
				end = true
				return
			}
			left -= n
			s.size += int64(n)
			s.sink.Write(buf[:n])
		}
	})
	return end, errors.Join(err, ctlErr)
}

// end says that the command has ended: from now on a read waits at most for drain with nothing to read.
func (s *stream) end(drain time.Duration) {
	if drain <= 0 {
		drain = 1 // nanosecond: what is there is still read
	}
	s.patience.Store(int64(drain))
	s.reader.SetReadDeadline(time.Now().Add(drain))
}

// discard takes what stands in the pipe now, without waiting, up to limit bytes: words of the launcher, before the command exists.
func (s *stream) discard(limit int) []byte {
	return takeNow(s.reader, limit)
}

func takeNow(f *os.File, limit int) (out []byte) {
	conn, err := f.SyscallConn()
	if err != nil {
		return nil
	}
	conn.Control(func(fd uintptr) { out = takeFrom(int(fd), limit) })
	return out
}

// takeFrom reads a non-blocking descriptor empty and keeps the first limit bytes.
func takeFrom(fd, limit int) []byte {
	var out []byte
	var buf [4096]byte
	for {
		n, err := unix.Read(fd, buf[:])
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || n == 0 {
			return out
		}
		if room := limit - len(out); room > 0 {
			out = append(out, buf[:min(n, room)]...)
		}
	}
}

// halfCloser is the writing end of a command's stdin.
type halfCloser struct{ *os.File }

var _ io.WriteCloser = halfCloser{}

// streams connects the three streams as the start asks for, into t.
func (p *process) streams(t *table, r *runtime.StartRequest, same bool) error {
	if size := p.req.Terminal; size != nil {
		if r.Stdout.Writer == nil {
			return errors.New("a terminal's stream needs a writer to go to")
		}
		return p.terminal(t, r, size)
	}
	switch r.Stdin {
	case runtime.StdinPipe:
		w, err := t.writer(0, "stdin")
		if err != nil {
			return err
		}
		p.stdin = halfCloser{w}
	case runtime.StdinFile:
		if r.StdinFile == nil {
			return errors.New("stdin is a file, and none was given")
		}
		if err := t.file(0, r.StdinFile); err != nil {
			return err
		}
	default:
		if err := t.null(0); err != nil {
			return err
		}
	}
	if err := p.output(t, 1, "stdout", r.Stdout); err != nil {
		return err
	}
	if same {
		return t.place(2, int(t.files[1]), false)
	}
	return p.output(t, 2, "stderr", r.Stderr)
}

func (p *process) output(t *table, n int, name string, o runtime.Output) error {
	if o.File != nil {
		return t.file(n, o.File)
	}
	if o.Writer == nil {
		return t.null(n)
	}
	f, err := t.reader(n, name)
	if err != nil {
		return err
	}
	s := newStream(f, o.Writer)
	p.outputs[n-1] = s
	return nil
}
