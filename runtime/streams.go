package runtime

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// streams are a run's outputs on the driver's side: what is counted, bounded, watched for progress, and where it goes.
type streams struct {
	stdout, stderr Output
	out, err       *sink
	outPipe        *io.PipeReader
	errPipe        *io.PipeReader
	meter          *meter
	lineSeen       chan struct{}
}

// meter counts both streams of a run together. Its fields are safe for concurrent use.
type meter struct {
	total    atomic.Int64
	last     atomic.Int64 // Unix nanoseconds of the last output, 0 for none
	limit    int64        // 0 for none
	exceeded chan struct{}
	once     sync.Once
}

// take counts n bytes and says how many of them are within the limit.
func (m *meter) take(n int) int {
	m.last.Store(time.Now().UnixNano())
	total := m.total.Add(int64(n))
	if m.limit == 0 || total <= m.limit {
		return n
	}
	m.once.Do(func() { close(m.exceeded) })
	return int(max(0, m.limit-(total-int64(n))))
}

// sink is one Writer for a backend's bytes. It never refuses a write: what cannot be kept is counted.
type sink struct {
	meter   *meter
	mu      sync.Mutex
	w       io.Writer // nil discards
	refused error     // the first error of w; nothing more is written to it
	line    *lineWatch
	size    atomic.Int64
	dropped atomic.Int64
	pipe    *io.PipeWriter
}

// Write takes all of p.
func (s *sink) Write(p []byte) (int, error) {
	s.size.Add(int64(len(p)))
	keep := s.meter.take(len(p))
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.line != nil {
		// Who is told that the run is ready finds the line in his sink. Our own pipe is read only after that.
		if s.pipe != nil {
			s.line.feed(p)
		} else {
			defer s.line.feed(p)
		}
	}
	if s.w == nil || s.refused != nil {
		s.dropped.Add(int64(len(p)))
		return len(p), nil
	}
	n, err := s.w.Write(p[:keep])
	if err != nil {
		s.refused = err
	}
	s.dropped.Add(int64(len(p) - n))
	return len(p), nil
}

// lineWatch fires when text stands in one stream; it remembers just enough to find it across writes. Each stream has its own.
type lineWatch struct {
	text, tail []byte
	fire       func() // may be called by several watches, and more than once
	done       bool
}

// Write feeds the watch; it never fails. It is called from one goroutine.
func (l *lineWatch) Write(p []byte) (int, error) {
	l.feed(p)
	return len(p), nil
}

func (l *lineWatch) feed(p []byte) {
	if l.done {
		return
	}
	buf := append(l.tail, p...)
	if bytes.Contains(buf, l.text) {
		l.done = true
		l.fire()
		return
	}
	l.tail = append([]byte(nil), buf[max(0, len(buf)-len(l.text)+1):]...)
}

func newStreams(req *Request, l *Launch) *streams {
	s := &streams{meter: &meter{exceeded: make(chan struct{})}, lineSeen: make(chan struct{})}
	if req.Limits.Output != nil {
		s.meter.limit = int64(req.Limits.Output.Hard)
	}
	seen := sync.OnceFunc(func() { close(s.lineSeen) })
	watch := func() *lineWatch {
		if req.Ready == nil || req.Ready.Line == "" {
			return nil
		}
		return &lineWatch{text: []byte(req.Ready.Line), fire: seen}
	}
	// An open file goes to the command itself where nobody has to see the bytes pass.
	pass := s.meter.limit == 0 && req.Timeouts.Idle == 0 && watch() == nil && !req.Liveness
	s.stdout, s.out, s.outPipe = s.open(l.Stdout, pass, watch())
	switch {
	case req.SameSink:
		s.stderr, s.err = s.stdout, s.out
	default:
		s.stderr, s.err, s.errPipe = s.open(l.Stderr, pass, watch())
	}
	return s
}

func (s *streams) open(w io.Writer, pass bool, watch *lineWatch) (Output, *sink, *io.PipeReader) {
	if f, ok := w.(*os.File); ok && f != nil && pass && passable(f) {
		return Output{File: f}, nil, nil
	}
	k := &sink{meter: s.meter, w: w, line: watch}
	var pr *io.PipeReader
	if w == Pipe {
		pr, k.pipe = io.Pipe()
		k.w = k.pipe
	}
	return Output{Writer: k}, k, pr
}

// passable reports whether an open file may be handed to the command: never a terminal, whose input queue a command could write to
// (TIOCSTI), nor any other device but the null device.
func passable(f *os.File) bool {
	i, err := f.Stat()
	if err != nil {
		return false
	}
	return i.Mode()&fs.ModeDevice == 0 || f.Name() == os.DevNull
}

func (s *streams) outputs() (stdout, stderr Output) { return s.stdout, s.stderr }

// feed copies a launch's reader to the command's stdin and half-closes it. A command that closed its stdin early ends it.
func (s *streams) feed(r io.Reader, w io.WriteCloser) {
	_, _ = io.Copy(w, r) // a reader's error ends the input like its end; EPIPE is the command's own choice
	_ = w.Close()
}

// abandon lets writes to a reader nobody reads go through, so that a drain can end. What is lost is counted.
func (s *streams) abandon() {
	for _, p := range []*io.PipeReader{s.outPipe, s.errPipe} {
		if p != nil {
			_ = p.CloseWithError(errAbandoned)
		}
	}
}

var errAbandoned = errors.New("the run was stopped while its output was not being read")

// finish gives readers their end of file and reports what the streams saw.
func (s *streams) finish(u *Usage, e *Evidence) {
	for _, k := range []*sink{s.out, s.err} {
		if k == nil {
			continue
		}
		if k.pipe != nil {
			_ = k.pipe.Close()
		}
		k.mu.Lock()
		if k.refused != nil {
			e.Notes = append(e.Notes, "a sink refused output: "+k.refused.Error())
		}
		k.mu.Unlock()
	}
	if s.out != nil {
		u.StdoutSize, e.StdoutDropped = s.out.size.Load(), s.out.lost()
	}
	if s.err != nil && s.err != s.out {
		u.StderrSize, e.StderrDropped = s.err.size.Load(), s.err.lost()
	}
}

// lost counts what was meant to be kept and was not; a stream without a sink loses nothing anybody wanted.
func (s *sink) lost() int64 {
	if s.w == nil {
		return 0
	}
	return s.dropped.Load()
}

// lastOutput is when the run last wrote, zero for never.
func (s *streams) lastOutput() time.Time {
	if n := s.meter.last.Load(); n != 0 {
		return time.Unix(0, n)
	}
	return time.Time{}
}
