package runtime

import "time"

// Identity is who a backend is on this host, as the probe found it: from the program or engine's own answers, never from a file's
// name.
type Identity struct {
	Backend string `json:"backend"`
	Kind    string `json:"kind"` // process, engine, script
	// Engine is the engine's own name for itself ("Docker Engine", "Podman Engine"), or the program's ("bubblewrap").
	Engine  string `json:"engine,omitempty"`
	Version string `json:"version,omitempty"`
	API     string `json:"api,omitempty"` // negotiated engine API version
	// Program is the resolved path of the backend's program.
	Program string `json:"program,omitempty"`
	// Endpoint is where the engine answers ("unix:///var/run/docker.sock"); Remote is true where its host is not this one.
	Endpoint string `json:"endpoint,omitempty"`
	Remote   bool   `json:"remote,omitempty"`
	Rootless bool   `json:"rootless,omitempty"`
	// UserRemap is true where the engine maps container ids to others of the host.
	UserRemap bool   `json:"user_remap,omitempty"`
	Cgroup    string `json:"cgroup,omitempty"` // "v1", "v2", "hybrid", "none"
	// Cgroups are the directories below which a process backend makes a run's control groups, by controller; by "" with one hierarchy.
	Cgroups map[string]string `json:"-"`
	// Flags are the options this build really has, sorted; nil where the backend has no command line.
	Flags []string `json:"-"`
	// Absent names vocabulary features this host cannot do, with the reason and the cure; what a plan needs of them is refused.
	Absent []Absence `json:"absent,omitempty"`
	// Proven are guarantees shown by behaviour in the probe that no kernel record shows (parent-death).
	Proven []Guarantee `json:"proven,omitempty"`
	// Unsandboxed is true for a backend that isolates nothing.
	Unsandboxed bool `json:"unsandboxed,omitempty"`
}

// String is the identity in one line: "docker (Docker Engine 20.10.24, API 1.41, rootful)".
func (i Identity) String() string {
	s := i.Backend
	detail := ""
	add := func(t string) {
		if t == "" {
			return
		}
		if detail != "" {
			detail += ", "
		}
		detail += t
	}
	name := i.Engine
	if i.Version != "" {
		if name != "" {
			name += " "
		}
		name += i.Version
	}
	add(name)
	if i.API != "" {
		add("API " + i.API)
	}
	if i.Kind == "engine" && i.Engine != "" {
		if i.Rootless {
			add("rootless")
		} else {
			add("rootful")
		}
	}
	if i.Remote {
		add("remote")
	}
	if detail == "" {
		return s
	}
	return s + " (" + detail + ")"
}

// Absence is a feature a host cannot do.
type Absence struct {
	Feature string `json:"feature"`
	Why     string `json:"why"`
	Cure    string `json:"cure,omitempty"`
}

// Measured says how a guarantee came out.
type Measured string

// The ways a guarantee comes out.
const (
	MeasuredHolds    Measured = "holds"
	MeasuredBroken   Measured = "broken"
	MeasuredUnknown  Measured = "unknown"    // could not be read
	MeasuredClaimed  Measured = "unattested" // a remote engine's word, or nothing that can be read
	MeasuredBehaves  Measured = "proven by behaviour"
	MeasuredReadback Measured = "read back" // the engine's own record
)

// When a guarantee was measured.
const (
	WhenProbe     = "probe"
	WhenCreated   = "created"    // engine record, before start
	WhenHeld      = "held"       // at the start gate, before the command exists
	WhenExec      = "exec"       // stopped at the command's own exec
	WhenAfterExec = "after exec" // right after exec, where a stop is not permitted
	WhenStarted   = "started"    // right after an engine's start
)

// Guarantee is one claim and what was measured of it.
type Guarantee struct {
	Name     string   `json:"name"`
	Claimed  string   `json:"claimed"`
	Measured Measured `json:"measured"`
	When     string   `json:"when,omitempty"`
	// Evidence is what was read and where, in one line; values of variables are never in it.
	Evidence string `json:"evidence,omitempty"`
	Required bool   `json:"required"`
}

// ProcessIdentity names a process so that it cannot be taken for another: a pid alone is not enough.
type ProcessIdentity struct {
	PID int `json:"pid,omitempty"` // as this host sees it; 0 where unknown
	// StartTime is field 22 of /proc/<pid>/stat, in clock ticks since boot (proc_pid_stat(5)).
	StartTime uint64 `json:"start_time,omitempty"`
	BootID    string `json:"boot_id,omitempty"`
	// Container is the engine's id.
	Container string `json:"container,omitempty"`
}

// ImageFacts are what an engine says of an image; an input of planning.
type ImageFacts struct {
	Ref     string   `json:"ref"`
	ID      string   `json:"id"`
	Digest  string   `json:"digest,omitempty"` // repository digest, where it has one
	User    string   `json:"user,omitempty"`
	Workdir string   `json:"workdir,omitempty"`
	Env     []string `json:"-"` // NAME=value
	// Health is true where the image has a health check.
	Health   bool   `json:"health,omitempty"`
	Platform string `json:"platform,omitempty"`
}

// StepFact says what a step did.
type StepFact struct {
	Step Step `json:"step"`
	// State is "done", "nothing" (the step had nothing to do, and says why), "refused", "failed", "uncertain".
	State    string        `json:"state"`
	Note     string        `json:"note,omitempty"`
	Duration time.Duration `json:"duration"` // nanoseconds
}

// The states of a step.
const (
	StateDone      = "done"
	StateNothing   = "nothing"
	StateRefused   = "refused"
	StateFailed    = "failed"
	StateUncertain = "uncertain"
)

// Teardown says how a run's resources went.
type Teardown struct {
	// How: "namespace" (the kernel ended every process with the sandbox's pid namespace), "process group", "removed" (an engine
	// confirmed the container gone), "nothing".
	How string `json:"how"`
	// Confirmed is true where the absence was observed, not assumed.
	Confirmed bool       `json:"confirmed"`
	Evidence  string     `json:"evidence,omitempty"`
	Left      []Leftover `json:"left,omitempty"`
}

// Facts is what is known of a run: who ran it, what was enforced, how it ended.
type Facts struct {
	RunID      string          `json:"run_id"`
	Owner      string          `json:"owner,omitempty"`
	Identity   Identity        `json:"identity"`
	PlanDigest string          `json:"plan_digest"`
	Image      *ImageFacts     `json:"image,omitempty"`
	Process    ProcessIdentity `json:"process"`
	Guarantees []Guarantee     `json:"guarantees"`
	Dropped    []Dropped       `json:"dropped,omitempty"`
	Because    []Reason        `json:"because,omitempty"`
	Steps      []StepFact      `json:"steps"`
	Teardown   *Teardown       `json:"teardown,omitempty"`
	Charged    bool            `json:"charged"`
	// Unsandboxed is true where the run was not sandboxed, with the mode and reason that permitted it.
	Unsandboxed       bool   `json:"unsandboxed"`
	UnsandboxedReason string `json:"unsandboxed_reason,omitempty"`
}
