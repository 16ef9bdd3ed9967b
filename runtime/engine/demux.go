package engine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// The streams of a container without a terminal come over one connection in frames: one byte for the stream (0 stdin, 1 stdout,
// 2 stderr, 3 an error of the engine), three zero bytes, the length as a big-endian 32-bit number, then that many bytes. Source: the
// Engine API's reference, "Attach to a container", stream format.
const (
	frameHeader = 8
	// maxFrame is the longest frame taken for one. Engines copy by buffers of at most 64 KiB; a length beyond this is not a frame but
	// bytes that were never framed, or a broken engine.
	maxFrame = 8 << 20
	// frameBuffer is how much is read at once, whatever length a header claims.
	frameBuffer = 64 << 10
	// maxEngineError bounds the text of an error frame.
	maxEngineError = 4 << 10
)

// frameError is a stream that is not one of frames, or that ended inside one.
type frameError struct {
	what string
	err  error
}

func (e *frameError) Error() string {
	if e.err != nil {
		return "the engine's output stream: " + e.what + ": " + e.err.Error()
	}
	return "the engine's output stream: " + e.what
}

func (e *frameError) Unwrap() error { return e.err }

// demux copies frames from r to the two streams until r ends between two frames. Everything else is an error: a stream that ends inside
// a frame (io.ErrUnexpectedEOF), a header that is none, a length over maxFrame, an error frame. Memory is one buffer, whatever the
// lengths say. out and err may be the same.
func demux(r io.Reader, out, err io.Writer) error {
	buf := make([]byte, frameBuffer)
	for {
		head := buf[:frameHeader]
		if n, e := io.ReadFull(r, head); e != nil {
			if errors.Is(e, io.EOF) {
				return nil
			}
			return &frameError{fmt.Sprintf("cut after %d bytes of a frame's header", n), e}
		}
		stream, length := head[0], int64(binary.BigEndian.Uint32(head[4:]))
		if stream > 3 || head[1]|head[2]|head[3] != 0 {
			return &frameError{fmt.Sprintf("%x is not a frame's header", head), nil}
		}
		if length > maxFrame {
			return &frameError{fmt.Sprintf("a frame of %d bytes, above the cap of %d", length, maxFrame), nil}
		}
		to := out
		switch stream {
		case 2:
			to = err
		case 3:
			text := make([]byte, min(length, maxEngineError))
			if _, e := io.ReadFull(r, text); e != nil {
				return &frameError{"cut in an error frame", noEOF(e)}
			}
			return &frameError{"the engine reports: " + string(text), nil}
		}
		for left := length; left > 0; {
			n, e := r.Read(buf[:min(left, frameBuffer)])
			if n > 0 {
				left -= int64(n)
				if _, werr := to.Write(buf[:n]); werr != nil {
					return &sinkError{werr}
				}
			}
			if e != nil && left > 0 {
				return &frameError{fmt.Sprintf("cut %d bytes before the end of a frame of %d", left, length), noEOF(e)}
			}
		}
	}
}

// noEOF makes an end of file that came too early look like one.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// sinkError is a failure of where the output goes, not of the stream.
type sinkError struct{ err error }

func (e *sinkError) Error() string { return "writing the command's output: " + e.err.Error() }

func (e *sinkError) Unwrap() error { return e.err }
