package script

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"sync"

	"github.com/sbxkit/sbxkit/runtime"
)

// Journal is a runtime.Journal in memory for crash tests: like a state directory it outlasts the controller, and like a lock on a file its
// locks end with the controller's Crash. It is safe for concurrent use.
type Journal struct {
	owner, dir string

	mu      sync.Mutex
	records map[string]runtime.Record
	locks   map[string]*journalEntry
	updates int
	full    error
}

var (
	_ runtime.Journal      = (*Journal)(nil)
	_ runtime.JournalEntry = (*journalEntry)(nil)
)

// NewJournal makes an empty journal of that owner. Run directories are named below dir and never made.
func NewJournal(owner, dir string) *Journal {
	return &Journal{owner: owner, dir: dir, records: map[string]runtime.Record{}, locks: map[string]*journalEntry{}}
}

// Crash gives every lock back, as the end of the process that holds them would; the entries handed out before fail with ErrCrashed and
// write nothing more. The journal itself can be used by the next controller.
func (j *Journal) Crash() {
	j.mu.Lock()
	defer j.mu.Unlock()
	clear(j.locks)
}

// SetFull makes every Create and Update fail with cause (syscall.ENOSPC) until SetFull(nil).
func (j *Journal) SetFull(cause error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.full = cause
}

// Updates counts the records written.
func (j *Journal) Updates() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.updates
}

// Owner is the identity the journal was made with.
func (j *Journal) Owner() string { return j.owner }

// RunDir names a directory that is not made.
func (j *Journal) RunDir(id string) string { return path.Join(j.dir, "runs", id) }

// Create keeps r and takes its lock.
func (j *Journal) Create(ctx context.Context, r runtime.Record) (runtime.JournalEntry, error) {
	if err := ctx.Err(); err != nil {
		return nil, runtime.Fail(runtime.Setup, "creating the run's record: %w", err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.full != nil {
		return nil, runtime.Fail(runtime.Setup, "creating the run's record: %w", j.full)
	}
	if _, there := j.records[r.Run.ID]; there {
		return nil, runtime.Fail(runtime.Setup, "creating the run's record: %w", fs.ErrExist)
	}
	j.records[r.Run.ID] = r
	j.updates++
	return j.lock(r.Run.ID), nil
}

func (j *Journal) lock(id string) *journalEntry {
	e := &journalEntry{j: j, id: id}
	j.locks[id] = e
	return e
}

// List calls f for every record, by run id.
func (j *Journal) List(ctx context.Context, f func(r runtime.Record, live bool) error, _ func(path string, err error)) error {
	j.mu.Lock()
	var list []runtime.Record
	live := map[string]bool{}
	for id, r := range j.records {
		list = append(list, r)
		live[id] = j.locks[id] != nil
	}
	j.mu.Unlock()
	slices.SortFunc(list, func(a, b runtime.Record) int { return cmp.Compare(a.Run.ID, b.Run.ID) })
	for _, r := range list {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("listing the journal: %w", err)
		}
		if err := f(r, live[r.Run.ID]); err != nil {
			return err
		}
	}
	return nil
}

// Take takes the lock of a run whose owner is gone; fs.ErrNotExist where there is no such run.
func (j *Journal) Take(_ context.Context, id string) (runtime.JournalEntry, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch _, there := j.records[id]; {
	case j.locks[id] != nil:
		return nil, fmt.Errorf("taking run %s: %w", id, runtime.ErrBusy)
	case !there:
		return nil, fmt.Errorf("taking run %s: %w", id, fs.ErrNotExist)
	}
	return j.lock(id), nil
}

// journalEntry is a lock with its record.
type journalEntry struct {
	j  *Journal
	id string
}

// held says whether the entry still has the lock; the journal's mutex is held.
func (e *journalEntry) held() bool { return e.j.locks[e.id] == e }

// Dir names a directory that is not made.
func (e *journalEntry) Dir() string { return e.j.RunDir(e.id) }

// Record gives what is kept.
func (e *journalEntry) Record() runtime.Record {
	e.j.mu.Lock()
	defer e.j.mu.Unlock()
	return e.j.records[e.id]
}

// Update replaces the record.
func (e *journalEntry) Update(r runtime.Record, _ bool) error {
	e.j.mu.Lock()
	defer e.j.mu.Unlock()
	switch {
	case !e.held():
		return fmt.Errorf("updating the record of run %s: %w", e.id, ErrCrashed)
	case e.j.full != nil:
		return fmt.Errorf("updating the record of run %s: %w", e.id, e.j.full)
	}
	e.j.records[e.id] = r
	e.j.updates++
	return nil
}

// Close gives the lock back. Idempotent.
func (e *journalEntry) Close() error {
	e.j.mu.Lock()
	defer e.j.mu.Unlock()
	if e.held() {
		delete(e.j.locks, e.id)
	}
	return nil
}

// Remove deletes the record and gives the lock back. Idempotent; after a crash it is ErrCrashed.
func (e *journalEntry) Remove() error {
	e.j.mu.Lock()
	defer e.j.mu.Unlock()
	switch _, there := e.j.records[e.id]; {
	case e.held():
		delete(e.j.records, e.id)
		delete(e.j.locks, e.id)
	case there:
		return fmt.Errorf("removing the record of run %s: %w", e.id, ErrCrashed)
	}
	return nil
}
