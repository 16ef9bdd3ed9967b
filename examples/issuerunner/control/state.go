package control

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// The states of an issue.
const (
	Open     = "open"     // to be worked on
	Charged  = "charged"  // an attempt counts and has not been settled
	Imported = "imported" // its candidate is in the repository
	Failed   = "failed"   // its attempts are used up
)

// Progress is what the controller knows of one issue.
type Progress struct {
	State string `json:"state"`
	// Attempts counts launches that got as far as being charged.
	Attempts int `json:"attempts"`
	// Run and Plan are of the last charged attempt.
	Run  string `json:"run,omitempty"`
	Plan string `json:"plan,omitempty"`
	// Commit is the imported candidate.
	Commit string `json:"commit,omitempty"`
	// Why says how the last charged attempt ended, if it was not imported.
	Why string `json:"why,omitempty"`
}

// State is the controller's own file of counters. It is safe for concurrent use, and belongs to one process at a time.
type State struct {
	path string
	lock *os.File

	mu     sync.Mutex
	issues map[string]Progress
}

// handOver is how long the lock of a controller that was killed may be kept by what it was about to start, until that is another program.
const handOver = time.Second

// OpenState opens the state in dir. Another process that has it open is an error: two controllers would not see each other's counters.
func OpenState(dir string) (*State, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	s := &State{path: filepath.Join(dir, "state.json"), lock: lock, issues: map[string]Progress{}}
	err = exclusive(lock)
	for limit := time.Now().Add(handOver); err != nil && time.Now().Before(limit); err = exclusive(lock) {
		time.Sleep(handOver / 100)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("another controller works in %s: %w", dir, err), lock.Close())
	}
	text, err := os.ReadFile(s.path)
	if errors.Is(err, os.ErrNotExist) {
		return s, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &s.issues)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("reading the counters: %w", err), lock.Close())
	}
	return s, nil
}

// Get gives an issue's progress; one nobody worked on is open.
func (s *State) Get(issue string) Progress {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.get(issue)
}

func (s *State) get(issue string) Progress {
	p, ok := s.issues[issue]
	if !ok {
		p.State = Open
	}
	return p
}

// Change changes an issue's progress and is on disk when it returns nil; where it returns an error, nothing is changed.
func (s *State) Change(issue string, f func(*Progress) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	was, known := s.issues[issue]
	p := s.get(issue)
	if err := f(&p); err != nil {
		return err
	}
	s.issues[issue] = p
	err := s.write()
	if err != nil {
		if s.issues[issue] = was; !known {
			delete(s.issues, issue)
		}
		return fmt.Errorf("writing the counters: %w", err)
	}
	return nil
}

// write replaces the file in one step: a reader, also one after a crash, finds the old one or the new one.
func (s *State) write() error {
	text, err := json.MarshalIndent(s.issues, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.OpenFile(s.path+".new", os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(s.path+".new", s.path)
}

// Close lets the next controller in.
func (s *State) Close() error { return s.lock.Close() }
