package runtime

import (
	"bytes"
	"io"
	"testing"
)

// TestALineIsSeenOnceItsSinkHasIt: who is told that a run is ready looks into his sink next. What the seam's own pipe carries is read only
// after that, and is seen before.
func TestALineIsSeenOnceItsSinkHasIt(t *testing.T) {
	var out bytes.Buffer
	seen := ""
	s := newStreams(&Request{Ready: &Ready{Line: "up"}}, &Launch{Stdout: &out, Stderr: Pipe})
	s.out.line.fire = func() { seen = out.String() }
	if n, err := s.out.Write([]byte("up\n")); n != 3 || err != nil || seen != "up\n" {
		t.Errorf("%d, %v; told when the sink had %q", n, err, seen)
	}
	told := make(chan struct{})
	s.err.line.fire = func() { close(told) }
	go func() { _, _ = s.err.Write([]byte("up\n")) }() // it waits for its reader
	<-told
	if b, err := io.ReadAll(io.LimitReader(s.errPipe, 3)); string(b) != "up\n" || err != nil {
		t.Errorf("the pipe has %q, %v", b, err)
	}
}
