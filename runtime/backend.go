package runtime

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"syscall"
	"time"
)

// Backend is one way to run a command in a sandbox: one method a step. Backends are generated from specs over one of the primitives
// rooms; the driver (Sandbox) is the only caller, in the order of the lifecycle. Backends never call each other's steps.
//
// A Backend is safe for concurrent use; it holds what is shared between runs (a client, a spawner), and nothing of one run.
// Optional abilities are further interfaces, found by type assertion: Ensurer, Reconciler, Closer.
type Backend interface {
	// Describe gives the spec's data. Pure, never nil, always the same pointer.
	Describe() *Description

	// Probe is step 1: it proves by a real minimal launch that the backend works here, and says who it is. It leaves nothing behind,
	// also when ctx ends early. Idempotent. A host or tool that cannot is Unsupported with a cure; one that could and did not is
	// Setup. Implementations may cache by the tool's identity (inode and modification time).
	Probe(ctx context.Context, r ProbeRequest) (*Identity, error)

	// Plan is pure: it looks at nothing but its input. It orders the mounts, builds the argv (and create request), and refuses what
	// this backend or this build of its tool cannot do.
	Plan(in PlanInput) (*Plan, error)

	// Prepare is step 2: it allocates the plan's resources under the names in plan.Token, which the driver has journalled. On error
	// nothing is left, or the Failure says what is. It starts nothing of the command.
	Prepare(ctx context.Context, p *Plan) (Resources, error)

	// Reopen gives a handle on the resources of an earlier run by its token alone, with no live driver; it does no I/O that could
	// fail for an absent resource. What the handle cannot do without the original driver is Unsupported.
	Reopen(ctx context.Context, t Token) (Resources, error)
}

// ProbeRequest is what a probe may need.
type ProbeRequest struct {
	// Lookup reads the controller's environment (os.LookupEnv).
	Lookup func(string) (string, bool)
	// Image for the minimal launch of an engine; empty is the policy's.
	Image string
	// For is the image of the launch that is to follow, where that names one: it is not launched, and may be looked through. Shows says that
	// the launch shows something of this host.
	For   string
	Shows bool
	// Deep also measures every guarantee of the policy (doctor).
	Deep bool
}

// Resources are what steps 2, 3, 6 and 8 work on: what exists of a run apart from its process.
type Resources interface {
	// Token names the resources so that they can be found and removed with nothing else. It may grow while the run goes on.
	Token() Token

	// Stage is step 3: source, script and credentials are put in place. Called once, before Start.
	Stage(ctx context.Context, s *Stage) (note string, err error)

	// Start is step 4: it starts the command and returns when the command runs, having attested what can be attested. On error the
	// command has not run an instruction, or the Failure is Uncertain. ctx bounds the starting, not the run. Called once.
	Start(ctx context.Context, r *StartRequest) (Process, error)

	// Export is step 6: the artifacts are copied to dir, which is empty and the controller's. Called after the process ended.
	Export(ctx context.Context, dir string, a *Artifacts) (*Manifest, error)

	// Remove is step 8: everything of the run goes. Idempotent, safe at any time and in any state, also beside other calls, also after a
	// failed Prepare or Start; a second call finds nothing and says so. It returns when absence was seen, or an Uncertain Failure with
	// what is left. ctx bounds it.
	Remove(ctx context.Context) (*Teardown, error)

	// Kill ends the command and all it started by the strongest means, and does not wait for the end to be reaped. Idempotent; nil
	// where nothing runs. It works on a reopened handle.
	Kill(ctx context.Context) error
}

// Process is a started command: steps 4 and 5.
type Process interface {
	// Identity names the process.
	Identity() ProcessIdentity
	// Guarantees are what Start measured, one entry for each claim of the plan.
	Guarantees() []Guarantee
	// Stdin is the writing end of a stdin pipe, nil otherwise. Close half-closes: the command reads end of file.
	Stdin() io.WriteCloser
	// Signal sends sig to the command. An ended process is os.ErrProcessDone.
	Signal(ctx context.Context, sig syscall.Signal) error
	// Wait returns once, when the end of the command was witnessed and its streams are drained to end of file. Bytes that were
	// written are never lost, however slow the sink is: drain bounds only how long, after the end of the command, a read may wait
	// with nothing to read because somebody else still holds the stream open; it is then cut and reported (DrainCut). An end that
	// nobody witnessed is an Uncertain Failure. ctx bounds the waiting; after it ends Wait may be called again.
	Wait(ctx context.Context, drain time.Duration) (*Exit, error)
	// Health is the engine's health status, empty where there is none.
	Health(ctx context.Context) (string, error)
	// Exec runs a command beside the process, inside, and gives its exit status; Unsupported where the backend cannot.
	Exec(ctx context.Context, argv []string) (int, error)
	// Dial connects to a TCP port inside; Unsupported where the backend cannot.
	Dial(ctx context.Context, port int) (io.Closer, error)
	// Resize sets the size of the terminal; Unsupported without one.
	Resize(columns, rows uint16) error
}

// Token is the kill token of a run: made before the resource exists, journalled, and enough to find, kill and remove everything of
// the run with no live driver. It holds no secret.
type Token struct {
	Backend string  `json:"backend"`
	Run     RunName `json:"run"`
	// Name of the container; empty for process backends.
	Name     string `json:"name,omitempty"`
	Endpoint string `json:"endpoint,omitempty"`
	// Image is the id of what the container is made from.
	Image string `json:"image,omitempty"`
	// Unfinished is set by a reconcile where the controller died while it made the run's resources: an engine may still be at what it was
	// asked for, so that absence alone proves nothing yet.
	Unfinished bool `json:"-"`
	// Processes are the pids of the run with their start times, once they exist.
	Processes []ProcessIdentity `json:"processes,omitempty"`
	// Volumes, Networks, Cgroups and Paths are what else belongs to the run.
	Volumes  []string `json:"volumes,omitempty"`
	Networks []string `json:"networks,omitempty"`
	Cgroups  []string `json:"cgroups,omitempty"`
	Paths    []string `json:"paths,omitempty"`
}

// Stage is what step 3 puts in place.
type Stage struct {
	// Snapshot is a directory of the host whose content seeds the workspace (copy and volume modes); empty without one.
	Snapshot    string
	Workspace   *Workspace
	Script      *StagedScript
	Credentials []CredentialGrant
}

// StartRequest is what step 4 needs beyond the plan.
type StartRequest struct {
	Stdin          StdinMode
	StdinFile      *os.File // with StdinFile
	Stdout, Stderr Output
	Terminal       *Terminal
	// Heartbeat and Notify get what the command writes to the descriptors Request.Descriptors has, as an Output's Writer does: the backend
	// makes the pipes, and a backend without descriptors writes itself. Each from one goroutine, never after Wait returned; nil where
	// not asked for.
	Heartbeat, Notify io.Writer
	// Record is called with the token whenever it grows, before what it names can outlive the driver (a process held at its gate). An
	// error refuses the start.
	Record func(Token) error
	// Started is called once, right before the command is let go: the wall clock starts here.
	Started func()
}

// Output is where a stream goes. Exactly one of File and Writer is set.
type Output struct {
	// File is handed to the command itself.
	File *os.File
	// Writer gets the bytes from one goroutine. It does not return an error: what it does not want it drops and counts.
	Writer io.Writer
}

// Manifest lists what an export handed over.
type Manifest struct {
	// Whole is false where the export stopped at a bound or error; such an export is never imported.
	Whole  bool            `json:"whole"`
	Files  []ManifestEntry `json:"files"`
	Bytes  int64           `json:"bytes"`
	Digest string          `json:"digest"` // sha256 over the entries
}

// ManifestEntry is one file of an export.
type ManifestEntry struct {
	Path   string `json:"path"` // relative, slash-separated
	Mode   uint32 `json:"mode"`
	Size   int64  `json:"size"`
	Digest string `json:"digest,omitempty"` // of a regular file's content
	Link   string `json:"link,omitempty"`   // of a symbolic link
}

// Witness is implemented by Resources whose engine keeps a record of the end of a command that nobody waited for.
type Witness interface {
	// Witnessed gives the recorded end; nil without an error where the command is still running, Uncertain where there is no record.
	Witnessed(ctx context.Context) (*Exit, error)
}

// Ensurer is a backend whose runs need an image.
type Ensurer interface {
	// Ensure makes the image present under policy pull and gives its facts. An absent image under PullNever is Setup with the command
	// that fetches it as cure. progress, if not nil, gets one call for each line of progress. Idempotent. ctx bounds it.
	Ensure(ctx context.Context, i Image, progress func(string)) (*ImageFacts, error)
}

// Reconciler is a backend that can find leftovers of dead runs by itself.
type Reconciler interface {
	// Find lists the resources that carry this owner's identity, as tokens, whatever state they are in; resources of other owners, and those
	// that cannot be read, are counted and never touched. Idempotent, no side effect.
	Find(ctx context.Context, owner string) (found []Token, foreign int, err error)
}

// Closer is a backend that holds something open (a client, a thread).
type Closer interface{ Close() error }

// Journal keeps one record per run where it survives the controller. Implemented by runtime/journal; nil keeps nothing.
type Journal interface {
	// Owner is the random identity of the state directory.
	Owner() string
	// RunDir is where the run's own directory will be, absolute; pure, so that a plan can name it before it exists.
	RunDir(id string) string
	// Create makes the run's directory and record, takes the run's lock and holds it until Close. Setup failure where it cannot.
	Create(ctx context.Context, r Record) (JournalEntry, error)
	// List calls f for each run of this state directory; Live says whether its lock is held. Records that cannot be read are passed to
	// bad, kept aside and never guessed at. It holds one record in memory at a time.
	List(ctx context.Context, f func(r Record, live bool) error, bad func(path string, err error)) error
	// Take takes the lock of a dead run for reconciling; ErrBusy where somebody else holds it, fs.ErrNotExist where
	// there is no such run (any more).
	Take(ctx context.Context, id string) (JournalEntry, error)
}

// JournalEntry is one run's record, under its lock.
type JournalEntry interface {
	// Dir is the run's own directory.
	Dir() string
	Record() Record
	// Update replaces the record atomically; sync also makes it survive a reboot.
	Update(r Record, sync bool) error
	// Close gives the lock back; the record stays.
	Close() error
	// Remove deletes the record and the directory and gives the lock back. Idempotent.
	Remove() error
}

// Record is what the journal keeps of a run. No value of a variable or credential is ever in it.
type Record struct {
	Version int     `json:"version"`
	Run     RunName `json:"run"`
	Backend string  `json:"backend"`
	// Step is the last step that was begun; Done says whether it ended.
	Step       Step   `json:"step"`
	Done       bool   `json:"done"`
	Token      Token  `json:"token"`
	PlanDigest string `json:"plan_digest"`
	BootID     string `json:"boot_id"`
	Created    int64  `json:"created"` // Unix nanoseconds
	Updated    int64  `json:"updated"`
	Charged    bool   `json:"charged"`
	// Outcome is empty until it is known.
	Outcome Outcome         `json:"outcome,omitempty"`
	Code    int             `json:"code,omitempty"`
	Failure json.RawMessage `json:"failure,omitempty"`
	// Labels are the caller's.
	Labels []Label `json:"labels,omitempty"`
}
