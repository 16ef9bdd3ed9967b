//go:build linux

package enginetest

import (
	"crypto/sha256"
	"fmt"
	"hash"
	goruntime "runtime"
	"slices"
	"sync"
	"testing"

	"github.com/sbxkit/sbxkit/internal/testhost"
	sbx "github.com/sbxkit/sbxkit/runtime"
	driver "github.com/sbxkit/sbxkit/runtime/engine"
)

// What is written: as much as the policy of the engines lets a command write, and what is enough to fill every buffer on the way many times.
const (
	flood = 1 << 30
	spate = 64 << 20
)

// flooded is the digest of what "sbx-probe spew" writes: lines of 64 bytes that count up. A thousand lines differ from the thousand before in
// what stands before their last three digits, which alone is written anew: to print each line takes the race detector minutes.
func flooded(size int64) [sha256.Size]byte {
	const lines = 1000
	h := sha256.New()
	var block []byte
	for n := range lines {
		block = fmt.Appendf(block, "%063d\n", n)
	}
	for n := int64(0); n < size; n += int64(len(block)) {
		thousands := fmt.Appendf(nil, "%060d", n/int64(len(block)))
		for line := range slices.Chunk(block, 64) {
			copy(line, thousands)
		}
		h.Write(block[:min(int64(len(block)), size-n)])
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// wanted are the digests of both, made once.
var wanted = map[int64]func() [sha256.Size]byte{
	flood: sync.OnceValue(func() [sha256.Size]byte { return flooded(flood) }),
	spate: sync.OnceValue(func() [sha256.Size]byte { return flooded(spate) }),
}

// slow is a reader that takes nothing beyond its first bytes until it is let, and then hashes all of it.
type slow struct {
	hash  hash.Hash
	size  int64
	first chan struct{}
	let   chan struct{}
}

func (s *slow) Write(p []byte) (int, error) {
	if s.size == 0 {
		close(s.first)
	}
	<-s.let
	s.size += int64(len(p))
	return s.hash.Write(p)
}

// TestAFloodIsReadWholeByASlowReaderInBoundedMemory holds the reader of a gibibyte back, which blocks the command and is not kept anywhere. By
// the program it is less, but in a soak.
func TestAFloodIsReadWholeByASlowReaderInBoundedMemory(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		size := int64(flood)
		if e.via == driver.ViaCLI && !testhost.Soak() {
			size = spate
		}
		out := &slow{hash: sha256.New(), first: make(chan struct{}), let: make(chan struct{})}
		run, err := e.start(t, sbx.Launch{Argv: []string{"sbx-probe", "spew", fmt.Sprint(size)}, Image: sbx.Image{Ref: e.image}, Stdout: out})
		if err != nil {
			t.Fatal(err)
		}
		<-out.first
		select {
		case <-run.Done():
			t.Error("the command ended while nobody read")
		default:
		}
		var before, after goruntime.MemStats
		goruntime.ReadMemStats(&before)
		close(out.let)
		res, err := run.Wait(t.Context())
		if err != nil || !res.Success() || res.Evidence.DrainCut {
			t.Fatalf("%v, %v, %+v", res, err, res.Evidence)
		}
		goruntime.ReadMemStats(&after)
		if got := [sha256.Size]byte(out.hash.Sum(nil)); out.size != size || got != wanted[size]() {
			t.Errorf("%d bytes came of %d, or not the same", out.size, size)
		}
		if grown := int64(after.TotalAlloc - before.TotalAlloc); grown > 16<<20 {
			t.Errorf("allocated %d bytes for %d", grown, size)
		}
		t.Logf("%v for %d bytes", res.Usage.Wall, out.size)
	})
}
