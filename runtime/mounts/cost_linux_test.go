//go:build !race

package mounts_test

import (
	goruntime "runtime"
	"syscall"
	"testing"
	"time"

	"github.com/sbxkit/sbxkit/runtime/mounts"
)

// TestPlanning500MountsCostsUnderATwentiethOfMountingThem measures the processor time of the thread that plans, so that other work of the
// machine does not count, and takes the best of some plans.
func TestPlanning500MountsCostsUnderATwentiethOfMountingThem(t *testing.T) {
	const mounting = 190 * time.Millisecond // bubblewrap 0.8.0, 500 binds
	goruntime.LockOSThread()
	defer goruntime.UnlockOSThread()
	in := mounts.Input{Mounts: manyBinds(t, 500), Host: mounts.OS{}}
	best := time.Hour
	for range 20 {
		before := threadTime(t)
		if _, err := mounts.Plan(in); err != nil {
			t.Fatal(err)
		}
		best = min(best, threadTime(t)-before)
	}
	t.Logf("%v of %v", best, mounting)
	if best > mounting/20 {
		t.Errorf("planning takes %v, more than a twentieth of %v", best, mounting)
	}
}

func threadTime(t *testing.T) time.Duration {
	var u syscall.Rusage
	const rusageThread = 1 // RUSAGE_THREAD, getrusage(2)
	if err := syscall.Getrusage(rusageThread, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
