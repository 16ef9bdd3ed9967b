package spec

import (
	"reflect"

	"go.yaml.in/yaml/v4"
)

type policyDoc struct {
	At          Position               `json:"-"`
	Environment environmentDoc         `json:"environment,omitzero" jsonschema:"The allowlist of the environment."`
	Limits      section[limitDoc]      `json:"limits,omitzero" jsonschema:"Limits by name, without the prefix limits."`
	Timeouts    timeoutsDoc            `json:"timeouts,omitzero" jsonschema:"Durations such as 10m; 0 is no bound."`
	Hardening   section[hardeningDoc]  `json:"hardening,omitzero" jsonschema:"Hardening options by name: required, preferred or off."`
	Mounts      []mountDoc             `json:"mounts,omitzero" jsonschema:"Mounts every run gets. One with a base's target replaces the base's."`
	Network     networkDoc             `json:"network,omitzero" jsonschema:"The network."`
	Credentials section[credentialDoc] `json:"credentials,omitzero" jsonschema:"How each role's credential is delivered."`
	User        userDoc                `json:"user,omitzero" jsonschema:"Who the command runs as."`
	Image       imageDoc               `json:"image,omitzero" jsonschema:"The image, on engines."`
	Workspace   workspaceDoc           `json:"workspace,omitzero" jsonschema:"Where and how the workspace gets inside."`
	Artifacts   artifactsDoc           `json:"artifacts,omitzero" jsonschema:"Bounds of what is handed over after a run."`
	Sockets     []socketDoc            `json:"sockets,omitzero" jsonschema:"Unix sockets of the host a launch may mount."`
	Workdir     Text                   `json:"workdir,omitzero" jsonschema:"Working directory where neither launch nor workspace gives one."`
	Knobs       []knobDoc              `json:"knobs,omitzero" jsonschema:"Environment variables of the controller read at every launch."`
}

type environmentDoc struct {
	At      Position      `json:"-"`
	Forward texts         `json:"forward,omitzero" jsonschema:"Copied from the host where set there; a pattern may end in *."`
	Set     section[Text] `json:"set,omitzero" jsonschema:"Values every run gets. They are public."`
	Accept  texts         `json:"accept,omitzero" jsonschema:"Names a launch may set or forward; a pattern may end in *."`
	Deny    texts         `json:"deny,omitzero" jsonschema:"Names that never reach the command; a pattern may end in *."`
	Because Text          `json:"because,omitzero" jsonschema:"Why it is wider than the base's."`
}

// limitDoc is a bound, or a mapping.
type limitDoc struct {
	At Position
	limitObject
}

type limitObject struct {
	Default raw  `json:"default,omitzero" jsonschema:"Where the launch asks for nothing."`
	Soft    raw  `json:"soft,omitzero" jsonschema:"The soft value of the default, of a kernel resource limit."`
	Hard    raw  `json:"hard,omitzero" jsonschema:"The hard value of the default, of a kernel resource limit."`
	Max     raw  `json:"max,omitzero" jsonschema:"The most a launch may ask for; the default where it is left out."`
	Because Text `json:"because,omitzero" jsonschema:"Why it is higher than the base's."`
}

func (l *limitDoc) read(s *source, n *yaml.Node, what string) {
	l.At = s.at(n)
	if n.Kind == yaml.MappingNode {
		s.decode(n, reflect.ValueOf(&l.limitObject).Elem(), what)
		return
	}
	l.Default.read(s, n, what)
}

type timeoutsDoc struct {
	At       Position `json:"-"`
	Start    raw      `json:"start,omitzero" jsonschema:"From prepare to ready."`
	Wall     raw      `json:"wall,omitzero" jsonschema:"From the command's start to its end."`
	Idle     raw      `json:"idle,omitzero" jsonschema:"Without output."`
	Grace    raw      `json:"grace,omitzero" jsonschema:"Between the first signal and the kill."`
	Liveness raw      `json:"liveness,omitzero" jsonschema:"Between two questions of the liveness hook."`
	Because  Text     `json:"because,omitzero" jsonschema:"Why longer than the base's."`
}

// hardeningDoc is a level, or a mapping.
type hardeningDoc struct {
	At Position
	hardeningObject
}

type hardeningObject struct {
	Level   raw  `json:"level,omitzero" jsonschema:"required, preferred or off."`
	Value   Text `json:"value,omitzero" jsonschema:"The name of a filter or profile."`
	Because Text `json:"because,omitzero" jsonschema:"Why weaker than the base's."`
}

func (h *hardeningDoc) read(s *source, n *yaml.Node, what string) {
	h.At = s.at(n)
	if n.Kind == yaml.MappingNode {
		s.decode(n, reflect.ValueOf(&h.hardeningObject).Elem(), what)
		return
	}
	h.Level.read(s, n, what)
}

// mountDoc has exactly one key of a kind. Of a kind with a source it is the source; else it is the target.
type mountDoc struct {
	At       Position `json:"-"`
	BindRO   Text     `json:"bind-ro,omitzero" jsonschema:"A host path, read-only."`
	BindRW   Text     `json:"bind-rw,omitzero" jsonschema:"A host path, writable."`
	Tmpfs    Text     `json:"tmpfs,omitzero" jsonschema:"The place of an empty directory in memory."`
	Volume   Text     `json:"volume,omitzero" jsonschema:"A volume by name."`
	File     Text     `json:"file,omitzero" jsonschema:"The place of a read-only file with the given text."`
	Symlink  Text     `json:"symlink,omitzero" jsonschema:"The text of a symbolic link."`
	Mask     Text     `json:"mask,omitzero" jsonschema:"The place of a file or directory to hide."`
	Device   Text     `json:"device,omitzero" jsonschema:"A device node of the host."`
	Socket   Text     `json:"socket,omitzero" jsonschema:"A unix socket of the host."`
	Proc     Text     `json:"proc,omitzero" jsonschema:"The place of a process file system."`
	Dev      Text     `json:"dev,omitzero" jsonschema:"The place of a minimal /dev."`
	Dir      Text     `json:"dir,omitzero" jsonschema:"The place of an empty directory."`
	Target   Text     `json:"target,omitzero" jsonschema:"The place inside; the source's own path where it is left out."`
	Size     raw      `json:"size,omitzero" jsonschema:"Bound of a tmpfs, as 64MiB."`
	Mode     raw      `json:"mode,omitzero" jsonschema:"Permission in octal, as 0755."`
	Text     Text     `json:"text,omitzero" jsonschema:"Content of a file. It is public."`
	Scope    Text     `json:"scope,omitzero" jsonschema:"Life of a volume: run, session or cache."`
	Optional boolean  `json:"optional,omitzero" jsonschema:"Left out where the source is absent; read-only binds only."`
	Because  Text     `json:"because,omitzero" jsonschema:"Why it is added to the base's."`
}

type networkDoc struct {
	At      Position `json:"-"`
	Default Text     `json:"default,omitzero" jsonschema:"Where the launch asks for nothing: none, host, private."`
	Accept  texts    `json:"accept,omitzero" jsonschema:"What a launch may ask for."`
	Because Text     `json:"because,omitzero" jsonschema:"Why wider than the base's."`
}

type credentialDoc struct {
	At         Position `json:"-"`
	Env        Text     `json:"env,omitzero" jsonschema:"Delivered as this environment variable."`
	File       Text     `json:"file,omitzero" jsonschema:"Delivered as a read-only file at this path inside."`
	Descriptor boolean  `json:"descriptor,omitzero" jsonschema:"Delivered as a descriptor."`
	Mode       raw      `json:"mode,omitzero" jsonschema:"Permission of the file, in octal."`
}

type userDoc struct {
	At      Position `json:"-"`
	Default Text     `json:"default,omitzero" jsonschema:"image, caller or id."`
	UID     raw      `json:"uid,omitzero" jsonschema:"With default: id."`
	GID     raw      `json:"gid,omitzero" jsonschema:"With default: id."`
	Accept  texts    `json:"accept,omitzero" jsonschema:"What a launch may ask for."`
	Because Text     `json:"because,omitzero" jsonschema:"Why wider than the base's."`
}

type imageDoc struct {
	At       Position `json:"-"`
	Default  Text     `json:"default,omitzero" jsonschema:"The image where the launch names none."`
	Pull     Text     `json:"pull,omitzero" jsonschema:"never, missing or always."`
	Platform Text     `json:"platform,omitzero" jsonschema:"os/arch[/variant]."`
	Accept   texts    `json:"accept,omitzero" jsonschema:"Images a launch may name: exact, or a prefix that ends in *."`
	Because  Text     `json:"because,omitzero" jsonschema:"Why wider than the base's."`
}

type workspaceDoc struct {
	At      Position `json:"-"`
	Target  Text     `json:"target,omitzero" jsonschema:"The place inside."`
	Default Text     `json:"default,omitzero" jsonschema:"The mode where the launch names none. Without it: bind-rw, and volume where the engine does not see this host's files."`
	Accept  texts    `json:"accept,omitzero" jsonschema:"Modes a launch may ask for: bind-rw, bind-ro, copy, volume."`
	Files   raw      `json:"files,omitzero" jsonschema:"Most files of a copy."`
	Bytes   raw      `json:"bytes,omitzero" jsonschema:"Most bytes of a copy."`
	Because Text     `json:"because,omitzero" jsonschema:"Why wider than the base's."`
}

type artifactsDoc struct {
	At      Position `json:"-"`
	Bytes   raw      `json:"bytes,omitzero" jsonschema:"Most bytes handed over."`
	Files   raw      `json:"files,omitzero" jsonschema:"Most files handed over."`
	Depth   raw      `json:"depth,omitzero" jsonschema:"Most directories in each other."`
	Timeout raw      `json:"timeout,omitzero" jsonschema:"Longest time the export takes."`
	Because Text     `json:"because,omitzero" jsonschema:"Why wider than the base's."`
}

type socketDoc struct {
	At      Position `json:"-"`
	Path    Text     `json:"path" jsonschema:"A unix socket of the host."`
	Because Text     `json:"because" jsonschema:"Why it may be reached from inside."`
}

type knobDoc struct {
	At      Position `json:"-"`
	Env     Text     `json:"env" jsonschema:"Environment variable of the controller."`
	Sets    Text     `json:"sets" jsonschema:"image, user, endpoint, program or limits.NAME."`
	Default Text     `json:"default,omitzero" jsonschema:"Its value where it is not set."`
	Because Text     `json:"because,omitzero" jsonschema:"Why the program or endpoint may be set."`
}

type lifecycleDoc struct {
	At        Position    `json:"-"`
	Prepare   Text        `json:"prepare,omitzero" jsonschema:"none, directory, container or script."`
	Start     startDoc    `json:"start,omitzero" jsonschema:"How step 4 holds and watches the start."`
	Stop      []rungDoc   `json:"stop,omitzero" jsonschema:"The ladder that ends a run, from gentle to certain."`
	Remove    teardownDoc `json:"remove,omitzero" jsonschema:"What removal stands on."`
	Export    Text        `json:"export,omitzero" jsonschema:"none, archive or script."`
	Reconcile Text        `json:"reconcile,omitzero" jsonschema:"none, processes, labels or script."`
	Because   Text        `json:"because,omitzero" jsonschema:"Why another lifecycle than the base's."`
}

type startDoc struct {
	At      Position `json:"-"`
	Gate    Text     `json:"gate,omitzero" jsonschema:"block-fd, exec-stop, create, script or none."`
	Status  Text     `json:"status,omitzero" jsonschema:"json-status-fd, wait, inspect, script or none."`
	Session Text     `json:"session,omitzero" jsonschema:"new or own."`
}

type rungDoc struct {
	At     Position `json:"-"`
	Signal Text     `json:"signal,omitzero" jsonschema:"A signal's name, as TERM."`
	Kill   boolean  `json:"kill,omitzero" jsonschema:"The backend's own kill, which takes all with it."`
	Grace  raw      `json:"grace,omitzero" jsonschema:"How long the rung waits for the end."`
}

type teardownDoc struct {
	At       Position `json:"-"`
	Teardown Text     `json:"teardown" jsonschema:"namespace, session, container or script."`
}
