package script_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"testing"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/script"
)

// watched is a journal that tells what is asked of it, and whose first removals fail.
type watched struct {
	runtime.Journal
	tell  func(string)
	fails int
}

func (w *watched) Create(ctx context.Context, r runtime.Record) (runtime.JournalEntry, error) {
	w.tell("create")
	e, err := w.Journal.Create(ctx, r)
	return &watchedEntry{e, w}, err
}

type watchedEntry struct {
	runtime.JournalEntry
	w *watched
}

func (e *watchedEntry) Update(r runtime.Record, sync bool) error {
	e.w.tell(fmt.Sprintf("update %s sync=%v", r.Step, sync))
	return e.JournalEntry.Update(r, sync)
}

func (e *watchedEntry) Remove() error {
	if e.w.fails > 0 {
		e.w.fails--
		return syscall.EBUSY
	}
	return e.JournalEntry.Remove()
}

func TestARecordThatCannotBeRemovedIsLeftToAReconcile(t *testing.T) {
	bubble(t, func(t *testing.T) {
		j := script.NewJournal("me", "/state")
		sb, _ := sandbox(t, nil, runtime.WithJournal(&watched{j, func(string) {}, 1}))
		res, err := sb.Run(t.Context(), runtime.Launch{Argv: []string{"job"}})
		var f *runtime.Failure
		if res.Outcome != runtime.Exited || res.Success() || !errors.As(err, &f) || f.Kind != runtime.Uncertain || len(f.Left) != 1 || !errors.Is(err, syscall.EBUSY) {
			t.Fatalf("result %v, %v", res, err)
		}
		rep, err := sb.Reconcile(t.Context(), runtime.ReconcileOptions{})
		if err != nil || rep.Live != 0 || len(rep.Runs) != 1 || !rep.Runs[0].Removed || rep.Runs[0].Outcome != runtime.Exited {
			t.Errorf("reconciled %+v, %v", rep, err)
		}
	})
}

func TestARecordIsOnDiskBeforeWhatOutlivesAReboot(t *testing.T) {
	for kind, sync := range map[string]bool{"engine": true, "process": false} {
		t.Run(kind, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				var told []string
				def := definition(nil, nil)
				def.Description = driverDescription()
				def.Description.Kind = kind
				def.Description.Policy.Image = runtime.Image{Ref: "base"}
				b, err := script.New(def)
				if err != nil {
					t.Fatal(err)
				}
				defer b.World().Close()
				tell := func(s string) {
					if len(b.World().Resources()) == 0 {
						told = append(told, s)
					}
				}
				sb, err := runtime.New(b, runtime.WithJournal(&watched{script.NewJournal("me", ""), tell, 0}))
				if err != nil {
					t.Fatal(err)
				}
				if _, err := sb.Run(t.Context(), runtime.Launch{Argv: []string{"job"}}); err != nil {
					t.Fatal(err)
				}
				if got := slices.Contains(told, "update prepare sync=true"); got != sync || told[0] != "create" {
					t.Errorf("before anything existed: %q; synced %v, want %v", told, got, sync)
				}
				if slices.Contains(told, fmt.Sprintf("update remove sync=%v", !sync)) {
					t.Errorf("told %q", told)
				}
			})
		})
	}
}
