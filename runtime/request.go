package runtime

import (
	"fmt"
	"strings"
	"time"
)

// RunName is what one run is known by. It is made before anything else exists, so that whatever is made later can be found by it.
type RunName struct {
	// ID is 26 characters of lower-case base32 (128 random bits).
	ID string `json:"id"`
	// Owner is the random identity of the state directory, the same after a restart or reboot; empty without a state directory.
	Owner string `json:"owner,omitempty"`
	// Dir is the run's own directory on this host; empty without a state directory. Nothing in a plan's digest depends on it.
	Dir string `json:"dir,omitempty"`
}

// Name gives the name of the run's container or process: "sbx-" and the run id. A name is never used twice.
func (r RunName) Name() string { return runPrefix + r.ID }

const runPrefix = "sbx-"

// anonymous replaces what names this one run by fixed words.
func (r RunName) anonymous() *strings.Replacer {
	var pairs []string
	for _, p := range [][2]string{{r.Dir, "{run-dir}"}, {r.ID, "{run}"}, {r.Owner, "{owner}"}} {
		if p[0] != "" {
			pairs = append(pairs, p[0], p[1])
		}
	}
	return strings.NewReplacer(pairs...)
}

// Request is a launch after policy: defaults filled in, every name checked, mounts in their final order. It is what a backend's
// argv builder reads, and it is made by Resolve and the mount planner alone. It is not changed after planning.
type Request struct {
	Run     RunName `json:"-"`
	Command []string
	// Script is the staged text, or nil; Command already holds the interpreter and the staged path.
	Script *StagedScript
	// Env is sorted by name, one entry a name.
	Env         []Variable
	Credentials []CredentialGrant
	Dir         string
	Hostname    string
	// Labels are the ownership labels (reserved prefix) and the caller's, sorted by name.
	Labels    []Label
	User      User
	Image     Image
	Workspace *Workspace
	// Mounts are in the order they must be applied; see runtime/mounts.
	Mounts    []Mount
	Network   Network
	Limits    Limits
	Hardening Hardening
	// Required names the hardening options whose mismatch is a Setup failure; the others of Hardening are reported only.
	Required []string
	Stdin    StdinMode
	// SameSink is true where stdout and stderr are one descriptor.
	SameSink bool
	Terminal *Terminal
	Timeouts Timeouts
	Ready    *Ready
	// SeccompText is what planning read of Hardening.SeccompProfile.
	SeccompText []byte
	Heartbeat   time.Duration
	Liveness    bool
	Artifacts   *Artifacts
	// Descriptors are numbered before the argv is built: what the command sees by Resolve, the rest by a process backend's planner.
	Descriptors Descriptors
	// Asked names every vocabulary feature this request uses, sorted; what a backend does not support is refused by it.
	Asked []string
	// Because lists the policy's reasons for what it widens.
	Because []Reason
}

// Descriptors are the numbers under which a process backend hands things over beyond the three streams; zero where one is not used.
// Data of a file stands in its Mount, that of a credential in its grant.
type Descriptors struct {
	// Args, Block and Status are the start gate's: gate.args, gate.block, gate.status.
	Args, Block, Status int
	// Seccomp is read by the launcher: hardening.seccomp.
	Seccomp int
	// Heartbeat and Notify are seen by the command (SBX_HEARTBEAT_FD, SBX_NOTIFY_FD). What a command sees beyond 2 is numbered from
	// FirstDescriptor by Resolve: these two, then credentials by descriptor, in order of role.
	Heartbeat, Notify int
}

// FirstDescriptor is the lowest number of a descriptor that is handed to the command on purpose.
const FirstDescriptor = 20

// ScriptTarget is where a script is staged inside a sandbox that has a file system of its own.
const ScriptTarget = "/run/sbx/script"

// EgressTarget is where the proxy's socket of NetworkEgress stands inside; SBX_EGRESS_SOCKET says so to the command.
const EgressTarget = "/run/sbx/egress.sock"

// StagedScript is a Launch's Script with the place it is staged at.
type StagedScript struct {
	Target string // path inside
	Text   []byte `json:"-"`
	// Word is the index in Command of the staged path.
	Word int
}

// Variable is one environment variable.
type Variable struct {
	Name  string `json:"name"`
	Value string `json:"-"`
	// Public is true for a value written in the spec; only such values are ever printed.
	Public bool `json:"public,omitempty"`
	// Origin says where it comes from: "policy", "forward", "launch".
	Origin string `json:"origin"`
}

// Format prints the variable with its value only where that is public, whatever the verb.
func (v Variable) Format(f fmt.State, _ rune) {
	fmt.Fprint(f, v.String())
}

// String is NAME=value for a public value and a shell reference that insists on being set, NAME="${NAME?}", for a private one.
func (v Variable) String() string {
	if v.Public {
		return v.Name + "=" + ShellQuote(v.Value)
	}
	return v.Name + "=" + v.Reference()
}

// Reference is what stands for a private value wherever one is printed: a shell word that takes it from the reader's environment.
func (v Variable) Reference() string { return `"${` + v.Name + `?}"` }

// Secret is a value that no verb prints.
type Secret []byte

// Format prints a fixed word, whatever the verb.
func (Secret) Format(f fmt.State, _ rune) { fmt.Fprint(f, "<redacted>") }

// MarshalJSON gives a fixed word.
func (Secret) MarshalJSON() ([]byte, error) { return []byte(`"<redacted>"`), nil }

// CredentialGrant is a credential of one role with the way it is delivered: exactly one of Env, File and Descriptor is set.
type CredentialGrant struct {
	Role       string `json:"role"`
	Env        string `json:"env,omitempty"`
	File       string `json:"file,omitempty"` // path inside
	Descriptor int    `json:"descriptor,omitempty"`
	Mode       uint32 `json:"mode,omitempty"` // of the file
	Value      Secret `json:"-"`
}

// Label is a name and value kept on an engine's resource.
type Label struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// LabelPrefix is the reserved prefix of ownership labels.
const LabelPrefix = "sbxkit."

// Reason is a policy's because: where in the spec, and the sentence.
type Reason struct {
	Where string `json:"where"` // spec file:line
	What  string `json:"what"`  // the policy entry
	Text  string `json:"text"`
}
