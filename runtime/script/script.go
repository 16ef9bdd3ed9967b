package script

import (
	"io/fs"
	"syscall"
	"time"

	"github.com/sbxkit/sbxkit/runtime"
)

// Script is what one run does. The zero value probes, prepares, starts, writes nothing and exits 0 at once. It is not changed by the
// fake and may be played by many runs; it must not be changed while one plays it.
type Script struct {
	// Name stands in problems and records.
	Name string
	// Match says which runs a queued script (Backend.Play) is for; nil is any.
	Match func(*runtime.Request) bool

	// Do is the command: played in order, from the moment it is let go. After the last action it exits 0.
	Do []Action
	// Ignore are signals the command takes no notice of. SIGKILL cannot be ignored (signal(7)).
	Ignore []syscall.Signal
	// Traps are what the command does on a signal instead of dying of it: the rest of Do is dropped.
	Traps map[syscall.Signal][]Action
	// HoldStreams is how long a process that the command left behind keeps stdout and stderr open after the command's end; negative is
	// until it is killed.
	HoldStreams time.Duration
	// DiesWithController ends the command when its controller crashes (bwrap's --die-with-parent). Otherwise it lives on, as a container
	// does.
	DiesWithController bool

	// Faults are what goes wrong, and how slowly.
	Faults []Fault

	// Identity is what the probe answers; nil is the backend's name and kind.
	Identity *runtime.Identity
	// Guarantees replace what Start measures of the claim of the same name; a required one that is broken makes Start a Setup failure.
	// Claims without an entry here are unattested: the fake isolates nothing.
	Guarantees []runtime.Guarantee
	// Health is the sequence of health statuses; empty is a command without a health check.
	Health []Health
	// Exec answers commands run beside the process, in order; the last one repeats. Empty: Unsupported.
	Exec []ExecAnswer
	// Ports are the TCP ports inside that accept, each from so long after the start on; others refuse the connection.
	Ports map[int]time.Duration
	// Artifacts are the files the command left inside, for the export.
	Artifacts []Artifact
	// ExportStops, counted from 1, is the file before which the archive is cut off; 0 is none.
	ExportStops int
	// Usage is what the run used.
	Usage runtime.Usage
}

// Health is a status from so long after the start on.
type Health struct {
	From   time.Duration
	Status string
}

// ExecAnswer is how a command run beside the process ends.
type ExecAnswer struct {
	Takes time.Duration
	Code  int
	// Err is the engine's refusal, instead of a code.
	Err error
}

// Artifact is a file the command left inside.
type Artifact struct {
	// Path inside, absolute. It goes into the archive as it is, so that a test can give an export one that tries to leave.
	Path string
	// Mode is its permission, 0 is 0644; fs.ModeDir and others make it what they say.
	Mode fs.FileMode
	Data []byte
	// Link is the text of a symbolic link, with fs.ModeSymlink.
	Link string
}
