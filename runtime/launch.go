package runtime

import (
	"context"
	"io"
	"io/fs"
	"math"
	"net/netip"
	"os"
	"time"
)

// Launch is what an executor wants, in words no backend owns. The zero value of a field means "as the policy has it"; a launch
// can only tighten a policy, never widen it. A Launch is not changed by the seam and may be used again.
//
// A field's sbx tag is its name in the spec vocabulary (package spec); a test keeps the two lists equal. Each feature of the
// vocabulary that a launch asks for is spelled by the backend or refused as Unsupported: nothing is dropped in silence.
//
//sbx:launch
type Launch struct {
	// Argv is the program and its words, passed as they are: no shell reads them. Exactly one of Argv and Script is set.
	Argv []string `sbx:"command"`
	// Script is text for an interpreter, staged as a read-only file; no word of it reaches an argv.
	Script *Script `sbx:"script"`

	Env         Environment           `sbx:"environment"`
	Credentials map[string]Credential `sbx:"credentials"` // by role, as the spec declares them

	// Dir is the working directory inside, absolute. Empty: the workspace if there is one, else the policy's.
	Dir string `sbx:"workdir"`
	// Hostname inside; needs a UTS namespace of its own.
	Hostname string `sbx:"hostname"`
	// Labels are the caller's own, outside the reserved prefix "sbxkit."; engines keep them on the container.
	Labels map[string]string `sbx:"labels"`
	User   User              `sbx:"user"`
	Image  Image             `sbx:"image"`

	// Workspace is the one writable place of the run, usually; see Workspace.
	Workspace *Workspace `sbx:"workspace"`
	Mounts    []Mount    `sbx:"mount"`
	Network   Network    `sbx:"network"`
	Limits    Limits     `sbx:"limits"`
	Hardening Hardening  `sbx:"hardening"`

	Stdin Stdin `sbx:"stdin"`
	// Stdout and Stderr are sinks. nil discards (and counts); Pipe gives a reader on the Run; an *os.File is handed to the command
	// itself where nothing has to be counted; the same sink twice is one descriptor and keeps the order of writes.
	Stdout io.Writer `sbx:"streams.stdout"`
	Stderr io.Writer `sbx:"streams.stderr"`
	// Terminal gives the command a private pseudo-terminal: one merged raw stream, on Stdout.
	Terminal *Terminal `sbx:"terminal"`

	Timeouts Timeouts `sbx:"timeouts"`
	// Ready ends step 4: a launch that does not get ready in Timeouts.Start is TimedOut(start).
	Ready *Ready `sbx:"ready"`
	// Liveness is asked every Timeouts.Liveness; an error stops the run. It has no way to the command's stdin.
	Liveness LivenessHook `sbx:"liveness.hook"`
	// Heartbeat > 0: the command finds a descriptor number in SBX_HEARTBEAT_FD and must write to it at least that often.
	Heartbeat time.Duration `sbx:"liveness.heartbeat"`

	// Artifacts are paths inside (absolute, or relative to Dir) handed to the Controller after the run.
	Artifacts *Artifacts `sbx:"artifacts"`

	// Charge is called once, after steps 1 to 3 and before step 4. State and attempt counters of the executor change only here or
	// later. An error refuses the launch as Denied: nothing is started.
	Charge func(ctx context.Context, p *Plan) error `sbx:"charge"`
}

// Script is text run by an interpreter: Interpreter + path of the staged text + Args.
type Script struct {
	// Interpreter is the program and its own words, e.g. {"/bin/sh", "-eu"}.
	Interpreter []string
	// Text is staged as a read-only file inside; it is in no argv, plan or journal.
	Text []byte
	// Args follow the staged file's path.
	Args []string
}

// Environment is what the command's environment gets beyond the policy's own variables.
type Environment struct {
	// Set gives values for names the policy accepts; any other name is Denied. Values are treated as private: they are redacted
	// wherever a plan is printed.
	Set map[string]string `sbx:"environment.set"`
	// Forward copies variables of the host process whose names match (a pattern may end in *) and that the policy accepts.
	Forward []string `sbx:"environment.forward"`
	// Deny removes names (a pattern may end in *) whatever else sets them; it wins.
	Deny []string `sbx:"environment.deny"`
	// Path says what PATH is inside.
	Path Path `sbx:"environment.path"`
}

// Path says what PATH is inside. The zero value is the policy's; on engines that is the image's own.
type Path struct {
	// Set replaces PATH.
	Set string
	// Prepend puts directories before what PATH would be otherwise.
	Prepend []string
}

// Credential is the value of one role. How it reaches the command (environment, read-only file, descriptor) is the spec's to say.
// Its value is never printed.
type Credential struct {
	// Value is copied at launch; the copy is zeroed when the run is removed.
	Value []byte
}

// User says who the command runs as. The zero value is the image's user on engines, the caller elsewhere.
type User struct {
	Kind UserKind
	// UID and GID are used with UserID; ids as the command sees them.
	UID, GID int
}

// UserKind is one of the ways to name a user; its vocabulary name is "user." and the word.
type UserKind string

// The ways to name a user.
const (
	UserDefault UserKind = ""
	UserImage   UserKind = "image"
	UserCaller  UserKind = "caller"
	UserID      UserKind = "id"
)

// Image names what an engine runs the command in. It is a dependency, not a resource of the run: Sandbox.Ensure fetches it.
type Image struct {
	Ref      string     `sbx:"image"`
	Pull     PullPolicy `sbx:"image.pull"`
	Platform string     `sbx:"image.platform"` // os/arch[/variant]
}

// PullPolicy says whether Sandbox.Ensure may fetch an image.
type PullPolicy string

// The pull policies. The zero value is the policy's, which is never unless the spec says otherwise.
const (
	PullDefault PullPolicy = ""
	PullNever   PullPolicy = "never"
	PullMissing PullPolicy = "missing"
	PullAlways  PullPolicy = "always"
)

// Workspace is the tree the command works on.
type Workspace struct {
	// Source is a directory of the host; with Treeish it is a git repository, and that tree is the content.
	Source  string
	Treeish string
	// Target is the place inside, absolute; empty is /workspace. Launch.Dir defaults to it.
	Target string
	// Mode says how it gets there.
	Mode WorkspaceMode
	// Files and Bytes bound a copy; zero is the policy's bound.
	Files, Bytes int64
}

// WorkspaceMode says how a workspace gets inside; its vocabulary name is "workspace." and the word.
type WorkspaceMode string

// The workspace modes. The zero value is the policy's, which binds read-write unless the spec says otherwise; for an engine that does not see
// this host's files it is a volume, and what the command makes in it comes back as artifacts.
const (
	WorkspaceDefault WorkspaceMode = ""
	WorkspaceBindRW  WorkspaceMode = "bind-rw"
	WorkspaceBindRO  WorkspaceMode = "bind-ro"
	WorkspaceCopy    WorkspaceMode = "copy"
	WorkspaceVolume  WorkspaceMode = "volume"
)

// Mount is one thing made visible inside. Which fields count depends on Kind.
type Mount struct {
	Kind MountKind `json:"kind"`
	// Source: host path (bind, device, socket), link text (symlink), volume name (volume).
	Source string `json:"source,omitempty"`
	// Target is the place inside, absolute.
	Target string `json:"target"`
	// Size bounds a tmpfs, in bytes; zero is the tool's own default.
	Size int64 `json:"size,omitempty"`
	// Mode is the permission of a tmpfs or file. Zero is 0444 for a file, and the tool's own for a tmpfs: 0755 with bwrap; with an engine
	// that of the image's directory there, and 1777 where there is none.
	Mode fs.FileMode `json:"mode,omitempty"`
	// Data is the content of a file; it is never printed.
	Data []byte `json:"-"`
	// Scope of a volume: run (default), session, cache.
	Scope VolumeScope `json:"scope,omitempty"`
	// Optional drops the mount where its source is absent, and says so in the Facts; only for read-only binds.
	Optional bool `json:"optional,omitempty"`

	// Origin says who asked ("launch.Mounts[2]", "policy", "workspace"); set by the planner.
	Origin string `json:"origin,omitempty"`
	// Descriptor is the number the data of a file is read from; assigned by the planner, 0 for none.
	Descriptor int `json:"descriptor,omitempty"`
}

// Permission is Mode as the kernel has it: the nine permission bits and, above them, setuid, setgid and sticky (01777 for a /tmp),
// whether those stand in Mode as fs.ModeSticky and its like or as the kernel's bits.
func (m *Mount) Permission() uint32 {
	p := uint32(m.Mode) & 0o7777
	for _, b := range []struct {
		mode fs.FileMode
		bit  uint32
	}{{fs.ModeSetuid, 0o4000}, {fs.ModeSetgid, 0o2000}, {fs.ModeSticky, 0o1000}} {
		if m.Mode&b.mode != 0 {
			p |= b.bit
		}
	}
	return p
}

// MountKind is a kind of mount; its vocabulary name is "mount." and the word.
type MountKind string

// The kinds of mount. MountMask in a launch becomes MountMaskFile or MountMaskDir in a plan, by what stands there; where that cannot be
// seen (an image's own, a remote engine's) a launch says which.
const (
	MountBindRO   MountKind = "bind-ro"
	MountBindRW   MountKind = "bind-rw"
	MountTmpfs    MountKind = "tmpfs"
	MountVolume   MountKind = "volume"
	MountFile     MountKind = "file"
	MountSymlink  MountKind = "symlink"
	MountMask     MountKind = "mask"
	MountMaskFile MountKind = "mask-file"
	MountMaskDir  MountKind = "mask-dir"
	MountDevice   MountKind = "device"
	MountSocket   MountKind = "socket"
	MountProc     MountKind = "proc"
	MountDev      MountKind = "dev"
	// MountDir makes an empty directory; the planner adds it where a tool needs the parent of a target made with a mode.
	MountDir MountKind = "dir"
)

// VolumeScope says how long a volume lives.
type VolumeScope string

// The scopes of a volume.
const (
	VolumeRun     VolumeScope = "run"
	VolumeSession VolumeScope = "session"
	VolumeCache   VolumeScope = "cache"
)

// Network is a closed sum, with what goes beside it.
type Network struct {
	Mode NetworkMode `json:"mode"`
	// Socket is the unix socket of the caller's proxy, with NetworkEgress.
	Socket string `json:"socket,omitempty"`
	// Session names the session whose network is shared, with NetworkSession.
	Session string       `json:"session,omitempty"`
	Publish []Port       `json:"publish,omitempty" sbx:"network.publish"`
	Aliases []string     `json:"aliases,omitempty" sbx:"network.aliases"`
	Hosts   []Host       `json:"hosts,omitempty" sbx:"network.hosts"`
	DNS     []netip.Addr `json:"dns,omitempty" sbx:"network.dns"`
}

// NetworkMode is a kind of network; its vocabulary name is "network." and the word.
type NetworkMode string

// The kinds of network. The zero value is the policy's, which is none unless the spec says otherwise.
const (
	NetworkDefault NetworkMode = ""
	NetworkNone    NetworkMode = "none"
	NetworkHost    NetworkMode = "host"
	NetworkPrivate NetworkMode = "private"
	NetworkEgress  NetworkMode = "egress"
	NetworkSession NetworkMode = "session"
)

// Port is a published port. Host 0 lets the engine choose; an empty Address is 127.0.0.1.
type Port struct {
	Address   string `json:"address,omitempty"`
	Host      int    `json:"host,omitempty"`
	Container int    `json:"container"`
	Protocol  string `json:"protocol,omitempty"` // tcp (default) or udp
}

// Host is a line of /etc/hosts inside.
type Host struct {
	Name    string     `json:"name"`
	Address netip.Addr `json:"address"`
}

// Limit is a bound. For kernel resource limits both values count; for all others Hard is the bound and Soft equals it.
type Limit struct {
	Soft uint64 `json:"soft"`
	Hard uint64 `json:"hard"`
}

// AtMost is a Limit with both values n.
func AtMost(n uint64) *Limit { return &Limit{Soft: n, Hard: n} }

// Limits are what the run may use; nil is the policy's. A launch may lower a policy's limit, not raise it.
type Limits struct {
	OpenFiles      *Limit `json:"open-files,omitempty" sbx:"limits.open-files"`           // RLIMIT_NOFILE, descriptors
	Processes      *Limit `json:"processes,omitempty" sbx:"limits.processes"`             // processes and threads of the sandbox (a pids cgroup)
	UserProcesses  *Limit `json:"user-processes,omitempty" sbx:"limits.user-processes"`   // RLIMIT_NPROC, of the user id
	CPUTime        *Limit `json:"cpu-time,omitempty" sbx:"limits.cpu-time"`               // RLIMIT_CPU, seconds
	CPUs           *Limit `json:"cpus,omitempty" sbx:"limits.cpus"`                       // billionths of a CPU
	CPUSet         string `json:"cpuset,omitempty" sbx:"limits.cpuset"`                   // list of CPUs, "0-3,7"
	Memory         *Limit `json:"memory,omitempty" sbx:"limits.memory"`                   // bytes, of the sandbox (a memory cgroup)
	Swap           *Limit `json:"swap,omitempty" sbx:"limits.swap"`                       // bytes beyond Memory; 0 is none
	AddressSpace   *Limit `json:"address-space,omitempty" sbx:"limits.address-space"`     // RLIMIT_AS, bytes
	Data           *Limit `json:"data,omitempty" sbx:"limits.data"`                       // RLIMIT_DATA, bytes
	FileSize       *Limit `json:"file-size,omitempty" sbx:"limits.file-size"`             // RLIMIT_FSIZE, bytes
	Core           *Limit `json:"core,omitempty" sbx:"limits.core"`                       // RLIMIT_CORE, bytes
	Stack          *Limit `json:"stack,omitempty" sbx:"limits.stack"`                     // RLIMIT_STACK, bytes
	LockedMemory   *Limit `json:"locked-memory,omitempty" sbx:"limits.locked-memory"`     // RLIMIT_MEMLOCK, bytes
	PendingSignals *Limit `json:"pending-signals,omitempty" sbx:"limits.pending-signals"` // RLIMIT_SIGPENDING, signals
	MessageQueue   *Limit `json:"message-queue,omitempty" sbx:"limits.message-queue"`     // RLIMIT_MSGQUEUE, bytes
	Output         *Limit `json:"output,omitempty" sbx:"limits.output"`                   // bytes of stdout and stderr together
	Shm            *Limit `json:"shm,omitempty" sbx:"limits.shm"`                         // bytes of /dev/shm
}

// SwapTotal is Memory and Swap together, as engines count: bytes, never more than fit.
func (l *Limits) SwapTotal() uint64 {
	var memory, swap uint64
	if l.Memory != nil {
		memory = l.Memory.Hard
	}
	if l.Swap != nil {
		swap = l.Swap.Hard
	}
	if total := memory + swap; total >= memory {
		return total
	}
	return math.MaxUint64
}

// Hardening options asked for on top of the policy. False and empty mean "as the policy has it".
type Hardening struct {
	NoNewPrivileges bool `json:"no-new-privileges,omitempty" sbx:"hardening.no-new-privileges"`
	// Capabilities drops every capability.
	Capabilities    bool `json:"capabilities,omitempty" sbx:"hardening.capabilities"`
	PIDNamespace    bool `json:"pid-namespace,omitempty" sbx:"hardening.pid-namespace"`
	IPCNamespace    bool `json:"ipc-namespace,omitempty" sbx:"hardening.ipc-namespace"`
	UTSNamespace    bool `json:"uts-namespace,omitempty" sbx:"hardening.uts-namespace"`
	UserNamespace   bool `json:"user-namespace,omitempty" sbx:"hardening.user-namespace"`
	CgroupNamespace bool `json:"cgroup-namespace,omitempty" sbx:"hardening.cgroup-namespace"`
	// UserNamespaceOff forbids the command to make user namespaces.
	UserNamespaceOff bool `json:"user-namespace-off,omitempty" sbx:"hardening.user-namespace-off"`
	ReadOnlyRoot     bool `json:"read-only-root,omitempty" sbx:"hardening.read-only-root"`
	NewSession       bool `json:"new-session,omitempty" sbx:"hardening.new-session"`
	// ParentDeath ends the sandbox when the process that holds it dies.
	ParentDeath bool `json:"parent-death,omitempty" sbx:"hardening.parent-death"`
	// Init runs a reaping init as process 1.
	Init bool `json:"init,omitempty" sbx:"hardening.init"`
	// Seccomp names a filter: "default" is the seam's own.
	Seccomp string `json:"seccomp,omitempty" sbx:"hardening.seccomp"`
	// SeccompProfile is the absolute path of a file of the controller's host with a filter in the engines' form (JSON), which stands in
	// the place of the engine's own: a filter is the policy's to name.
	SeccompProfile string `json:"seccomp_profile,omitempty" sbx:"hardening.seccomp-profile"`
	// AppArmor names a profile loaded on the host.
	AppArmor string `json:"apparmor,omitempty" sbx:"hardening.apparmor"`
	// Landlock restricts file access by the kernel's own rule set.
	Landlock bool `json:"landlock,omitempty" sbx:"hardening.landlock"`
	// MaskedPaths keeps the tool's own list of masked kernel files.
	MaskedPaths bool `json:"masked-paths,omitempty" sbx:"hardening.masked-paths"`
}

// Stdin says where the command reads. The zero value is the null device.
type Stdin struct {
	Mode StdinMode
	// Reader is copied to the command's stdin, which is then half-closed; nil with StdinPipe means Run.Stdin is used.
	Reader io.Reader
	// File is handed to the command itself, with StdinFile.
	File *os.File
}

// StdinMode is a kind of stdin; its vocabulary name is "stdin." and the word.
type StdinMode string

// The kinds of stdin.
const (
	StdinDefault StdinMode = ""
	StdinNone    StdinMode = "none"
	StdinPipe    StdinMode = "pipe"
	StdinFile    StdinMode = "file"
)

// Terminal is a private pseudo-terminal; the host's terminal is never handed in. Plan refuses it together with a stdin pipe of
// its own, a reader on stdout or a separate stderr.
type Terminal struct {
	Columns uint16 `json:"columns"`
	Rows    uint16 `json:"rows"`
	Term    string `json:"term,omitempty"` // TERM inside
}

// Timeouts bound a run; zero is the policy's, and a policy's zero is no bound.
type Timeouts struct {
	Start    time.Duration `json:"start,omitempty" sbx:"timeouts.start"` // prepare to ready; fetching an image is not in it
	Wall     time.Duration `json:"wall,omitempty" sbx:"timeouts.wall"`   // from the command's start
	Idle     time.Duration `json:"idle,omitempty" sbx:"timeouts.idle"`   // without output
	Grace    time.Duration `json:"grace,omitempty" sbx:"timeouts.grace"` // between the first signal and the kill
	Liveness time.Duration `json:"liveness,omitempty" sbx:"timeouts.liveness"`
}

// Ready says when a command that serves is ready. Exactly one field is set.
type Ready struct {
	Exec   []string `sbx:"ready.exec"`   // a command inside that exits 0
	Port   int      `sbx:"ready.port"`   // a TCP port inside that accepts
	Line   string   `sbx:"ready.line"`   // a line of output that contains this text
	Notify bool     `sbx:"ready.notify"` // a write of READY=1 to the descriptor in SBX_NOTIFY_FD
	Health bool     `sbx:"ready.health"` // the engine's health check
}

// Artifacts are paths to export after the run, and their bounds; zero is the policy's bound.
type Artifacts struct {
	Paths   []string
	Bytes   int64
	Files   int64
	Depth   int
	Timeout time.Duration
}

// Pipe, as a Launch's Stdout or Stderr, asks for a reader on the Run (Run.Stdout, Run.Stderr). The command blocks while nobody
// reads: bytes are kept exactly, and never lost.
var Pipe io.Writer = pipeSink{}

type pipeSink struct{}

func (pipeSink) Write([]byte) (int, error) { return 0, fs.ErrInvalid }

// LivenessHook is asked, at an interval, whether a run is still alive. It gets a view without a way to the command's stdin; sbxvet
// proves that it does not reach it otherwise.
//
//sbx:liveness
type LivenessHook interface {
	// Alive returns nil while the run is alive. Any error stops the run: TimedOut(idle) with the error as evidence. It is called from
	// one goroutine, never twice at once; ctx ends when the run ends.
	Alive(ctx context.Context, v LivenessView) error
}

// LivenessFunc makes a function a LivenessHook.
//
//sbx:liveness
type LivenessFunc func(ctx context.Context, v LivenessView) error

// Alive calls f.
func (f LivenessFunc) Alive(ctx context.Context, v LivenessView) error { return f(ctx, v) }

// LivenessView is what a liveness hook may look at.
type LivenessView struct {
	RunID string
	// Process is the identity of the started process.
	Process ProcessIdentity
	// Started is when the command started; LastOutput when it last wrote, LastBeat when it last beat (zero: never).
	Started, LastOutput, LastBeat time.Time
	// OutputBytes counts both streams.
	OutputBytes int64
	// Health is the engine's health status ("healthy", "unhealthy", "starting"), empty where there is none.
	Health string
}
