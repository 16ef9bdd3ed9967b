package runtime

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Kind says what sort of refusal or failure happened. The set is closed.
type Kind string

// The five kinds of failure.
const (
	// Unsupported: the host or the backend cannot do what was asked.
	Unsupported Kind = "unsupported"
	// Denied: a policy (the spec's, or the executor's charge callback) forbids it.
	Denied Kind = "denied"
	// Setup: it could have been done and was not (a missing directory, an engine that answered with an error).
	Setup Kind = "setup"
	// Command: the sandbox stood, and the command itself failed (not found, not executable, a non-zero exit asked for as an error).
	Command Kind = "command"
	// Uncertain: it cannot be known what happened, or whether something is left.
	Uncertain Kind = "uncertain"
)

// Sentinels for errors.Is: errors.Is(err, runtime.ErrDenied) holds for every Failure of kind Denied, whatever it wraps.
var (
	ErrUnsupported = errors.New("unsupported")
	ErrDenied      = errors.New("denied")
	ErrSetup       = errors.New("setup failed")
	ErrCommand     = errors.New("command failed")
	ErrUncertain   = errors.New("uncertain")
)

// ErrBusy is what Journal.Take fails with where the run's lock is held: its owner lives.
var ErrBusy = errors.New("the run's lock is held by a live controller")

func (k Kind) sentinel() error {
	switch k {
	case Unsupported:
		return ErrUnsupported
	case Denied:
		return ErrDenied
	case Setup:
		return ErrSetup
	case Command:
		return ErrCommand
	case Uncertain:
		return ErrUncertain
	}
	return nil
}

// Step names one step of the lifecycle. Plan and Charge stand between the numbered steps.
type Step string

// The steps, in the order the driver walks them.
const (
	StepProbe     Step = "probe"
	StepPlan      Step = "plan"
	StepPrepare   Step = "prepare"
	StepStage     Step = "stage"
	StepCharge    Step = "charge"
	StepStart     Step = "start"
	StepCapture   Step = "capture"
	StepExport    Step = "export"
	StepImport    Step = "import"
	StepRemove    Step = "remove"
	StepReconcile Step = "reconcile"
)

// Steps lists every step in the order the driver walks them.
func Steps() []Step {
	return []Step{StepProbe, StepPlan, StepPrepare, StepStage, StepCharge, StepStart, StepCapture, StepExport, StepImport, StepRemove, StepReconcile}
}

// Leftover is something a cleanup could not confirm to be gone, and the command that settles it.
type Leftover struct {
	// What kind of thing: "process", "process group", "container", "volume", "network", "directory", "cgroup", "file".
	What string `json:"what"`
	// Name identifies it: a path, a container name, a process id with its start time.
	Name string `json:"name"`
	// Settle is the exact command line a person runs to remove it or see that it is gone.
	Settle string `json:"settle,omitempty"`
}

// Failure is every error the seam returns. It is comparable by errors.Is with the kind sentinels (ErrUnsupported …) and with
// whatever it wraps (exec.ErrNotFound, fs.ErrNotExist, a syscall.Errno), so a caller that handles those keeps working.
//
// A Failure never carries a credential's or an environment variable's value.
type Failure struct {
	Kind Kind
	Step Step
	// Backend is the backend's name ("bwrap"), with the engine's identity where one is known ("docker (Docker Engine 20.10.24)").
	Backend string
	// Feature is the vocabulary name the failure is about ("limits.memory"), empty if none.
	Feature string
	// Charged is true when the launch's charge callback had already accepted it.
	Charged bool
	// Message says what is wrong, in one sentence, with the names a person knows.
	Message string
	// Cure says what to do next; empty if nothing is known.
	Cure string
	// Left lists what a cleanup could not confirm to be gone.
	Left []Leftover
	// Err is the cause, or nil.
	Err error
}

// Fail makes a Failure; step, backend and charged are filled in by the driver where they are empty.
func Fail(kind Kind, format string, args ...any) *Failure {
	err := fmt.Errorf(format, args...)
	return &Failure{Kind: kind, Message: err.Error(), Err: errors.Unwrap(err)}
}

// At returns f with its step set, if it had none.
func (f *Failure) At(step Step) *Failure {
	if f.Step == "" {
		f.Step = step
	}
	return f
}

// About returns f with its feature set.
func (f *Failure) About(feature string) *Failure {
	f.Feature = feature
	return f
}

// Because returns f with its cause set; the message is not changed.
func (f *Failure) Because(err error) *Failure {
	f.Err = err
	return f
}

// WithCure returns f with its cure set.
func (f *Failure) WithCure(format string, args ...any) *Failure {
	f.Cure = fmt.Sprintf(format, args...)
	return f
}

// WithLeft returns f with what is left appended.
func (f *Failure) WithLeft(left ...Leftover) *Failure {
	f.Left = append(f.Left, left...)
	return f
}

// Error gives one line: backend: step: kind: message; cure.
func (f *Failure) Error() string {
	var b strings.Builder
	for _, part := range []string{f.Backend, string(f.Step), string(f.Kind)} {
		if part != "" {
			b.WriteString(part)
			b.WriteString(": ")
		}
	}
	b.WriteString(f.Message)
	if f.Err != nil && !strings.Contains(f.Message, f.Err.Error()) {
		b.WriteString(": ")
		b.WriteString(f.Err.Error())
	}
	if f.Cure != "" {
		b.WriteString("; ")
		b.WriteString(f.Cure)
	}
	for _, l := range f.Left {
		fmt.Fprintf(&b, "; left: %s %s", l.What, l.Name)
		if l.Settle != "" {
			fmt.Fprintf(&b, " (settle with: %s)", l.Settle)
		}
	}
	return b.String()
}

// Unwrap gives the cause.
func (f *Failure) Unwrap() error { return f.Err }

// Is reports whether target is the sentinel of f's kind.
func (f *Failure) Is(target error) bool {
	s := f.Kind.sentinel()
	return s != nil && target == s
}

// MarshalJSON gives kind, step, backend, feature, charged, message, cause, cure and what is left.
func (f *Failure) MarshalJSON() ([]byte, error) {
	cause := ""
	if f.Err != nil {
		cause = f.Err.Error()
	}
	return json.Marshal(struct {
		Kind    Kind       `json:"kind"`
		Step    Step       `json:"step"`
		Backend string     `json:"backend"`
		Feature string     `json:"feature,omitempty"`
		Charged bool       `json:"charged"`
		Message string     `json:"message"`
		Cause   string     `json:"cause,omitempty"`
		Cure    string     `json:"cure,omitempty"`
		Left    []Leftover `json:"left,omitempty"`
	}{f.Kind, f.Step, f.Backend, f.Feature, f.Charged, f.Message, cause, f.Cure, f.Left})
}

// UnmarshalJSON reads what MarshalJSON wrote; the cause comes back as text only.
func (f *Failure) UnmarshalJSON(data []byte) error {
	var v struct {
		Kind                 Kind
		Step                 Step
		Backend, Feature     string
		Charged              bool
		Message, Cause, Cure string
		Left                 []Leftover
	}
	if err := json.Unmarshal(data, &v); err != nil {
		return err
	}
	*f = Failure{Kind: v.Kind, Step: v.Step, Backend: v.Backend, Feature: v.Feature, Charged: v.Charged, Message: v.Message, Cure: v.Cure, Left: v.Left}
	if v.Cause != "" {
		f.Err = errors.New(v.Cause)
	}
	return nil
}

// AsFailure finds the Failure in err's tree. An error that is none becomes one of the given kind that wraps it, so that no error
// crosses the seam untyped.
func AsFailure(err error, kind Kind) *Failure {
	if err == nil {
		return nil
	}
	var f *Failure
	if errors.As(err, &f) {
		return f
	}
	return &Failure{Kind: kind, Message: err.Error(), Err: err}
}
