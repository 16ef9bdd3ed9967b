package engine

import (
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/docker/docker/api/types/container"
)

// attachment is what holds a started container: its streams, and the engine's word on its next exit. Its goroutines end with it: close
// ends them, save for one that is inside a sink's Write.
type attachment struct {
	// stdin is the writing end; nil without one. Close half-closes.
	stdin io.WriteCloser
	// ended is closed when the engine answered the wait, or the wait broke; code and waitErr are set before.
	ended   chan struct{}
	code    int64
	waitErr error
	// untold is true where the end is all that is told, and no status with it.
	untold bool
	// drained is closed when the output came to its end; streamErr is set before, nil for a clean end.
	drained   chan struct{}
	streamErr error
	// cut is true where hurry ended a stream that was still held open.
	cut atomic.Bool

	// described is the engine's record of the started container, where it was read to see it started; else nil.
	described *container.InspectResponse

	conn    deadliner
	patient atomic.Int64 // nanoseconds a read may wait once hurried; 0 before
	release func()
	once    sync.Once
}

// deadliner is a connection whose reads can be bounded.
type deadliner interface {
	SetReadDeadline(time.Time) error
}

// told reports whether the engine answered the wait, or the wait broke, and then why it broke.
func (a *attachment) told() (bool, error) {
	if !ended(a) {
		return false, nil
	}
	return true, a.waitErr
}

// close gives up the streams and the wait. Idempotent.
func (a *attachment) close() { a.once.Do(a.release) }

// hurry bounds each further read of output by d: an engine closes the streams of a container that has ended, and a read that waits
// longer waits for somebody who holds them open. The time a slow sink takes is not counted.
func (a *attachment) hurry(d time.Duration) {
	if d <= 0 {
		d = time.Nanosecond
	}
	a.patient.Store(int64(d))
	// The read that waits now began before; those to come set their own deadline.
	_ = a.conn.SetReadDeadline(time.Now().Add(d))
}

// Read reads output with the deadline that hurry asks for.
type hurried struct {
	a *attachment
	r io.Reader
}

func (h hurried) Read(p []byte) (int, error) {
	if d := h.a.patient.Load(); d > 0 {
		if err := h.a.conn.SetReadDeadline(time.Now().Add(time.Duration(d))); err != nil {
			return 0, err
		}
	}
	n, err := h.r.Read(p)
	if err != nil && errors.Is(err, os.ErrDeadlineExceeded) {
		h.a.cut.Store(true)
	}
	return n, err
}

// stopReading drops the rest of a stream whose sink failed, so that the command is not blocked by it.
func stopReading(r io.Reader, err error) error {
	var sink *sinkError
	if !errors.As(err, &sink) {
		return err
	}
	if _, e := io.Copy(io.Discard, r); e != nil && !errors.Is(e, os.ErrDeadlineExceeded) {
		return errors.Join(err, e)
	}
	return err
}
