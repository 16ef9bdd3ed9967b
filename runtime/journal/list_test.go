package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	goruntime "runtime"
	"testing"

	"github.com/sbxkit/sbxkit/runtime"
)

// many fills a journal with n dead runs: the files that Create would make, at less cost (one lock file under many names).
func many(tb testing.TB, n int) *Journal {
	tb.Helper()
	base := tb.TempDir()
	if d, err := os.MkdirTemp("/dev/shm", "sbx-journal-test-"); err == nil { // quicker than a disk
		tb.Cleanup(func() { os.RemoveAll(d) })
		base = d
	}
	j, err := Open(tb.Context(), filepath.Join(base, "state"))
	if err != nil {
		tb.Fatal(err)
	}
	lock := filepath.Join(base, "lock")
	if err := os.WriteFile(lock, nil, filePerm); err != nil {
		tb.Fatal(err)
	}
	r := runtime.Record{Backend: "fake", Step: runtime.StepStart, Token: runtime.Token{Paths: []string{"/tmp/x"}}}
	for i := range n {
		r.Run = runtime.RunName{ID: fmt.Sprintf("run-%d", i), Owner: j.Owner()}
		b, err := encode(r)
		if err != nil {
			tb.Fatal(err)
		}
		dir := j.RunDir(r.Run.ID)
		if err := errors.Join(os.Mkdir(dir, dirPerm), os.WriteFile(filepath.Join(dir, recordName), b, filePerm), os.Link(lock, filepath.Join(dir, lockName))); err != nil {
			tb.Fatal(err)
		}
	}
	return j
}

func TestAHundredThousandRecordsAreListedInBoundedMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("takes several seconds")
	}
	const n = 100_000
	j := many(t, n)
	var before, now goruntime.MemStats
	goruntime.GC()
	goruntime.ReadMemStats(&before)
	seen, peak := 0, uint64(0)
	err := j.List(t.Context(), func(_ runtime.Record, live bool) error {
		if live {
			return errors.New("a dead run is live")
		}
		if seen++; seen%(n/20) == 0 {
			goruntime.GC()
			goruntime.ReadMemStats(&now)
			peak = max(peak, now.HeapAlloc)
		}
		return nil
	}, func(p string, err error) { t.Errorf("%s: %v", p, err) })
	if err != nil || seen != n {
		t.Fatalf("listed %d, %v", seen, err)
	}
	if grown := int64(peak) - int64(before.HeapAlloc); grown > 4<<20 {
		t.Errorf("the listing held %d bytes", grown)
	}
}

func BenchmarkList(b *testing.B) {
	j := many(b, 1000)
	b.ReportAllocs()
	for b.Loop() {
		if err := j.List(b.Context(), func(runtime.Record, bool) error { return nil }, func(p string, err error) { b.Errorf("%s: %v", p, err) }); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/1000, "µs/record")
}

func BenchmarkUpdate(b *testing.B) {
	for _, sync := range []bool{false, true} {
		b.Run(fmt.Sprintf("sync=%v", sync), func(b *testing.B) {
			j, err := Open(b.Context(), filepath.Join(b.TempDir(), "state"))
			if err != nil {
				b.Fatal(err)
			}
			run := runtime.RunName{ID: "a", Owner: j.Owner()}
			e, err := j.Create(b.Context(), runtime.Record{Run: run, Backend: "fake", Step: runtime.StepPrepare})
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() {
				if err := e.Close(); err != nil {
					b.Error(err)
				}
			})
			r := e.Record()
			for b.Loop() {
				if err := e.Update(r, sync); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
