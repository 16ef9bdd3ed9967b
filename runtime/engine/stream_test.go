package engine

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"hash"
	"runtime"
	"sync"
	"testing"
	"time"

	sbx "github.com/sbxkit/sbxkit/runtime"
)

// spewed hashes what "sbx-probe spew n" writes: lines of 64 bytes that count up.
func spewed(n int64) [sha256.Size]byte {
	h := sha256.New()
	for line, left := 0, n; left > 0; line++ {
		b := fmt.Appendf(nil, "%063d\n", line)
		b = b[:min(left, int64(len(b)))]
		h.Write(b)
		left -= int64(len(b))
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// gated hashes what it is written, and holds the writer after its first bytes until the gate opens.
type gated struct {
	mu   sync.Mutex
	n    int64
	hash hash.Hash
	gate chan struct{}
}

func newGated() *gated { return &gated{hash: sha256.New(), gate: make(chan struct{})} }

func (g *gated) Write(p []byte) (int, error) {
	g.mu.Lock()
	g.n += int64(len(p))
	g.hash.Write(p)
	g.mu.Unlock()
	<-g.gate
	return len(p), nil
}

func (g *gated) size() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.n
}

// TestASlowReaderLosesNothingAndCostsNoMemory holds back the reader of a stream that is far larger than any buffer on the way.
func TestASlowReaderLosesNothingAndCostsNoMemory(t *testing.T) {
	const size = 32 << 20
	eachEngine(t, func(t *testing.T, e underTest) {
		l := prepare(t, e.backend(t), e.request("sbx-probe", "spew", fmt.Sprint(size)))
		if err := l.stage(); err != nil {
			t.Fatal(err)
		}
		out := newGated()
		p, err := l.res.Start(within(t), &sbx.StartRequest{Stdout: sbx.Output{Writer: out}, Stderr: sbx.Output{Writer: &l.err}})
		if err != nil {
			t.Fatal(err)
		}
		waitFor(t, "the first bytes", func() bool { return out.size() > 0 })
		if i, err := p.(*process).link.inspect(within(t), l.plan.Token.Name); err != nil || !state(i).Running {
			t.Fatalf("the command ended while nobody read: %v", err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		close(out.gate)
		x, err := p.Wait(within(t), 5*time.Second)
		if err != nil || !x.Ran || x.Code != 0 || x.DrainCut {
			t.Fatalf("%+v, %v", x, err)
		}
		runtime.ReadMemStats(&after)
		if got := [sha256.Size]byte(out.hash.Sum(nil)); out.n != size || got != spewed(size) {
			t.Errorf("%d bytes of %d, or not the same", out.n, size)
		}
		if grown := int64(after.TotalAlloc - before.TotalAlloc); grown > 16<<20 {
			t.Errorf("allocated %d bytes to copy %d", grown, size)
		}
	})
}

func TestBinaryOutputAndBothStreamsKeepTheirBytes(t *testing.T) {
	eachEngine(t, func(t *testing.T, e underTest) {
		r := e.request("cat")
		r.Stdin = sbx.StdinPipe
		l := launch(t, e.backend(t), r)
		var in []byte
		for n := range 1 << 16 {
			in = append(in, byte(n), byte(n>>8), 0, 1, '\n', '\r', 255)
		}
		go func() {
			if _, err := l.proc.Stdin().Write(in); err != nil {
				t.Error(err)
			}
			if err := l.proc.Stdin().Close(); err != nil {
				t.Error(err)
			}
		}()
		if x := l.wait(); x.Code != 0 {
			t.Errorf("%+v", x)
		}
		if !bytes.Equal(l.out.b.Bytes(), in) {
			t.Errorf("%d bytes came back of %d, or not the same", l.out.b.Len(), len(in))
		}

		l = launch(t, e.backend(t), e.request("sbx-probe", "spew", "4000000", "both"))
		if x := l.wait(); x.Code != 0 {
			t.Errorf("%+v", x)
		}
		for name, b := range map[string]*bytes.Buffer{"stdout": &l.out.b, "stderr": &l.err.b} {
			if sha256.Sum256(b.Bytes()) != spewed(4000000) {
				t.Errorf("%s: %d bytes, or not the same", name, b.Len())
			}
		}
	})
}

func TestACommandThatClosesItsStreamsEarlyStillEndsWell(t *testing.T) {
	eachEngine(t, func(t *testing.T, e underTest) {
		for _, c := range []struct{ name, script, out string }{
			{"closes stdin at once", "exec <&-; echo on; exit 4", "on\n"},
			{"closes stdout and stderr at once", "exec >&- 2>&-; sleep 0.2; exit 4", ""},
		} {
			t.Run(c.name, func(t *testing.T) {
				r := e.request("sh", "-c", c.script)
				r.Stdin = sbx.StdinPipe
				l := launch(t, e.backend(t), r)
				// Writing to a command that does not read may fail, and never blocks the end.
				go func() {
					_, _ = l.proc.Stdin().Write(make([]byte, 1<<20))
					_ = l.proc.Stdin().Close()
				}()
				if x := l.wait(); x.Code != 4 || l.out.String() != c.out {
					t.Errorf("%+v, stdout %q", x, l.out.String())
				}
			})
		}
	})
}

func TestADuplexSessionKeepsItsBytes(t *testing.T) {
	eachEngine(t, func(t *testing.T, e underTest) {
		r := e.request("cat")
		r.Stdin = sbx.StdinPipe
		l := launch(t, e.backend(t), r)
		sent := ""
		for n := range 200 {
			line := fmt.Sprintf("{\"id\":%d}\n", n)
			if _, err := l.proc.Stdin().Write([]byte(line)); err != nil {
				t.Fatal(err)
			}
			sent += line
			waitFor(t, "the answer", func() bool { return l.out.String() == sent })
		}
		if err := l.proc.Stdin().Close(); err != nil {
			t.Fatal(err)
		}
		if x := l.wait(); x.Code != 0 {
			t.Errorf("%+v", x)
		}
	})
}
