package sbxtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/sbxkit/sbxkit/runtime"
)

// errCrashed is what a crashed controller's own calls fail with.
var errCrashed = errors.New("the suite's controller has crashed")

// memory is the suite's journal: records in memory that outlast a controller, run directories on the disk, and locks that a crash drops as
// the kernel drops those of a process that ends.
type memory struct {
	owner, dir string

	mu      sync.Mutex
	records map[string]runtime.Record
	locks   map[string]*memoryEntry
	full    error            // what every write fails with
	history []runtime.Record // every record written, in order
	bad     []string         // records of these runs cannot be read
}

var (
	_ runtime.Journal      = (*memory)(nil)
	_ runtime.JournalEntry = (*memoryEntry)(nil)
)

func newMemory(owner, dir string) *memory {
	return &memory{owner: owner, dir: dir, records: map[string]runtime.Record{}, locks: map[string]*memoryEntry{}}
}

func (j *memory) crash() {
	j.mu.Lock()
	defer j.mu.Unlock()
	clear(j.locks)
}

func (j *memory) setFull(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.full = err
}

// written gives every record so far.
func (j *memory) written() []runtime.Record {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.history)
}

// kept counts the records.
func (j *memory) kept() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.records)
}

func (j *memory) Owner() string           { return j.owner }
func (j *memory) RunDir(id string) string { return filepath.Join(j.dir, "runs", id) }

func (j *memory) Create(ctx context.Context, r runtime.Record) (runtime.JournalEntry, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	err := cmp.Or(ctx.Err(), j.full)
	if _, there := j.records[r.Run.ID]; err == nil && there {
		err = fs.ErrExist
	}
	if err == nil {
		err = os.MkdirAll(j.RunDir(r.Run.ID), 0o700)
	}
	if err != nil {
		return nil, runtime.Fail(runtime.Setup, "creating the run's record: %w", err)
	}
	return j.put(r, &memoryEntry{j, r.Run.ID}), nil
}

func (j *memory) put(r runtime.Record, e *memoryEntry) *memoryEntry {
	j.records[r.Run.ID], j.locks[r.Run.ID] = r, e
	j.history = append(j.history, r)
	return e
}

func (j *memory) List(ctx context.Context, f func(runtime.Record, bool) error, bad func(string, error)) error {
	j.mu.Lock()
	var list []runtime.Record
	live := map[string]bool{}
	for id, r := range j.records {
		if slices.Contains(j.bad, id) {
			bad(j.RunDir(id), errors.New("the record is torn"))
			continue
		}
		list = append(list, r)
		live[id] = j.locks[id] != nil
	}
	j.mu.Unlock()
	slices.SortFunc(list, func(a, b runtime.Record) int { return cmp.Compare(a.Run.ID, b.Run.ID) })
	for _, r := range list {
		if err := cmp.Or(ctx.Err(), f(r, live[r.Run.ID])); err != nil {
			return err
		}
	}
	return nil
}

func (j *memory) Take(_ context.Context, id string) (runtime.JournalEntry, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	_, there := j.records[id]
	switch {
	case j.locks[id] != nil:
		return nil, fmt.Errorf("taking run %s: %w", id, runtime.ErrBusy)
	case !there:
		return nil, fmt.Errorf("taking run %s: %w", id, fs.ErrNotExist)
	}
	e := &memoryEntry{j, id}
	j.locks[id] = e
	return e, nil
}

type memoryEntry struct {
	j  *memory
	id string
}

// locked calls f under the journal's mutex where the entry still holds its lock.
func (e *memoryEntry) locked(f func() error) error {
	e.j.mu.Lock()
	defer e.j.mu.Unlock()
	if e.j.locks[e.id] != e {
		return fmt.Errorf("the record of run %s: %w", e.id, errCrashed)
	}
	return f()
}

func (e *memoryEntry) Dir() string { return e.j.RunDir(e.id) }

func (e *memoryEntry) Record() runtime.Record {
	e.j.mu.Lock()
	defer e.j.mu.Unlock()
	return e.j.records[e.id]
}

func (e *memoryEntry) Update(r runtime.Record, _ bool) error {
	return e.locked(func() error {
		if e.j.full != nil {
			return fmt.Errorf("updating the record of run %s: %w", e.id, e.j.full)
		}
		e.j.put(r, e)
		return nil
	})
}

func (e *memoryEntry) Close() error {
	e.j.mu.Lock()
	defer e.j.mu.Unlock()
	if e.j.locks[e.id] == e {
		delete(e.j.locks, e.id)
	}
	return nil
}

func (e *memoryEntry) Remove() error {
	e.j.mu.Lock()
	_, there := e.j.records[e.id]
	e.j.mu.Unlock()
	if !there {
		return nil
	}
	return e.locked(func() error {
		if err := os.RemoveAll(e.Dir()); err != nil {
			return fmt.Errorf("removing the run's directory: %w", err)
		}
		delete(e.j.records, e.id)
		delete(e.j.locks, e.id)
		return nil
	})
}
