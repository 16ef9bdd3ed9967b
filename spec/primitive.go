package spec

import "slices"

// primitive is a part of the runtime that can meet a vocabulary name without a word of the tool.
type primitive struct {
	name     string
	sentence string
	kinds    []Kind
	// can are the vocabulary names it can meet; a name followed by .* stands for the name and all below.
	can []string
}

// primitives is the closed set of what dialect.by may name.
var primitives = []primitive{
	{"driver", "the one lifecycle driver of the runtime", []Kind{KindProcess, KindEngine, KindScript},
		[]string{"timeouts.*", "streams.*", "limits.output", "charge", "liveness.*", "ready.line", "ready.notify", "ready.port", "ready.exec",
			"artifacts", "labels"}},
	{"spawn", "the spawner, which starts the process", []Kind{KindProcess},
		[]string{"command", "stdin.*", "streams.*", "workdir", "environment", "hardening.new-session", "hardening.parent-death",
			"hardening.no-new-privileges", "network.host"}},
	{"rlimit", "prlimit on the held process", []Kind{KindProcess},
		[]string{"limits.open-files", "limits.user-processes", "limits.cpu-time", "limits.address-space", "limits.data", "limits.file-size",
			"limits.core", "limits.stack", "limits.locked-memory", "limits.pending-signals", "limits.message-queue"}},
	{"cgroup", "a control group of the run", []Kind{KindProcess},
		[]string{"limits.processes", "limits.cpus", "limits.cpuset", "limits.memory", "limits.swap"}},
	{"gate", "the start gate", []Kind{KindProcess}, []string{"gate.*"}},
	{"seccomp", "a filter of system calls the runtime loads", []Kind{KindProcess}, []string{"hardening.seccomp"}},
	{"pty", "a pseudo-terminal the runtime makes", []Kind{KindProcess}, []string{"terminal"}},
	{"credential", "user and group of the started process", []Kind{KindProcess}, []string{"user.caller", "user.id"}},
	{"descriptor", "a descriptor the command inherits", []Kind{KindProcess},
		[]string{"credentials.descriptor", "liveness.heartbeat", "ready.notify"}},
	{"environment", "the environment the planner makes", []Kind{KindProcess, KindEngine, KindScript},
		[]string{"environment.*", "credentials.env"}},
	{"mounts", "mounts the planner adds", []Kind{KindProcess, KindEngine, KindScript},
		[]string{"workspace.*", "script", "credentials.file", "network.egress", "mount.socket"}},
	{"stage", "files put in place before the start", []Kind{KindProcess, KindEngine, KindScript},
		[]string{"workspace.copy", "workspace.volume", "script", "credentials.file", "mount.file"}},
	{"archive", "an archive sent to, or read from, the container", []Kind{KindEngine},
		[]string{"workspace.copy", "workspace.volume", "script", "credentials.file", "mount.file", "mount.symlink", "mount.dir", "artifacts"}},
	{"engine", "a call of the engine's API", []Kind{KindEngine},
		[]string{"image.pull", "ready.health", "ready.exec", "network.*", "stdin.*", "streams.*", "terminal", "run.name", "workspace.volume",
			"mount.volume", "user.image"}},
	{"script", "the fake's script", []Kind{KindScript}, nil},
}

func findPrimitive(name string) (primitive, bool) {
	i := slices.IndexFunc(primitives, func(p primitive) bool { return p.name == name })
	if i < 0 {
		return primitive{}, false
	}
	return primitives[i], true
}

// meets reports whether the primitive can meet a vocabulary name; one without a list can meet all.
func (p primitive) meets(name string) bool {
	return p.can == nil || slices.ContainsFunc(p.can, func(c string) bool { return covers(c, name) })
}

// primitiveNames are the names for a kind, in order.
func primitiveNames(k Kind) []string {
	var names []string
	for _, p := range primitives {
		if k == "" || slices.Contains(p.kinds, k) {
			names = append(names, p.name)
		}
	}
	return names
}
