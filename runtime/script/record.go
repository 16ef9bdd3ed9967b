package script

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/sbxkit/sbxkit/runtime"
)

// RecordBytes bounds what an Invocation keeps of one stream; the rest is counted.
const RecordBytes = 1 << 20

// Call is one call a driver made, in the order of their ends.
type Call struct {
	At      time.Time
	Backend string
	Run     string // the run's id, empty where the call belongs to no run
	Op      Op
	Note    string // what was asked: the signal, the words of an exec
	Err     error
}

// Invocation is what was asked of the fake for one run, and what the run did.
type Invocation struct {
	// Script is the name of the script played.
	Script string
	Run    runtime.RunName
	Owner  string
	// Argv is the argv that would have run, private values included.
	Argv []string
	// Command is the command inside.
	Command []string
	// Env is the command's environment; printing a variable does not show a private value, its Value field has it.
	Env         []runtime.Variable
	Credentials []runtime.CredentialGrant
	Request     *runtime.Request
	PlanDigest  string
	// Staged is true where the stage step ran; Snapshot and ScriptText are what it was given.
	Staged     bool
	Snapshot   string
	ScriptText []byte

	// Started is when the command was let go; zero if it never was.
	Started time.Time
	// Ended is when it ended.
	Ended time.Time
	// Finished is true where the command ended by its own script, not by a signal, a kill or a problem.
	Finished bool

	// Stdin is what was written to the command, StdinRead how many bytes of it the command read. StdinClosed is true where the writing end
	// was closed, StdinEOF where the command read that end.
	Stdin                 Stream
	StdinRead             int64
	StdinClosed, StdinEOF bool
	// Stdout and Stderr are what the command wrote.
	Stdout, Stderr Stream
	// Signals are those that reached the command, in order, also those it ignored.
	Signals []syscall.Signal
	// Kills and Removes count what ended it from outside.
	Kills, Removes int
	Execs          [][]string
	Sizes          [][2]uint16 // columns, rows
	// Problems are expectations of the script that were not met.
	Problems []error

	mu sync.Mutex
}

// Stream is what passed through a stream: the first RecordBytes, and the count of all.
type Stream struct {
	Data  []byte
	Bytes int64
}

// String is what was kept.
func (s Stream) String() string { return string(s.Data) }

func (s *Stream) add(p []byte) {
	s.Bytes += int64(len(p))
	s.Data = append(s.Data, p[:min(len(p), RecordBytes-len(s.Data))]...)
}

func (i *Invocation) change(f func(*Invocation)) {
	i.mu.Lock()
	defer i.mu.Unlock()
	f(i)
}

func (i *Invocation) problem(format string, args ...any) {
	err := fmt.Errorf(format, args...)
	i.change(func(i *Invocation) { i.Problems = append(i.Problems, err) })
}

// copy is a snapshot that no longer changes.
func (i *Invocation) copy() *Invocation {
	i.mu.Lock()
	defer i.mu.Unlock()
	c := &Invocation{
		Script: i.Script, Run: i.Run, Owner: i.Owner, Argv: slices.Clone(i.Argv), Command: slices.Clone(i.Command), Env: slices.Clone(i.Env),
		Credentials: slices.Clone(i.Credentials), Request: i.Request, PlanDigest: i.PlanDigest, Staged: i.Staged, Snapshot: i.Snapshot,
		ScriptText: slices.Clone(i.ScriptText), Started: i.Started, Ended: i.Ended, Finished: i.Finished,
		StdinRead: i.StdinRead, StdinClosed: i.StdinClosed, StdinEOF: i.StdinEOF,
		Signals: slices.Clone(i.Signals), Kills: i.Kills, Removes: i.Removes, Execs: slices.Clone(i.Execs), Sizes: slices.Clone(i.Sizes),
		Problems: slices.Clone(i.Problems),
	}
	c.Stdin, c.Stdout, c.Stderr = i.Stdin.copy(), i.Stdout.copy(), i.Stderr.copy()
	return c
}

func (s Stream) copy() Stream { return Stream{Data: slices.Clone(s.Data), Bytes: s.Bytes} }

// Runs gives what was asked for each run, in the order they were prepared: snapshots that no longer change.
func (w *World) Runs() []*Invocation {
	w.mu.Lock()
	list := slices.Clone(w.runs)
	w.mu.Unlock()
	for n, i := range list {
		list[n] = i.copy()
	}
	return list
}

// Calls gives every call of every driver, in the order of their ends.
func (w *World) Calls() []Call {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.calls)
}

// Ops gives the order of the calls of one run.
func (w *World) Ops(run string) []Op {
	var list []Op
	for _, c := range w.Calls() {
		if c.Run == run {
			list = append(list, c.Op)
		}
	}
	return list
}

// Check gives the expectations of all scripts that were not met, nil where there is none: the last line of a test.
func (w *World) Check() error {
	var all []error
	for _, i := range w.Runs() {
		for _, p := range i.Problems {
			all = append(all, fmt.Errorf("script %q, run %s: %w", i.Script, i.Run.ID, p))
		}
	}
	return errors.Join(all...)
}
