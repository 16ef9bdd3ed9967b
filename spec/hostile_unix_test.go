//go:build unix

package spec

import (
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestHostileShapesAreRefusedSoon(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"lists in each other", "sbx: " + strings.Repeat("[", 500_000), "this is not YAML"},
		{"mappings in each other", "sbx: " + strings.Repeat("{a: ", 30) + "1" + strings.Repeat("}", 30), "more than 24 deep"},
		{"a long text", "summary: " + strings.Repeat("a", maxText+1), "a text of 4097 characters"},
		{"a long key", strings.Repeat("a", 900) + ": 1", "unknown key"},
		{"many keys", strings.Repeat("a: 1\n", 100_000), "stands twice"},
		{"bytes that are no text", "sbx: \xff", "is not UTF-8"},
		{"a NUL", "sbx: \x00", "this is not YAML"},
	} {
		t.Run(c.name, func(t *testing.T) {
			begin := processorTime(t)
			_, diagnostics := Load("hostile.yaml", inMemory(map[string]string{"hostile.yaml": c.text}))
			if len(diagnostics) == 0 || !strings.Contains(diagnostics.Error(), c.want) {
				t.Errorf("got %.300s, want %q", diagnostics.Error(), c.want)
			}
			// A quarter of a second on its own, some times that under the race detector; what explodes takes hours.
			if took := processorTime(t) - begin; took > 20*time.Second {
				t.Errorf("it took %s", took)
			}
		})
	}
}

// processorTime is what this process has used of the processors so far: unlike the time on the wall, it says nothing of what else the
// machine does.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
