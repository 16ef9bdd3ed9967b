package engine

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func frame(stream byte, data string) string {
	h := make([]byte, frameHeader)
	h[0] = stream
	binary.BigEndian.PutUint32(h[4:], uint32(len(data)))
	return string(h) + data
}

func TestDemuxKeepsBytesAndRefusesWhatIsNoFrame(t *testing.T) {
	long := strings.Repeat("0123456789", 3*frameBuffer/10)
	claimed := func(n uint32) string {
		h := make([]byte, frameHeader)
		h[0] = 1
		binary.BigEndian.PutUint32(h[4:], n)
		return string(h)
	}
	for _, c := range []struct {
		name, in, out, err string
		want               string // in the error; empty for none
		cut                bool   // the error is io.ErrUnexpectedEOF
	}{
		{"nothing", "", "", "", "", false},
		{"both streams", frame(1, "a") + frame(2, "b") + frame(1, "c"), "ac", "b", "", false},
		{"stdin's own echo", frame(0, "x"), "x", "", "", false},
		{"an empty frame", frame(1, "") + frame(2, "z"), "", "z", "", false},
		{"binary", frame(1, "\x00\xff\x01\x00\n"), "\x00\xff\x01\x00\n", "", "", false},
		{"longer than the buffer", frame(1, long), long, "", "", false},
		{"cut in a header", frame(1, "a") + "\x01\x00\x00", "a", "", "header", true},
		{"cut in a frame", frame(1, "a") + frame(1, "bcd")[:frameHeader+2], "abc", "", "before the end", true},
		{"cut after a header", claimed(5), "", "", "before the end", true},
		{"over the cap", claimed(maxFrame + 1), "", "", "cap", false},
		{"a length of 4 GiB", claimed(1<<32 - 1), "", "", "cap", false},
		{"no such stream", frame(9, "a"), "", "", "not a frame", false},
		{"text that was never framed", "hello world, this is raw", "", "", "not a frame", false},
		{"an error of the engine", frame(1, "a") + frame(3, "out of paper"), "a", "", "out of paper", false},
		{"an error frame that is cut", frame(3, "abc")[:frameHeader+1], "", "", "error frame", true},
	} {
		for name, r := range map[string]io.Reader{"whole": strings.NewReader(c.in), "byte by byte": iotest.OneByteReader(strings.NewReader(c.in)), "data with EOF": iotest.DataErrReader(strings.NewReader(c.in))} {
			t.Run(c.name+"/"+name, func(t *testing.T) {
				var out, errs bytes.Buffer
				err := demux(r, &out, &errs)
				if out.String() != c.out || errs.String() != c.err {
					t.Errorf("stdout %q, stderr %q", out.String(), errs.String())
				}
				var f *frameError
				switch {
				case c.want == "":
					if err != nil {
						t.Error(err)
					}
				case !errors.As(err, &f) || !strings.Contains(err.Error(), c.want) || errors.Is(err, io.ErrUnexpectedEOF) != c.cut:
					t.Errorf("%v, want one about %q, cut %v", err, c.want, c.cut)
				}
			})
		}
	}
}

func TestDemuxTellsAFailingSinkFromAFailingStream(t *testing.T) {
	err := demux(strings.NewReader(frame(1, "abc")), failing{}, io.Discard)
	var sink *sinkError
	if !errors.As(err, &sink) || !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("%v", err)
	}
	err = demux(io.MultiReader(strings.NewReader(frame(1, "abc")), iotest.ErrReader(io.ErrNoProgress)), io.Discard, io.Discard)
	if errors.As(err, &sink) || !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("%v", err)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func FuzzDemux(f *testing.F) {
	f.Add([]byte(frame(1, "a") + frame(2, "b")))
	f.Add([]byte(frame(3, "x")))
	f.Fuzz(func(t *testing.T, in []byte) {
		var out bytes.Buffer
		err := demux(bytes.NewReader(in), &out, &out)
		if out.Len() > len(in) {
			t.Fatalf("%d bytes out of %d", out.Len(), len(in))
		}
		// A stream that is taken without an error is nothing but whole frames: its bytes are what is left without the headers.
		if err == nil && (len(in)-out.Len())%frameHeader != 0 {
			t.Fatalf("%d bytes in, %d out", len(in), out.Len())
		}
	})
}
