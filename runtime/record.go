package runtime

import (
	"os"
	"strings"
	"sync"
	"time"
)

// RecordVersion is the version of journal records this package writes; newer ones are refused.
const RecordVersion = 1

// record writes the run's record at a step boundary. A run whose resources outlive a reboot (an engine's) is synced to disk.
func (r *Run) record(step Step, done bool) error {
	if r.entry == nil {
		return nil
	}
	r.mu.Lock()
	r.rec.Step, r.rec.Done, r.rec.Token, r.rec.Charged, r.rec.Updated = step, done, r.token, r.charged, time.Now().UnixNano()
	rec := r.rec
	r.mu.Unlock()
	return r.entry.Update(rec, outlivesReboot(r.backend))
}

// outlivesReboot reports whether what a run makes can still be there when the machine comes up again: then so must its record.
func outlivesReboot(b Backend) bool { return b.Describe().Kind == "engine" }

// BootID is the kernel's random id of this boot (random(4)), by which a record and a process's start time are told from those of another;
// empty where there is none. It is read once.
func BootID() string { return bootID() }

var bootID = sync.OnceValue(func() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
})
