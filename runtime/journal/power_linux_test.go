package journal_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/journal"
)

// TestAPowerFailureLeavesTheLastRecordOrTheOneBefore plays what a disk can hold of a run whose records are kept there: the names of an earlier
// time, since only contents are waited for, and one file that is not whole, the one that was being written. Neither hides what was kept.
func TestAPowerFailureLeavesTheLastRecordOrTheOneBefore(t *testing.T) {
	steps := []runtime.Step{runtime.StepStage, runtime.StepCharge, runtime.StepStart, runtime.StepCapture}
	tear := func(t *testing.T, path string) {
		if err := os.WriteFile(path, append([]byte(read(t, path)[:100]), make([]byte, 100)...), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	exchange := func(t *testing.T, a, b string) {
		if err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE); err != nil {
			t.Fatal(err)
		}
	}
	now, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		synced bool
		damage func(t *testing.T, record, spare string)
		want   runtime.Step // empty for a record that nothing is derived from
		up     bool         // in this very boot
	}{
		{"nothing", true, func(*testing.T, string, string) {}, runtime.StepCapture, false},
		{"the names of before", true, exchange, runtime.StepCapture, false},
		{"the next was being written", true, func(t *testing.T, _, spare string) { tear(t, spare) }, runtime.StepCapture, false},
		{"the last was being written", true, func(t *testing.T, record, _ string) { tear(t, record) }, runtime.StepStart, false},
		{"the last was being written, under the names of before", true, func(t *testing.T, record, spare string) {
			tear(t, record)
			exchange(t, record, spare)
		}, runtime.StepStart, false},
		{"both", true, func(t *testing.T, record, spare string) {
			tear(t, record)
			tear(t, spare)
		}, "", false},
		{name: "the last, and the machine was up all the time", synced: true, up: true, damage: func(t *testing.T, record, _ string) { tear(t, record) }},
		{"a record that nobody asked to keep", false, func(t *testing.T, record, _ string) { tear(t, record) }, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := open(t, filepath.Join(t.TempDir(), "state"))
			e := create(t, j, "a")
			r := record(j, "a")
			if c.up {
				r.BootID = strings.TrimSpace(string(now))
			}
			for _, r.Step = range steps {
				if err := e.Update(r, c.synced); err != nil {
					t.Fatal(err)
				}
			}
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			c.damage(t, e.Dir()+"/record.json", e.Dir()+"/.record.json.spare")
			if c.want == "" {
				list(t, j).is(t, nil, nil, 1)
				if _, err := j.Take(t.Context(), "a"); !errors.Is(err, journal.ErrCorrupt) {
					t.Errorf("taken: %v", err)
				}
				return
			}
			list(t, j).is(t, nil, []string{"a"}, 0)
			e, err := j.Take(t.Context(), "a")
			if err != nil {
				t.Fatal(err)
			}
			defer closes(t, e)
			if got := e.Record().Step; got != c.want {
				t.Errorf("the record is of step %s, want %s", got, c.want)
			}
			// What follows is the newest again, whether or not it is asked to be kept.
			for n, sync := range []bool{true, false, true} {
				r.Step, r.Code = runtime.StepRemove, n
				if err := e.Update(r, sync); err != nil {
					t.Fatal(err)
				}
				if err := j.List(t.Context(), func(have runtime.Record, _ bool) error {
					if have.Step != runtime.StepRemove || have.Code != n {
						t.Errorf("after update %d: %s %d", n, have.Step, have.Code)
					}
					return nil
				}, func(_ string, err error) { t.Error(err) }); err != nil {
					t.Fatal(err)
				}
			}
			if err := e.Remove(); err != nil {
				t.Fatal(err)
			}
		})
	}
}
