package runtime

import (
	"os"
	"strings"
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

// bootID is the kernel's random id of this boot (random(4)); empty where there is none.
func bootID() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}
