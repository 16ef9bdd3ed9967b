package spec

import "time"

// Level says how much a policy wants a hardening option.
type Level string

// The levels.
const (
	LevelRequired  Level = "required"
	LevelPreferred Level = "preferred"
	LevelOff       Level = "off"
)

// Policy is what is asked for by default, and what a launch may ask for.
type Policy struct {
	Pos         Position
	Environment EnvironmentPolicy
	Limits      []LimitRule // sorted by name
	Timeouts    Timeouts
	Hardening   []HardeningRule // sorted by name
	Mounts      []Mount         // in order; those of a base first
	Network     NetworkPolicy
	Credentials []CredentialRule // sorted by role
	User        UserPolicy
	Image       ImagePolicy
	Workspace   WorkspacePolicy
	Artifacts   ArtifactsPolicy
	Sockets     []Text // host paths of unix sockets a mount may expose
	Workdir     Text
	Knobs       []Knob
}

// Text is a string with its place.
type Text struct {
	Pos  Position
	Text string
}

// EnvironmentPolicy is the allowlist. Patterns may end in *.
type EnvironmentPolicy struct {
	Forward, Accept, Deny []Text
	Set                   []Variable // sorted by name
}

// Variable is a variable written in a spec: its value is public.
type Variable struct {
	Pos         Position
	Name, Value string
}

// Bound is a limit; both values are the same but for kernel resource limits.
type Bound struct{ Soft, Hard uint64 }

// LimitRule is a policy's word on one limit. Units are those of runtime.Limits: bytes, seconds, counts, billionths of a CPU.
type LimitRule struct {
	Pos  Position
	Name string // "limits.open-files"
	// Default applies where the launch asks for nothing; nil for none. Max is the most a launch may ask for; nil for no bound.
	Default, Max *Bound
	// Text is the default of a limit that is text (limits.cpuset).
	Text string
}

// Timeouts are defaults; zero is no bound.
type Timeouts struct{ Start, Wall, Idle, Grace, Liveness time.Duration }

// HardeningRule is a policy's word on one hardening option.
type HardeningRule struct {
	Pos   Position
	Name  string // "hardening.seccomp"
	Level Level
	Value string
}

// Mount is a mount every run gets.
type Mount struct {
	Pos      Position
	Kind     string // "bind-ro"
	Source   string
	Target   string
	Size     int64
	Mode     uint32
	Scope    string
	Optional bool
	Data     string // content of a file; it is public
}

// NetworkPolicy holds network modes ("none").
type NetworkPolicy struct {
	Pos     Position
	Default string
	Accept  []string
}

// CredentialRule says how a role is delivered: exactly one of Env, File and Descriptor.
type CredentialRule struct {
	Pos        Position
	Role       string
	Env        string
	File       string
	Descriptor bool
	Mode       uint32
}

// UserPolicy: Default is a kind ("image", "caller", "id") or empty for the backend's own; UID and GID go with "id".
type UserPolicy struct {
	Pos      Position
	Default  string
	UID, GID int
	Accept   []string
}

// ImagePolicy: Accept are names or prefixes that end in *.
type ImagePolicy struct {
	Pos                     Position
	Default, Pull, Platform string
	Accept                  []Text
}

// WorkspacePolicy bounds workspaces; zero is no bound.
type WorkspacePolicy struct {
	Pos     Position
	Target  string
	Default string // mode; empty for bind-rw, or volume where the engine does not see this host's files
	Accept  []string
	// Files and Bytes bound a copy.
	Files, Bytes int64
}

// ArtifactsPolicy bounds exports; zero is no bound.
type ArtifactsPolicy struct {
	Pos          Position
	Bytes, Files int64
	Depth        int
	Timeout      time.Duration
}

// Knob is an environment variable of the controller that sets one policy value, read at every launch.
type Knob struct {
	Pos     Position
	Env     string
	Sets    string // "image", "user", "endpoint", "program", "limits.NAME"
	Default string
}
