package process

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/sbxkit/sbxkit/runtime"
)

// Definition is what a generated package gives of its backend.
type Definition struct {
	// Description is the spec's data; never nil, never changed.
	Description *runtime.Description
	// Argv builds the argv of a request: the generated builder, pure. With GateBlockFD its first word is the program's name and its last
	// words are Request.Command; what stands between is handed over by descriptor where Arguments says so.
	Argv func(*runtime.Request) []string
	// Explain gives the same words with their origin, private values replaced.
	Explain func(*runtime.Request) []runtime.Word

	// Program is the name of the backend's program, looked up in the controller's PATH; empty where the command itself is started (local).
	Program string
	// Override is the environment variable of the controller that names another program; empty for none.
	Override string
	// Options are what the constructor's caller chose.
	Options Options

	// Version says how the program tells its version; Flags are the words that make it list its options. Empty: it is not asked.
	Version VersionProbe
	Flags   []string
	// Launch is the command of the probe's minimal launch.
	Launch []string

	// Gate is how a started process is held before its command exists.
	Gate Gate
	// Arguments says how the program gets its words.
	Arguments Arguments
}

// Options are what the caller of a generated constructor may choose.
type Options struct {
	// Program is the path of the program; it wins over Definition.Override and PATH.
	Program string
}

// VersionProbe says how a program tells its version.
type VersionProbe struct {
	// Args are its words ("--version").
	Args []string
	// Pattern is a regular expression whose first group is the version.
	Pattern string
}

// Gate is a way to hold a process before its command runs.
type Gate string

// The gates.
const (
	// GateExec: the process is stopped at its own exec by ptrace. The only gate of a backend without a program of its own.
	GateExec Gate = "exec-stop"
	// GateBlockFD: the program waits at --block-fd (Descriptors.Block) and tells its children on --json-status-fd (Descriptors.Status),
	// in bubblewrap's manner; the command is then also stopped at its own exec.
	GateBlockFD Gate = "block-fd"
)

// Arguments is a way to hand words to a program.
type Arguments string

// The ways.
const (
	// ArgumentsArgv: all words stand in the argv.
	ArgumentsArgv Arguments = "argv"
	// ArgumentsDescriptor: the argv holds the program, the words of gate.args and the command; all others go NUL-separated by
	// descriptor Descriptors.Args.
	ArgumentsDescriptor Arguments = "descriptor"
)

// Descriptor numbers of the seam's own start gate, as the planner gives them.
const (
	ArgsDescriptor   = 3
	BlockDescriptor  = 4
	StatusDescriptor = 5
	firstDescriptor  = 6
)

func (d *Definition) check() error {
	switch {
	case d.Description == nil:
		return errors.New("making a process backend: Definition.Description is nil")
	case d.Argv == nil:
		return errors.New("making a process backend: Definition.Argv is nil")
	case d.Explain == nil:
		return errors.New("making a process backend: Definition.Explain is nil")
	case d.Gate != GateExec && d.Gate != GateBlockFD:
		return fmt.Errorf("making a process backend: Definition.Gate %q is neither %q nor %q", d.Gate, GateExec, GateBlockFD)
	case d.Gate == GateBlockFD && d.Program == "":
		return fmt.Errorf("making a process backend: gate %q needs Definition.Program", d.Gate)
	case d.Arguments != "" && d.Arguments != ArgumentsArgv && d.Arguments != ArgumentsDescriptor:
		return fmt.Errorf("making a process backend: Definition.Arguments %q is neither %q nor %q", d.Arguments, ArgumentsArgv, ArgumentsDescriptor)
	}
	if d.Version.Pattern != "" {
		if _, err := regexp.Compile(d.Version.Pattern); err != nil {
			return fmt.Errorf("making a process backend: Definition.Version.Pattern: %w", err)
		}
	}
	return nil
}
