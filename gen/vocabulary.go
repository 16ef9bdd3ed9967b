package gen

import "github.com/sbxkit/sbxkit/spec"

// subject is how a vocabulary name stands in a request: when it is asked for, what it repeats over and where its values are. All
// expressions are Go over r, a *runtime.Request, and the item of the list.
type subject struct {
	// asked is the condition; empty where the name is asked for by every launch.
	asked string
	// list is the slice a repeated name ranges over, item the name of one item in it, keep the condition on an item (empty: all).
	list, item, keep string
	// bare: the items are strings, not structs.
	bare bool
	// values by their name in the vocabulary.
	values map[string]operand
	// field is the expression of the origin's field for an item that knows where it comes from; empty: the vocabulary's field.
	field string
}

// subjectOf finds how a request carries the name. ok is false where it does not: the driver alone does what such a name asks for, and
// no word can.
func subjectOf(term spec.Term) (subject, bool) {
	s, ok := subjects[term.Name]
	if !ok {
		return subject{}, false
	}
	values := make(map[string]operand, len(s.values))
	for name, o := range s.values {
		v, found := term.Value(name)
		if !found {
			return subject{}, false
		}
		o.format, o.private = v.Format, v.Private
		values[name] = o
	}
	s.values = values
	return s, true
}

// subjects holds the names that a request carries. A test compares it with the vocabulary: every name with its values, or one of those
// that unspeakable lists.
var subjects = func() map[string]subject {
	all := map[string]subject{
		"command": {list: "r.Command", item: "word", bare: true, values: text("word", "word"), field: "r.CommandField()"},
		"script":  {asked: "r.Script != nil"},

		"environment": {list: "r.Env", item: "v", values: text("name", "v.Name", "value", "v.Value"), field: "v.Field()"},
		"credentials.env": {list: "r.Credentials", item: "grant", keep: `grant.Env != ""`, field: "grant.Field()", values: map[string]operand{
			"name": {expr: "grant.Env"}, "value": {expr: "grant.Value", typ: goBytes},
		}},
		"credentials.file": {list: "r.Credentials", item: "grant", keep: `grant.File != ""`, field: "grant.Field()", values: map[string]operand{
			"descriptor": {expr: "grant.Descriptor", typ: goInt}, "target": {expr: "grant.File"}, "mode": {expr: "grant.Mode", typ: goUint32},
		}},
		"credentials.descriptor": {
			list: "r.Credentials", item: "grant", keep: `grant.Env == "" && grant.File == ""`, field: "grant.Field()",
			values: number("descriptor", "grant.Descriptor", goInt),
		},

		"workdir":  {asked: `r.Dir != ""`, values: text("path", "r.Dir")},
		"hostname": {asked: `r.Hostname != ""`, values: text("name", "r.Hostname")},
		"labels":   {list: "r.Labels", item: "l", keep: "!l.Reserved()", values: text("name", "l.Name", "value", "l.Value")},

		"user.image":  {asked: "r.User.Kind == runtime.UserImage"},
		"user.caller": {asked: "r.User.Kind == runtime.UserCaller", values: ids()},
		"user.id":     {asked: "r.User.Kind == runtime.UserID", values: ids()},

		"image":          {asked: `r.Image.Ref != ""`, values: text("ref", "r.Image.Ref")},
		"image.pull":     {asked: `r.Image.Pull != ""`},
		"image.platform": {asked: `r.Image.Platform != ""`, values: text("platform", "r.Image.Platform")},

		"network.none":    {asked: "r.Network.Mode == runtime.NetworkNone"},
		"network.host":    {asked: "r.Network.Mode == runtime.NetworkHost"},
		"network.private": {asked: "r.Network.Mode == runtime.NetworkPrivate", values: runName("network")},
		"network.egress":  {asked: "r.Network.Mode == runtime.NetworkEgress", values: text("socket", "r.Network.Socket")},
		"network.session": {asked: "r.Network.Mode == runtime.NetworkSession", values: text("session", "r.Network.Session")},
		"network.publish": {list: "r.Network.Publish", item: "p", values: map[string]operand{
			"address": {expr: "p.Address"}, "host": {expr: "p.Host", typ: goInt},
			"container": {expr: "p.Container", typ: goInt}, "protocol": {expr: "p.Protocol"},
		}},
		"network.aliases": {list: "r.Network.Aliases", item: "alias", bare: true, values: text("name", "alias")},
		"network.hosts": {list: "r.Network.Hosts", item: "h", values: map[string]operand{
			"name": {expr: "h.Name"}, "address": {expr: "h.Address", typ: goAddr},
		}},
		"network.dns": {list: "r.Network.DNS", item: "server", bare: true, values: map[string]operand{
			"address": {expr: "server", typ: goAddr},
		}},

		"limits.cpuset": {asked: `r.Limits.CPUSet != ""`, values: text("cpuset", "r.Limits.CPUSet")},
		"limits.cpus": {asked: "r.Limits.CPUs != nil", values: map[string]operand{
			"cpus": {expr: "r.Limits.CPUs.Hard", typ: goUint64}, "nanocpus": {expr: "r.Limits.CPUs.Hard", typ: goUint64},
		}},
		"limits.swap": {asked: "r.Limits.Swap != nil", values: map[string]operand{
			"max": {expr: "r.Limits.Swap.Hard", typ: goUint64}, "total": {expr: "r.Limits.SwapTotal()", typ: goUint64},
		}},

		"hardening.seccomp": {asked: `r.Hardening.Seccomp != ""`, values: map[string]operand{
			"descriptor": {expr: "r.Descriptors.Seccomp", typ: goInt}, "profile": {expr: "r.Hardening.Seccomp"},
		}},
		"hardening.seccomp-profile": {asked: `r.Hardening.SeccompProfile != ""`, values: text("path", "r.Hardening.SeccompProfile")},
		"hardening.apparmor":        {asked: `r.Hardening.AppArmor != ""`, values: text("profile", "r.Hardening.AppArmor")},

		"stdin.none":     {asked: "r.Stdin == runtime.StdinNone"},
		"stdin.pipe":     {asked: "r.Stdin == runtime.StdinPipe"},
		"stdin.file":     {asked: "r.Stdin == runtime.StdinFile"},
		"streams.shared": {asked: "r.SameSink"},
		"terminal": {asked: "r.Terminal != nil", values: map[string]operand{
			"columns": {expr: "r.Terminal.Columns", typ: goUint16}, "rows": {expr: "r.Terminal.Rows", typ: goUint16},
			"term": {expr: "r.Terminal.Term"},
		}},

		"ready.exec":         {asked: "r.Ready != nil && len(r.Ready.Exec) != 0"},
		"ready.port":         {asked: "r.Ready != nil && r.Ready.Port != 0", values: number("port", "r.Ready.Port", goInt)},
		"ready.line":         {asked: `r.Ready != nil && r.Ready.Line != ""`},
		"ready.notify":       {asked: "r.Descriptors.Notify != 0", values: number("descriptor", "r.Descriptors.Notify", goInt)},
		"ready.health":       {asked: "r.Ready != nil && r.Ready.Health"},
		"liveness.hook":      {asked: "r.Liveness"},
		"liveness.heartbeat": {asked: "r.Descriptors.Heartbeat != 0", values: number("descriptor", "r.Descriptors.Heartbeat", goInt)},
		"artifacts":          {asked: "r.Artifacts != nil"},

		"run.name":    {values: runName("name")},
		"run.labels":  {list: "r.Labels", item: "l", keep: "l.Reserved()", values: text("name", "l.Name", "value", "l.Value")},
		"gate.args":   {asked: "r.Descriptors.Args != 0", values: number("descriptor", "r.Descriptors.Args", goInt)},
		"gate.block":  {asked: "r.Descriptors.Block != 0", values: number("descriptor", "r.Descriptors.Block", goInt)},
		"gate.status": {asked: "r.Descriptors.Status != 0", values: number("descriptor", "r.Descriptors.Status", goInt)},
	}
	for mode, constant := range map[string]string{
		"bind-rw": "BindRW", "bind-ro": "BindRO", "copy": "Copy", "volume": "Volume",
	} {
		all["workspace."+mode] = subject{
			asked:  "r.Workspace != nil && r.Workspace.Mode == runtime.Workspace" + constant,
			values: text("source", "r.Workspace.Source", "target", "r.Workspace.Target"),
		}
	}
	for kind := range mountKinds {
		all["mount."+kind] = subject{list: "r.Mounts", item: "m", field: "m.Origin", values: map[string]operand{}}
	}
	for _, term := range spec.Vocabulary() {
		switch term.Group() {
		case "mount":
			for _, v := range term.Values {
				all[term.Name].values[v.Name] = mountValues[v.Name]
			}
		case "limits", "timeouts", "hardening":
			if _, ok := all[term.Name]; !ok {
				all[term.Name] = byField(term)
			}
		}
	}
	return all
}()

// mountKinds gives the constant of each kind of mount.
var mountKinds = map[string]string{
	"bind-ro": "MountBindRO", "bind-rw": "MountBindRW", "tmpfs": "MountTmpfs", "volume": "MountVolume", "file": "MountFile",
	"symlink": "MountSymlink", "mask-file": "MountMaskFile", "mask-dir": "MountMaskDir", "device": "MountDevice",
	"socket": "MountSocket", "proc": "MountProc", "dev": "MountDev", "dir": "MountDir",
}

var mountValues = map[string]operand{
	"source": {expr: "m.Source"}, "target": {expr: "m.Target"}, "size": {expr: "m.Size", typ: goInt64},
	"mode": {expr: "m.Permission()", typ: goUint32}, "descriptor": {expr: "m.Descriptor", typ: goInt},
}

// unspeakable are the names no word can spell: what they ask for is done before a request exists, or by the driver.
var unspeakable = map[string]bool{
	"environment.set": true, "environment.forward": true, "environment.deny": true, "environment.path": true,
	"streams.stdout": true, "streams.stderr": true, "charge": true,
}

// byField gives a limit, timeout or hardening option, whose field in a request is the launch's own.
func byField(term spec.Term) subject {
	field := "r." + term.Field
	switch term.Group() {
	case "timeouts":
		return subject{asked: field + " != 0", values: number("seconds", field, goDuration)}
	case "hardening":
		return subject{asked: field}
	default:
		s := subject{asked: field + " != nil", values: map[string]operand{}}
		for _, v := range term.Values {
			bound := ".Hard"
			if v.Name == "soft" {
				bound = ".Soft"
			}
			s.values[v.Name] = operand{expr: field + bound, typ: goUint64}
		}
		return s
	}
}

// text gives text values by pairs of name and expression.
func text(pairs ...string) map[string]operand {
	values := make(map[string]operand, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		values[pairs[i]] = operand{expr: pairs[i+1]}
	}
	return values
}

func runName(name string) map[string]operand {
	return map[string]operand{name: {expr: "r.Run", typ: goRunName}}
}

func number(name, expression string, typ goType) map[string]operand {
	return map[string]operand{name: {expr: expression, typ: typ}}
}

func ids() map[string]operand {
	return map[string]operand{"uid": {expr: "r.User.UID", typ: goInt}, "gid": {expr: "r.User.GID", typ: goInt}}
}
