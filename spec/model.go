package spec

import (
	"fmt"
	"time"
)

// Position is a place in a spec file. Line and Column count from 1; Column counts characters.
type Position struct {
	File         string
	Line, Column int
}

// String is file:line:column.
func (p Position) String() string { return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column) }

// Spec is file:line, as an origin in a plan shows it.
func (p Position) Spec() string { return fmt.Sprintf("%s:%d", p.File, p.Line) }

// Kind is a kind of backend.
type Kind string

// The kinds. A kind says which primitives room the generated package stands on.
const (
	KindProcess Kind = "process"
	KindEngine  Kind = "engine"
	KindScript  Kind = "script"
)

// Backend is a checked spec with everything it extends merged in. It is not changed after loading.
type Backend struct {
	Pos     Position
	Name    string // a Go package name
	Kind    Kind
	Summary string // one line
	// Unsandboxed is true for a backend that isolates nothing.
	Unsandboxed bool
	// File is the name the spec was loaded by; Extends the names of what it extends, nearest first.
	File    string
	Extends []string
	// Digest is "sha256:" and the hash of the spec's bytes and of those of all it extends.
	Digest string
	// bytes are what Digest is of.
	bytes [][]byte

	Program *Program // nil for kind script
	Engine  *Engine  // kind engine only
	Probe   Probe
	// Words are the dialect in argv order. The program's own name is not among them: it stands before all.
	Words []Entry
	// Features holds one entry for every vocabulary name, sorted by name.
	Features  []Feature
	Policy    Policy
	Lifecycle Lifecycle
	// Because are the reasons given for what widens a base's policy, in file order.
	Because []Reason
}

// Feature finds the entry of a vocabulary name.
func (b *Backend) Feature(name string) (Feature, bool) {
	for _, f := range b.Features {
		if f.Name == name {
			return f, true
		}
	}
	return Feature{}, false
}

// Program is the launcher's program.
type Program struct {
	Pos  Position
	Name string // looked up in PATH
	// Aliases are further names of the same command line, which a direct launch would use.
	Aliases []string
	// Override is an environment variable of the controller that replaces Name; empty for none.
	Override  string
	Arguments Arguments
}

// Arguments says how words reach the launcher.
type Arguments string

// The ways. With ArgumentsDescriptor the first entry of Words is for gate.args, and the last two are the constant word "--" and the
// command: what stands between is read by the launcher from the descriptor, and is in no argument vector that /proc shows.
const (
	ArgumentsArgv       Arguments = "argv"
	ArgumentsDescriptor Arguments = "descriptor"
)

// Engine names the container engines a dialect speaks to.
type Engine struct {
	Pos Position
	// Names are accepted names of /version's first component ("Engine", "Podman Engine").
	Names []string
	// Endpoint is the environment variable of the controller that names the endpoint; where it is not set, the sockets in Default are
	// tried in order. One that begins with $NAME/ is left out where that variable is not set.
	Endpoint string
	Default  []string
	// Contexts is true where the tool keeps named endpoints (docker context).
	Contexts bool
}

// Probe says how a tool is probed.
type Probe struct {
	Pos Position
	// Version prints the version; Pattern's first group is it. Nil where the kind has its own way.
	Version *ProbeVersion
	// Flags prints the options this build really has. Nil where nothing is to be read.
	Flags []string
	// Launch is the minimal command of the probing launch.
	Launch []string
}

// ProbeVersion reads a version.
type ProbeVersion struct {
	Args    []string
	Pattern string // RE2, with one group
}

// Entry is one line of a dialect: the words it gives, for what, and the engine fields it sets.
//
// Exactly one of these holds: Word is set; Flag is set; Spell is set (an each: entry); only Args are set (the words stand alone); only
// API is set (no word, an engine field).
type Entry struct {
	Pos Position
	// For are the vocabulary names the entry is for: it stands where any of them is asked for. Values are of the first. Empty for a
	// constant. In a Spelling it is the name of its kind.
	For  []string
	Pick Pick
	// When is a value name: the entry stands only where that value is not zero.
	When string

	Word string
	Flag string
	Args []Arg
	// Since is the version a flag appeared in, empty for always.
	Since string

	// Each is the name of the sum whose items stand here in the planner's order ("mount"), each spelled by its kind.
	Each  string
	Spell []Spelling // in file order

	API []Binding

	// Gate: the words are the seam's own start gate (gate.*). Run: they name this one run (run.*).
	Gate, Run bool
	// Private: a word holds a private value; legal only with ArgumentsDescriptor.
	Private bool
}

// Term is the vocabulary term the entry's values are of.
func (e Entry) Term() (Term, bool) {
	if len(e.For) == 0 {
		return Term{}, false
	}
	return Lookup(e.For[0])
}

// Pick narrows a list to its first item or to all after it.
type Pick string

// The picks.
const (
	PickAll   Pick = ""
	PickFirst Pick = "first"
	PickRest  Pick = "rest"
)

// Spelling is how items of one kind are spelled.
type Spelling struct {
	Pos     Position
	Name    string // the vocabulary name, "mount.tmpfs"
	Kind    string // "tmpfs"
	Entries []Entry
}

// ArgKind says what an Arg is.
type ArgKind string

// The kinds of Arg.
const (
	ArgValue ArgKind = "value" // Value, written in its format
	ArgText  ArgKind = "text"  // Text as it is
	ArgBool  ArgKind = "bool"  // Bool; in an API value only
	ArgJoin  ArgKind = "join"  // Pieces, one after the other, one word
	ArgCSV   ArgKind = "csv"   // Fields as one word of comma-separated values, quoted as encoding/csv does
)

// Arg is one argument: one word, or one value of an engine field.
type Arg struct {
	Pos    Position
	Kind   ArgKind
	Value  Value
	Text   string
	Bool   bool
	Pieces []Piece
	Fields []CSVField
}

// Piece is a part of a joined word: Text where that is set, else Value. It stands only where the value When is not zero.
type Piece struct {
	Pos   Position
	Text  string
	Value Value // Value.Name is empty for a text
	When  string
}

// CSVField is one field of comma-separated values: Text, or Name directly followed by the value. It stands only where the value When is
// not zero.
type CSVField struct {
	Pos   Position
	Text  string
	Name  string // with its "="
	Value Value
	When  string
}

// BindingOp says what a Binding does to its field.
type BindingOp string

// The operations.
const (
	OpSet    BindingOp = "set"    // path = Value
	OpAppend BindingOp = "append" // path = append(path, Value)
	OpKey    BindingOp = "key"    // path[Key] = Value (the zero value of the element type where Value is nil)
	OpKeyAdd BindingOp = "keyadd" // path[Key] = append(path[Key], Value)
)

// Binding sets a field of an engine's create request. It repeats as its entry does.
type Binding struct {
	Pos   Position
	Path  string // from the create request, "HostConfig.PidsLimit"
	Op    BindingOp
	Key   *Arg
	Value *APIValue
}

// APIValue is Arg, or an object with Fields.
type APIValue struct {
	Pos    Position
	Arg    *Arg
	Fields []APIField // in file order
}

// APIField is one field of an object; Name is the Go name.
type APIField struct {
	Pos   Position
	Name  string
	Value APIValue
}

// How says in which way a feature is met.
type How string

// The ways.
const (
	HowSpelled     How = "spelled"
	HowBy          How = "by"
	HowImplied     How = "implied"
	HowUnsupported How = "unsupported"
)

// Feature says how the backend meets one vocabulary name.
type Feature struct {
	Pos  Position
	Name string
	How  How
	// By is the primitive, with HowBy.
	By string
	// Reason, with HowImplied and HowUnsupported.
	Reason string
	// Flags spell it, in words order, each once.
	Flags []Flag
}

// Flag is an option with the version it appeared in.
type Flag struct{ Name, Since string }

// Reason is a because.
type Reason struct {
	Pos  Position
	What string // the policy entry, "policy.mounts[2] /var/cache"
	Text string
}

// Lifecycle binds the steps to primitives, from closed sets.
type Lifecycle struct {
	Pos       Position
	Prepare   string // none, directory, container, script
	Start     Start
	Stop      []StopRung
	Remove    string // namespace, session, container, script
	Export    string // none, archive, script
	Reconcile string // none, processes, labels, script
}

// Start is how step 4 is bound.
type Start struct {
	Pos     Position
	Gate    string // none, block-fd, exec-stop, create, script
	Status  string // none, json-status-fd, inspect, script
	Session string // new, own
}

// StopRung is one rung of the stop ladder: a signal by its number, or Kill.
type StopRung struct {
	Pos    Position
	Signal string // "TERM"; empty with Kill
	Number int
	Kill   bool
	Grace  time.Duration // zero is timeouts.grace, or ten seconds on the kill
}
