package runtime

import (
	"sort"
	"time"
)

// Description is what a backend's spec says of it, as generated data. It is not changed after start.
type Description struct {
	Name    string // the backend's name, and its Go package's
	Kind    string // process, engine, script
	Summary string
	// Spec is the spec file as the generator was given it; Digest is of its bytes ("sha256:…").
	Spec   string
	Digest string
	// Unsandboxed is true for a backend that isolates nothing: it is used only where a mode permits that openly.
	Unsandboxed bool
	// Features holds one entry for every vocabulary name, sorted by name.
	Features []Feature
	Policy   Policy
	// Stop is the ladder that ends a run that does not end by itself.
	Stop []StopRung
	// Exports is true where artifacts are handed over by archive; false where the candidate is the worktree itself.
	Exports bool
	Because []Reason
}

// Feature says how a backend meets one vocabulary name.
type Feature struct {
	Name string
	How  How
	// Flags are the options that spell it, each with the version it appeared in (empty: always there).
	Flags []Flag
	// By is the primitive that does it, with HowBy.
	By string
	// Reason says why, with HowImplied and HowUnsupported.
	Reason string
	// Spec is file:line.
	Spec string
}

// How says in which way a backend meets a feature. The set is closed.
type How string

// The ways.
const (
	HowSpelled     How = "spelled"     // by words of the tool's command line
	HowBy          How = "by"          // by a primitive of the backend's room or of the driver
	HowImplied     How = "implied"     // the tool does it anyway
	HowUnsupported How = "unsupported" // a launch that asks for it is refused
)

// Flag is an option of a tool with the version it appeared in.
type Flag struct{ Name, Since string }

// Feature finds the entry of a vocabulary name.
func (d *Description) Feature(name string) (Feature, bool) {
	i := sort.Search(len(d.Features), func(i int) bool { return d.Features[i].Name >= name })
	if i < len(d.Features) && d.Features[i].Name == name {
		return d.Features[i], true
	}
	return Feature{}, false
}

// StopRung is one rung of the stop ladder.
type StopRung struct {
	// Signal is sent to the command where it is not 0; otherwise the rung is the backend's kill, which takes everything with it.
	Signal int
	// Grace is how long the rung waits for the end before the next one; zero on a signal rung is Timeouts.Grace, zero on the kill is
	// ten seconds.
	Grace time.Duration
}

// Policy is what a spec asks for by default and what it lets a launch ask for. An empty list of what is accepted accepts nothing.
type Policy struct {
	Environment EnvironmentPolicy
	// Limits holds defaults and maxima by vocabulary name, sorted by name.
	Limits    []LimitRule
	Timeouts  Timeouts
	Hardening []HardeningRule
	// Mounts every run gets, in order.
	Mounts []Mount
	// Network: the default, and what a launch may ask for.
	Network       NetworkMode
	NetworkAccept []NetworkMode
	Credentials   []CredentialRule
	User          User
	UserAccept    []UserKind
	Image         Image
	// ImageAccept are the images a launch may name (exact, or a prefix that ends in *).
	ImageAccept []string
	Workspace   WorkspacePolicy
	Artifacts   Artifacts
	// Sockets are unix sockets of the host that a mount may expose.
	Sockets []string
	Dir     string
	Knobs   []Knob
}

// EnvironmentPolicy is the allowlist of the environment.
type EnvironmentPolicy struct {
	// Forward: names (a pattern may end in *) copied from the host where set there.
	Forward []string
	// Set: values written in the spec, public, sorted by name.
	Set []Variable
	// Accept: names (a pattern may end in *) a launch may set or forward.
	Accept []string
	// Deny: names that never reach the command, whatever else says so.
	Deny []string
}

// LimitRule is a policy's word on one limit.
type LimitRule struct {
	Name string // "limits.open-files"
	// Default applies where the launch asks for nothing; nil is no limit.
	Default *Limit
	// Max is the most a launch may ask for; nil is no bound.
	Max *Limit
	// Text is the default of a limit that is text (limits.cpuset).
	Text string
}

// HardeningRule is a policy's word on one hardening option.
type HardeningRule struct {
	Name  string // "hardening.new-session"
	Level Level
	// Value of an option that has one (the name of a seccomp filter).
	Value string
}

// Level says how much a policy wants a hardening option.
type Level string

// The levels.
const (
	LevelRequired  Level = "required"  // a plan without it is refused, a mismatch is a Setup failure
	LevelPreferred Level = "preferred" // used where the host can, reported where not
	LevelOff       Level = "off"       // not asked for
)

// CredentialRule says how one role is delivered.
type CredentialRule struct {
	Role       string
	Env        string
	File       string
	Descriptor bool
	Mode       uint32
}

// WorkspacePolicy bounds workspaces.
type WorkspacePolicy struct {
	Target string
	// Default is the mode where a launch names none. Empty is bind-rw, or volume where the engine does not see this host's files.
	Default      WorkspaceMode
	Accept       []WorkspaceMode
	Files, Bytes int64
}

// Knob is an environment variable of the controller, read at every launch, that sets one policy value.
type Knob struct {
	Env string
	// Sets is "image", "user", "endpoint", "program", or "limits.NAME".
	Sets    string
	Default string
}
