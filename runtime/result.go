package runtime

import (
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"syscall"
	"time"
)

// Outcome is how a run ended: exactly one of a closed set.
type Outcome string

// The outcomes.
const (
	// Exited: an exit status was witnessed; Result.Code holds it.
	Exited Outcome = "exited"
	// Signaled: the command was ended by Result.Signal, not sent by the seam.
	Signaled Outcome = "signaled"
	// TimedOut: Result.Timeout says which.
	TimedOut Outcome = "timed-out"
	// Canceled: the caller's context, Stop or Kill ended it.
	Canceled Outcome = "canceled"
	// OutOfMemory: the kernel's own count of kills by the memory limit, and the command ended by one.
	OutOfMemory Outcome = "out-of-memory"
	// OutputLimit: the command wrote more than limits.output.
	OutputLimit Outcome = "output-limit"
	// NeverRan: the command did not run an instruction; Result.Failure says why.
	NeverRan Outcome = "never-ran"
	// UncertainOutcome: it cannot be known.
	UncertainOutcome Outcome = "uncertain"
)

// Which timeout ended a run.
const (
	TimeoutStart = "start"
	TimeoutWall  = "wall"
	TimeoutIdle  = "idle"
)

// Usage is what the run used; zero where it is not known.
type Usage struct {
	Wall       time.Duration `json:"wall"`        // nanoseconds, from the command's start to its witnessed end
	UserCPU    time.Duration `json:"user_cpu"`    // nanoseconds
	SystemCPU  time.Duration `json:"system_cpu"`  // nanoseconds
	PeakMemory int64         `json:"peak_memory"` // bytes
	StdoutSize int64         `json:"stdout_bytes"`
	StderrSize int64         `json:"stderr_bytes"`
}

// Rung is one step of the stop ladder that was used.
type Rung struct {
	Name     string        `json:"name"` // "TERM", "kill", "sweep", "remove"
	At       time.Duration `json:"at"`   // nanoseconds from the command's start
	Error    string        `json:"error,omitempty"`
	Deadline time.Duration `json:"deadline"` // nanoseconds
}

// Evidence says on what an outcome rests.
type Evidence struct {
	// Observer is who saw the end: "wait4", "json-status-fd", "engine wait", "script".
	Observer string `json:"observer,omitempty"`
	// Cause says what made the seam stop the run, empty if it ended by itself.
	Cause string `json:"cause,omitempty"`
	// Ladder lists the rungs of the stop ladder used.
	Ladder []Rung `json:"ladder,omitempty"`
	// OOMKills counts kills by the memory limit; MemoryEvents says where it was read.
	OOMKills     int64  `json:"oom_kills,omitempty"`
	MemoryEvents string `json:"memory_events,omitempty"`
	// StdoutDropped and StderrDropped count bytes that were read and not kept.
	StdoutDropped int64 `json:"stdout_dropped,omitempty"`
	StderrDropped int64 `json:"stderr_dropped,omitempty"`
	// DrainCut is true where a stream was closed by the seam because something still held it open.
	DrainCut bool `json:"drain_cut,omitempty"`
	// Notes are further observations.
	Notes []string `json:"notes,omitempty"`
}

// Result is one outcome with its evidence.
type Result struct {
	Outcome Outcome
	// Code is the exit status with Exited, else -1.
	Code int
	// Signal ended the command with Signaled (and where known with other outcomes), else 0.
	Signal syscall.Signal
	// Timeout says which, with TimedOut.
	Timeout  string
	Evidence Evidence
	Usage    Usage
	Facts    Facts
	// Failure is why, with NeverRan and UncertainOutcome; or what a later step (export, import, remove) could not do, whatever the
	// outcome of the command.
	Failure *Failure
}

// Success reports whether the command ran, was seen to exit with status 0, and every later step did its work.
func (r *Result) Success() bool {
	return r != nil && r.Outcome == Exited && r.Code == 0 && r.Failure == nil
}

// Err is nil for a success, the Failure where there is one, and otherwise a Failure of kind Command that says how the command ended.
func (r *Result) Err() error {
	if r.Success() {
		return nil
	}
	if r.Failure != nil {
		return r.Failure
	}
	return &Failure{Kind: Command, Step: StepCapture, Backend: r.Facts.Identity.Backend, Charged: r.Facts.Charged, Message: "the command ended: " + r.String()}
}

// String is the outcome in a few words: "exited 7", "signaled killed", "timed out (wall)".
func (r *Result) String() string {
	switch r.Outcome {
	case Exited:
		return fmt.Sprintf("exited %d", r.Code)
	case Signaled:
		return fmt.Sprintf("signaled %v", r.Signal)
	case TimedOut:
		return "timed out (" + r.Timeout + ")"
	}
	return string(r.Outcome)
}

// ExitCode is the code a program that stands for the run exits with: the command's own; 128+n for a signal; 124 timed out; 126 not
// executable and 127 not found inside; 125 for everything the sandbox, not the command, is the reason of; 137 for out of memory;
// 130 canceled.
func (r *Result) ExitCode() int {
	switch r.Outcome {
	case Exited:
		if r.Failure != nil {
			return 125
		}
		return r.Code
	case Signaled:
		return 128 + int(r.Signal)
	case TimedOut:
		return 124
	case OutOfMemory:
		return 137
	case Canceled:
		return 130
	case NeverRan:
		return r.Failure.exitCode()
	}
	return 125
}

func (f *Failure) exitCode() int {
	if f != nil && f.Kind == Command {
		if errors.Is(f, exec.ErrNotFound) {
			return 127
		}
		return 126
	}
	return 125
}

// MarshalJSON gives outcome, code, signal, timeout, evidence, facts, usage and failure.
func (r *Result) MarshalJSON() ([]byte, error) {
	v := struct {
		Outcome  Outcome  `json:"outcome"`
		Code     *int     `json:"code"`
		Signal   string   `json:"signal,omitempty"`
		SignalNo int      `json:"signal_number,omitempty"`
		Timeout  string   `json:"timeout,omitempty"`
		Evidence Evidence `json:"evidence"`
		Usage    Usage    `json:"usage"`
		Facts    Facts    `json:"facts"`
		Failure  *Failure `json:"failure,omitempty"`
	}{Outcome: r.Outcome, Timeout: r.Timeout, Evidence: r.Evidence, Usage: r.Usage, Facts: r.Facts, Failure: r.Failure}
	if r.Outcome == Exited {
		v.Code = &r.Code
	}
	if r.Signal != 0 {
		v.Signal, v.SignalNo = SignalName(r.Signal), int(r.Signal)
	}
	return json.Marshal(v)
}

// Exit is a witnessed end of a process, as a backend's Process reports it.
type Exit struct {
	// Ran is true where it was witnessed that the command was executed.
	Ran bool
	// Code is the exit status; -1 with a signal.
	Code   int
	Signal syscall.Signal
	// OOM is true where the kernel's count of kills by the memory limit rose and the command's own end was such a kill.
	OOM          bool
	OOMKills     int64
	MemoryEvents string
	Observer     string
	DrainCut     bool
	Usage        Usage
	Notes        []string
}
