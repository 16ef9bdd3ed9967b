package script_test

import (
	"errors"
	"io/fs"
	"syscall"
	"testing"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/script"
)

func TestJournalLocksEndWithTheController(t *testing.T) {
	j := script.NewJournal("owner", "/state")
	rec := runtime.Record{Run: runtime.RunName{ID: "a", Owner: "owner"}, Step: runtime.StepPrepare}
	e, err := j.Create(t.Context(), rec)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := j.Create(t.Context(), rec); !errors.Is(err, fs.ErrExist) {
		t.Errorf("creating the same run again: %v", err)
	}
	if _, err := j.Take(t.Context(), "a"); !errors.Is(err, runtime.ErrBusy) {
		t.Errorf("taking a live run: %v", err)
	}
	if _, err := j.Take(t.Context(), "b"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("taking no run: %v", err)
	}
	rec.Step = runtime.StepStart
	if err := e.Update(rec, false); err != nil {
		t.Fatal(err)
	}
	j.Crash()
	rec.Step = runtime.StepRemove
	if err := e.Update(rec, false); !errors.Is(err, script.ErrCrashed) {
		t.Errorf("updating after the crash: %v", err)
	}
	if err := e.Remove(); !errors.Is(err, script.ErrCrashed) {
		t.Errorf("removing after the crash: %v", err)
	}
	next, err := j.Take(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	if got := next.Record().Step; got != runtime.StepStart {
		t.Errorf("the record is at %s, want what was written before the crash", got)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := j.Take(t.Context(), "a"); !errors.Is(err, runtime.ErrBusy) {
		t.Errorf("the crashed controller gave back a lock that is another's: %v", err)
	}
	for range 10 {
		if err := next.Remove(); err != nil {
			t.Error(err)
		}
	}
	count := 0
	if err := j.List(t.Context(), func(runtime.Record, bool) error { count++; return nil }, nil); err != nil || count != 0 {
		t.Errorf("%d left, %v", count, err)
	}
}

func TestAFullJournal(t *testing.T) {
	j := script.NewJournal("owner", "")
	e, err := j.Create(t.Context(), runtime.Record{Run: runtime.RunName{ID: "a"}})
	if err != nil {
		t.Fatal(err)
	}
	j.SetFull(syscall.ENOSPC)
	if err := e.Update(runtime.Record{}, false); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("Update: %v", err)
	}
	if _, err := j.Create(t.Context(), runtime.Record{Run: runtime.RunName{ID: "b"}}); !errors.Is(err, syscall.ENOSPC) || !errors.Is(err, runtime.ErrSetup) {
		t.Errorf("Create: %v", err)
	}
}
