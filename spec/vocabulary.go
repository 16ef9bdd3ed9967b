package spec

import (
	"sort"
	"strings"
	"sync"
)

// Shape says how a vocabulary name is asked for.
type Shape string

// The shapes.
const (
	ShapeFlag  Shape = "flag"  // asked for or not
	ShapeValue Shape = "value" // one set of values
	ShapeList  Shape = "list"  // a set of values for each item, in order
	ShapeSum   Shape = "sum"   // one choice out of the closed sum that is named by what stands before the last dot
)

// Format says how a value is written. A spec cannot change it: one value, one form, in every argv.
type Format string

// The formats.
const (
	FormatText       Format = "text"       // as it is
	FormatPath       Format = "path"       // an absolute path, as it is
	FormatInteger    Format = "integer"    // decimal
	FormatBytes      Format = "bytes"      // a count of bytes, decimal
	FormatSeconds    Format = "seconds"    // whole seconds, decimal
	FormatOctal      Format = "octal"      // a permission with a leading zero
	FormatCPUs       Format = "cpus"       // a decimal fraction of CPUs without trailing zeros, "1.5"
	FormatDescriptor Format = "descriptor" // a descriptor number, decimal
	FormatAddress    Format = "address"    // an IP address
)

// Value is one of the values a vocabulary name carries.
type Value struct {
	Name   string
	Format Format
	// Private: the value can be a credential. It never stands in an argument vector.
	Private bool
	// Optional: zero or empty is possible and means "not asked for"; only such a value may stand in a spec's when.
	Optional bool
}

// Term is one name of the vocabulary.
type Term struct {
	Name     string
	Sentence string
	Shape    Shape
	Values   []Value
	// Field is the field of runtime.Launch that asks for it ("Hardening.PIDNamespace"); empty for the seam's own names, which no
	// launch asks for.
	Field string
}

// Value finds a value of the term by its name.
func (t Term) Value(name string) (Value, bool) {
	for _, v := range t.Values {
		if v.Name == name {
			return v, true
		}
	}
	return Value{}, false
}

// Group is what stands before the first dot, or the whole name.
func (t Term) Group() string {
	g, _, _ := strings.Cut(t.Name, ".")
	return g
}

// Repeats reports whether an entry for the term stands once for each item.
func (t Term) Repeats() bool { return t.Shape == ShapeList }

func values(vs ...Value) []Value { return vs }

var (
	soft       = Value{Name: "soft", Format: FormatInteger}
	hard       = Value{Name: "hard", Format: FormatInteger}
	rlimit     = values(soft, hard)
	bytes2     = values(Value{Name: "soft", Format: FormatBytes}, Value{Name: "hard", Format: FormatBytes})
	upto       = values(Value{Name: "max", Format: FormatInteger})
	bytes1     = values(Value{Name: "max", Format: FormatBytes})
	sourcePath = Value{Name: "source", Format: FormatPath}
	targetPath = Value{Name: "target", Format: FormatPath}
	moved      = values(sourcePath, targetPath)
	ids        = values(Value{Name: "uid", Format: FormatInteger}, Value{Name: "gid", Format: FormatInteger})
	fd         = values(Value{Name: "descriptor", Format: FormatDescriptor})
	mode       = Value{Name: "mode", Format: FormatOctal, Optional: true}
	named      = values(Value{Name: "name", Format: FormatText})
	label      = values(Value{Name: "name", Format: FormatText}, Value{Name: "value", Format: FormatText})
	time1      = values(Value{Name: "seconds", Format: FormatSeconds})
)

// terms is the vocabulary: everything a runtime.Launch can ask for, and the seam's own names at the end. A test keeps it equal to
// runtime.Launch.
var terms = []Term{
	{"command", "The program and its words, passed as they are.", ShapeList, values(Value{Name: "word", Format: FormatText}), "Argv"},
	{"script", "Text for an interpreter, staged as a read-only file.", ShapeFlag, nil, "Script"},

	{"environment", "The variables the command gets, one for each name.", ShapeList,
		values(Value{Name: "name", Format: FormatText}, Value{Name: "value", Format: FormatText, Private: true}), "Env"},
	{"environment.set", "Values a launch gives for names the policy accepts.", ShapeFlag, nil, "Env.Set"},
	{"environment.forward", "Host variables copied by name or pattern.", ShapeFlag, nil, "Env.Forward"},
	{"environment.deny", "Names that never reach the command.", ShapeFlag, nil, "Env.Deny"},
	{"environment.path", "What PATH is inside: replaced, or with directories before it.", ShapeFlag, nil, "Env.Path"},

	{"credentials.env", "A credential given as an environment variable.", ShapeList,
		values(Value{Name: "name", Format: FormatText}, Value{Name: "value", Format: FormatText, Private: true}), "Credentials"},
	{"credentials.file", "A credential given as a read-only file.", ShapeList,
		values(Value{Name: "descriptor", Format: FormatDescriptor}, targetPath, mode), "Credentials"},
	{"credentials.descriptor", "A credential given as a descriptor the command reads.", ShapeList,
		values(Value{Name: "descriptor", Format: FormatDescriptor}), "Credentials"},

	{"workdir", "The working directory inside.", ShapeValue, values(Value{Name: "path", Format: FormatPath}), "Dir"},
	{"hostname", "The host name inside; needs a UTS namespace.", ShapeValue, named, "Hostname"},
	{"labels", "The caller's labels on an engine's resource.", ShapeList, label, "Labels"},

	{"user.image", "Run as the user the image names.", ShapeSum, nil, "User"},
	{"user.caller", "Run as the user who launches.", ShapeSum, ids, "User"},
	{"user.id", "Run as a user and group by number.", ShapeSum, ids, "User"},

	{"image", "What an engine runs the command in.", ShapeValue, values(Value{Name: "ref", Format: FormatText}), "Image.Ref"},
	{"image.pull", "Whether an image may be fetched before planning.", ShapeFlag, nil, "Image.Pull"},
	{"image.platform", "Which platform of an image, os/arch[/variant].", ShapeValue,
		values(Value{Name: "platform", Format: FormatText}), "Image.Platform"},

	{"workspace.bind-rw", "The workspace is the caller's directory, writable.", ShapeSum, moved, "Workspace.Mode"},
	{"workspace.bind-ro", "The workspace is the caller's directory, read-only.", ShapeSum, moved, "Workspace.Mode"},
	{"workspace.copy", "The workspace is a copy of the caller's directory.", ShapeSum, moved, "Workspace.Mode"},
	{"workspace.volume", "The workspace is a volume seeded from the caller's directory.", ShapeSum, moved, "Workspace.Mode"},

	{"mount.bind-ro", "A host path, read-only.", ShapeSum, moved, "Mounts.Kind"},
	{"mount.bind-rw", "A host path, writable.", ShapeSum, moved, "Mounts.Kind"},
	{"mount.tmpfs", "An empty directory in memory, bounded by a size.", ShapeSum,
		values(targetPath, Value{Name: "size", Format: FormatBytes, Optional: true}, mode), "Mounts.Kind"},
	{"mount.volume", "A volume of the engine, for a run, a session or as a cache.", ShapeSum,
		values(Value{Name: "source", Format: FormatText}, targetPath), "Mounts.Kind"},
	{"mount.file", "A read-only file with given content.", ShapeSum,
		values(Value{Name: "descriptor", Format: FormatDescriptor}, targetPath, mode), "Mounts.Kind"},
	{"mount.symlink", "A symbolic link; source is its text.", ShapeSum,
		values(Value{Name: "source", Format: FormatText}, targetPath), "Mounts.Kind"},
	{"mount.mask-file", "Hides a file: what is read there is empty.", ShapeSum, values(targetPath), "Mounts.Kind"},
	{"mount.mask-dir", "Hides a directory: it is empty and read-only.", ShapeSum, values(targetPath), "Mounts.Kind"},
	{"mount.device", "A device node of the host.", ShapeSum, moved, "Mounts.Kind"},
	{"mount.socket", "A unix socket of the host; connecting to it is granted.", ShapeSum, moved, "Mounts.Kind"},
	{"mount.proc", "A process file system of the sandbox's own processes.", ShapeSum, values(targetPath), "Mounts.Kind"},
	{"mount.dev", "A minimal /dev: null, zero, full, random, urandom, tty, a private pts.", ShapeSum, values(targetPath), "Mounts.Kind"},
	{"mount.dir", "An empty directory, made before what is mounted in it.", ShapeSum, values(targetPath, mode), "Mounts.Kind"},

	{"network.none", "No network but an own loopback.", ShapeSum, nil, "Network.Mode"},
	{"network.host", "The host's network.", ShapeSum, nil, "Network.Mode"},
	{"network.private", "A network of the run's own, behind address translation.", ShapeSum,
		values(Value{Name: "network", Format: FormatText}), "Network.Mode"},
	{"network.egress", "No route but one unix socket, the caller's proxy.", ShapeSum, values(Value{Name: "socket", Format: FormatPath}),
		"Network.Mode"},
	{"network.session", "The network of a session.", ShapeSum, values(Value{Name: "session", Format: FormatText}), "Network.Mode"},
	{"network.publish", "A port of the command reachable from the host.", ShapeList, values(
		Value{Name: "address", Format: FormatAddress}, Value{Name: "host", Format: FormatInteger, Optional: true},
		Value{Name: "container", Format: FormatInteger}, Value{Name: "protocol", Format: FormatText}), "Network.Publish"},
	{"network.aliases", "Names of the command in its network.", ShapeList, named, "Network.Aliases"},
	{"network.hosts", "Lines of /etc/hosts inside.", ShapeList,
		values(Value{Name: "name", Format: FormatText}, Value{Name: "address", Format: FormatAddress}), "Network.Hosts"},
	{"network.dns", "Name servers inside.", ShapeList, values(Value{Name: "address", Format: FormatAddress}), "Network.DNS"},

	{"limits.open-files", "RLIMIT_NOFILE, descriptors of a process.", ShapeValue, rlimit, "Limits.OpenFiles"},
	{"limits.processes", "Processes and threads of the sandbox.", ShapeValue, upto, "Limits.Processes"},
	{"limits.user-processes", "RLIMIT_NPROC, processes of the user id.", ShapeValue, rlimit, "Limits.UserProcesses"},
	{"limits.cpu-time", "RLIMIT_CPU, seconds of a process.", ShapeValue,
		values(Value{Name: "soft", Format: FormatSeconds}, Value{Name: "hard", Format: FormatSeconds}), "Limits.CPUTime"},
	{"limits.cpus", "CPUs of the sandbox, as a fraction or in billionths.", ShapeValue,
		values(Value{Name: "cpus", Format: FormatCPUs}, Value{Name: "nanocpus", Format: FormatInteger}), "Limits.CPUs"},
	{"limits.cpuset", "Which CPUs, as a list such as 0-3,7.", ShapeValue, values(Value{Name: "cpuset", Format: FormatText}),
		"Limits.CPUSet"},
	{"limits.memory", "Bytes of memory of the sandbox.", ShapeValue, bytes1, "Limits.Memory"},
	{"limits.swap", "Bytes of swap beyond limits.memory, which it needs; total is both together.", ShapeValue,
		values(Value{Name: "max", Format: FormatBytes}, Value{Name: "total", Format: FormatBytes}), "Limits.Swap"},
	{"limits.address-space", "RLIMIT_AS, bytes of a process.", ShapeValue, bytes2, "Limits.AddressSpace"},
	{"limits.data", "RLIMIT_DATA, bytes of a process.", ShapeValue, bytes2, "Limits.Data"},
	{"limits.file-size", "RLIMIT_FSIZE, bytes of a file.", ShapeValue, bytes2, "Limits.FileSize"},
	{"limits.core", "RLIMIT_CORE, bytes of a core file.", ShapeValue, bytes2, "Limits.Core"},
	{"limits.stack", "RLIMIT_STACK, bytes.", ShapeValue, bytes2, "Limits.Stack"},
	{"limits.locked-memory", "RLIMIT_MEMLOCK, bytes.", ShapeValue, bytes2, "Limits.LockedMemory"},
	{"limits.pending-signals", "RLIMIT_SIGPENDING, signals.", ShapeValue, rlimit, "Limits.PendingSignals"},
	{"limits.message-queue", "RLIMIT_MSGQUEUE, bytes.", ShapeValue, bytes2, "Limits.MessageQueue"},
	{"limits.output", "Bytes of stdout and stderr together.", ShapeValue, bytes1, "Limits.Output"},
	{"limits.shm", "Bytes of /dev/shm.", ShapeValue, bytes1, "Limits.Shm"},

	{"hardening.no-new-privileges", "No program gains privileges by being executed.", ShapeFlag, nil, "Hardening.NoNewPrivileges"},
	{"hardening.capabilities", "Every capability is dropped.", ShapeFlag, nil, "Hardening.Capabilities"},
	{"hardening.pid-namespace", "The command sees only its own processes.", ShapeFlag, nil, "Hardening.PIDNamespace"},
	{"hardening.ipc-namespace", "System V and POSIX queues of its own.", ShapeFlag, nil, "Hardening.IPCNamespace"},
	{"hardening.uts-namespace", "A host name of its own.", ShapeFlag, nil, "Hardening.UTSNamespace"},
	{"hardening.user-namespace", "User ids of its own.", ShapeFlag, nil, "Hardening.UserNamespace"},
	{"hardening.cgroup-namespace", "Its cgroup is the root it sees.", ShapeFlag, nil, "Hardening.CgroupNamespace"},
	{"hardening.user-namespace-off", "The command cannot make user namespaces.", ShapeFlag, nil, "Hardening.UserNamespaceOff"},
	{"hardening.read-only-root", "The root of the file system is read-only.", ShapeFlag, nil, "Hardening.ReadOnlyRoot"},
	{"hardening.new-session", "A terminal session of its own.", ShapeFlag, nil, "Hardening.NewSession"},
	{"hardening.parent-death", "The sandbox ends when the process that holds it dies.", ShapeFlag, nil, "Hardening.ParentDeath"},
	{"hardening.init", "Process 1 is an init that reaps and forwards signals.", ShapeFlag, nil, "Hardening.Init"},
	{"hardening.seccomp", "A filter of system calls.", ShapeValue,
		values(Value{Name: "descriptor", Format: FormatDescriptor}, Value{Name: "profile", Format: FormatText}), "Hardening.Seccomp"},
	{"hardening.seccomp-profile", "A filter of system calls from a file in the engines' form.", ShapeValue,
		values(Value{Name: "path", Format: FormatPath}), "Hardening.SeccompProfile"},
	{"hardening.apparmor", "A profile of AppArmor.", ShapeValue, values(Value{Name: "profile", Format: FormatText}), "Hardening.AppArmor"},
	{"hardening.landlock", "File access bound by the kernel's own rule set.", ShapeFlag, nil, "Hardening.Landlock"},
	{"hardening.masked-paths", "The tool's own list of masked kernel files.", ShapeFlag, nil, "Hardening.MaskedPaths"},

	{"stdin.none", "The command reads the null device.", ShapeSum, nil, "Stdin.Mode"},
	{"stdin.pipe", "The command reads a pipe that can be half-closed.", ShapeSum, nil, "Stdin.Mode"},
	{"stdin.file", "The command reads an open file.", ShapeSum, nil, "Stdin.Mode"},
	{"streams.stdout", "Standard output is kept.", ShapeFlag, nil, "Stdout"},
	{"streams.stderr", "Standard error is kept.", ShapeFlag, nil, "Stderr"},
	{"streams.shared", "Both streams are one descriptor and keep the order of writes.", ShapeFlag, nil, "Stderr"},
	{"terminal", "A private pseudo-terminal.", ShapeValue, values(Value{Name: "columns", Format: FormatInteger},
		Value{Name: "rows", Format: FormatInteger}, Value{Name: "term", Format: FormatText, Optional: true}), "Terminal"},

	{"timeouts.start", "From prepare to ready.", ShapeValue, time1, "Timeouts.Start"},
	{"timeouts.wall", "From the command's start to its end.", ShapeValue, time1, "Timeouts.Wall"},
	{"timeouts.idle", "Without output.", ShapeValue, time1, "Timeouts.Idle"},
	{"timeouts.grace", "Between the first signal and the kill.", ShapeValue, time1, "Timeouts.Grace"},
	{"timeouts.liveness", "Between two questions of the liveness hook.", ShapeValue, time1, "Timeouts.Liveness"},

	{"ready.exec", "Ready when a command inside exits 0.", ShapeSum, nil, "Ready.Exec"},
	{"ready.port", "Ready when a TCP port inside accepts.", ShapeSum, values(Value{Name: "port", Format: FormatInteger}), "Ready.Port"},
	{"ready.line", "Ready when a line of output contains a text.", ShapeSum, nil, "Ready.Line"},
	{"ready.notify", "Ready when the command writes to a descriptor.", ShapeSum, fd, "Ready.Notify"},
	{"ready.health", "Ready when the engine's health check says so.", ShapeSum, nil, "Ready.Health"},
	{"liveness.hook", "A hook is asked whether the run is alive.", ShapeFlag, nil, "Liveness"},
	{"liveness.heartbeat", "The command must beat on a descriptor.", ShapeValue, fd, "Heartbeat"},

	{"artifacts", "Paths handed over after the run.", ShapeFlag, nil, "Artifacts"},
	{"charge", "The caller's last word before the start.", ShapeFlag, nil, "Charge"},

	{"run.name", "The name of the run's container.", ShapeValue, named, ""},
	{"run.labels", "Ownership labels of the run's resources.", ShapeList, label, ""},
	{"gate.args", "A descriptor the launcher reads its words from.", ShapeValue, fd, ""},
	{"gate.block", "A descriptor the launcher waits at before the command starts.", ShapeValue, fd, ""},
	{"gate.status", "A descriptor the launcher reports the command's start and exit on.", ShapeValue, fd, ""},
}

var index = sync.OnceValue(func() map[string]int {
	m := make(map[string]int, len(terms))
	for i, t := range terms {
		m[t.Name] = i
	}
	return m
})

// Vocabulary gives every term, sorted by name. The slice is the caller's; the terms are not to be changed.
func Vocabulary() []Term {
	all := append([]Term(nil), terms...)
	sort.Slice(all, func(i, j int) bool { return all[i].Name < all[j].Name })
	return all
}

// Lookup finds a term by its name.
func Lookup(name string) (Term, bool) {
	i, ok := index()[name]
	if !ok {
		return Term{}, false
	}
	return terms[i], true
}
