package runtime

import (
	"fmt"
	"maps"
	"net/netip"
	"os/exec"
	"path"
	"reflect"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
)

// ResolveInput is everything Resolve may use.
type ResolveInput struct {
	Description *Description
	Launch      *Launch
	Run         RunName
	// Environ is the controller's environment as NAME=value (os.Environ); knobs and forwarded variables are read from it.
	Environ  []string
	Identity Identity
	Image    *ImageFacts
	// CallerUID and CallerGID are the controller's own, for UserCaller.
	CallerUID, CallerGID int
}

// Resolve merges a launch into a policy. It is pure. What the policy forbids is Denied, what the backend or host cannot do is
// Unsupported; both name the feature and never a private value. Mounts come out in the order asked for (policy, workspace,
// launch); a backend's planner orders them.
func Resolve(in ResolveInput) (*Request, []Dropped, error) {
	r := &resolver{in: in, d: in.Description, p: &in.Description.Policy, l: in.Launch, host: environMap(in.Environ), asked: map[string]bool{}}
	r.req = &Request{Run: in.Run, Because: in.Description.Because}
	for _, step := range []func() error{
		r.knobs, r.command, r.place, r.environment, r.credentials, r.user, r.image, r.mounts, r.network, r.limits, r.hardening,
		r.streams, r.times, r.labels, r.descriptors, r.supported,
	} {
		if err := step(); err != nil {
			return nil, nil, err
		}
	}
	sort.Slice(r.req.Env, func(i, j int) bool { return r.req.Env[i].Name < r.req.Env[j].Name })
	r.req.Asked = slices.Sorted(maps.Keys(r.asked))
	return r.req, r.dropped, nil
}

type resolver struct {
	in      ResolveInput
	d       *Description
	p       *Policy
	l       *Launch
	req     *Request
	host    map[string]string
	asked   map[string]bool
	dropped []Dropped
	// knobImage and knobUser are policy values a knob has set; knobLimits likewise, by name.
	knobImage  string
	knobUser   string
	knobLimits map[string]uint64
}

func denied(feature, format string, args ...any) *Failure {
	return Fail(Denied, format, args...).At(StepPlan).About(feature)
}

func environMap(environ []string) map[string]string {
	m := make(map[string]string, len(environ))
	for _, e := range environ {
		if name, value, ok := strings.Cut(e, "="); ok && name != "" {
			m[name] = value
		}
	}
	return m
}

func (r *resolver) ask(feature string) { r.asked[feature] = true }

// knobs reads the controller's environment for the policy values a spec lets it set.
func (r *resolver) knobs() error {
	for _, k := range r.p.Knobs {
		v, ok := r.host[k.Env]
		if !ok || v == "" {
			v = k.Default
		}
		if v == "" {
			continue
		}
		switch {
		case k.Sets == "image":
			r.knobImage = v
		case k.Sets == "user":
			r.knobUser = v
		case strings.HasPrefix(k.Sets, "limits."):
			n, err := strconv.ParseUint(v, 10, 64)
			if err != nil {
				return denied(k.Sets, "%s is not a whole number", k.Env).WithCure("set %s to a number in the unit of %s, or unset it", k.Env, k.Sets)
			}
			if r.knobLimits == nil {
				r.knobLimits = map[string]uint64{}
			}
			r.knobLimits[k.Sets] = n
		}
	}
	return nil
}

func (r *resolver) command() error {
	l := r.l
	if (len(l.Argv) > 0) == (l.Script != nil) {
		return denied("command", "a launch needs exactly one of Argv and Script")
	}
	words := l.Argv
	if l.Script != nil {
		if len(l.Script.Interpreter) == 0 {
			return denied("script", "a script needs an interpreter").WithCure(`set Script.Interpreter, such as {"/bin/sh", "-eu"}`)
		}
		r.ask("script")
		words = append(slices.Clone(l.Script.Interpreter), ScriptTarget)
		words = append(words, l.Script.Args...)
		r.req.Script = &StagedScript{Target: ScriptTarget, Text: l.Script.Text, Word: len(l.Script.Interpreter)}
	}
	r.ask("command")
	if words[0] == "" {
		return denied("command", "the program's name is empty").Because(exec.ErrNotFound)
	}
	for i, w := range words {
		if strings.IndexByte(w, 0) >= 0 {
			return denied("command", "word %d of the command holds a NUL byte, which no command line can carry", i)
		}
	}
	r.req.Command = words
	return nil
}

// place settles the workspace and the working directory.
func (r *resolver) place() error {
	if w := r.l.Workspace; w != nil {
		c := *w
		if c.Mode == WorkspaceDefault {
			c.Mode = WorkspaceBindRW
			if c.Treeish != "" {
				c.Mode = WorkspaceCopy
			}
		}
		feature := "workspace." + string(c.Mode)
		if !slices.Contains(r.p.Workspace.Accept, c.Mode) {
			return denied(feature, "the policy of %s does not accept a workspace of mode %s", r.d.Name, c.Mode).WithCure("use one of %v", r.p.Workspace.Accept)
		}
		if c.Source == "" || !path.IsAbs(c.Source) {
			return denied(feature, "the workspace's source %q is not an absolute path", c.Source)
		}
		if c.Treeish != "" && c.Mode != WorkspaceCopy && c.Mode != WorkspaceVolume {
			return denied(feature, "a git tree can be copied, not bound").WithCure("use workspace mode copy or volume")
		}
		if c.Target == "" {
			c.Target = r.p.Workspace.Target
		}
		if r.d.Unsandboxed {
			// Nothing is mounted: the place inside is the place outside.
			c.Target = c.Source
			if c.Mode == WorkspaceCopy {
				c.Target = path.Join(r.in.Run.Dir, "workspace")
			}
		}
		if !path.IsAbs(c.Target) || path.Clean(c.Target) != c.Target || c.Target == "/" {
			return denied(feature, "the workspace's place inside, %q, is not a clean absolute path below /", c.Target)
		}
		for _, b := range []struct {
			name   string
			v      *int64
			policy int64
		}{{"files", &c.Files, r.p.Workspace.Files}, {"bytes", &c.Bytes, r.p.Workspace.Bytes}} {
			if *b.v == 0 {
				*b.v = b.policy
			}
			if b.policy > 0 && *b.v > b.policy {
				return denied(feature, "the workspace's bound of %d %s is above the policy's %d", *b.v, b.name, b.policy)
			}
		}
		if c.Mode == WorkspaceCopy && r.in.Run.Dir == "" && r.d.Kind == "process" {
			return denied(feature, "a copied workspace needs a place of its own").WithCure("give the Sandbox a journal (WithJournal), or sbxctl --state DIR")
		}
		r.ask(feature)
		r.req.Workspace = &c
	}
	dir := r.l.Dir
	switch {
	case dir != "":
	case r.req.Workspace != nil:
		dir = r.req.Workspace.Target
	default:
		dir = r.p.Dir
	}
	if dir == "" && r.in.Image != nil {
		dir = r.in.Image.Workdir
	}
	if dir != "" {
		if !path.IsAbs(dir) || strings.IndexByte(dir, 0) >= 0 {
			return denied("workdir", "the working directory %q is not an absolute path", dir)
		}
		r.ask("workdir")
		r.req.Dir = path.Clean(dir)
	}
	if h := r.l.Hostname; h != "" {
		if !hostname.MatchString(h) || len(h) > 63 {
			return denied("hostname", "%q is not a host name (letters, digits, dots and hyphens, at most 63)", h)
		}
		r.ask("hostname")
		r.req.Hostname = h
	}
	return nil
}

var (
	hostname     = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$`)
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// matches reports whether a name is on a list of names and patterns that may end in *. An empty list matches nothing.
func matches(list []string, name string) bool {
	for _, p := range list {
		if prefix, ok := strings.CutSuffix(p, "*"); ok {
			if strings.HasPrefix(name, prefix) {
				return true
			}
		} else if p == name {
			return true
		}
	}
	return false
}

func (r *resolver) environment() error {
	p, l := r.p.Environment, r.l.Env
	vars := map[string]Variable{}
	for name, value := range r.host {
		if matches(p.Forward, name) && variableName.MatchString(name) {
			vars[name] = Variable{Name: name, Value: value, Origin: "forward"}
		}
	}
	for _, v := range p.Set {
		vars[v.Name] = Variable{Name: v.Name, Value: v.Value, Public: true, Origin: "policy"}
	}
	accepted := func(name string) bool { return matches(p.Accept, name) || matches(p.Forward, name) }
	for _, pattern := range l.Forward {
		r.ask("environment.forward")
		if !strings.HasSuffix(pattern, "*") && !accepted(pattern) {
			return denied("environment.forward", "the policy of %s does not let %s be forwarded", r.d.Name, pattern).WithCure("add it to policy.environment.accept of the spec, or leave it out")
		}
		for name, value := range r.host {
			if matches([]string{pattern}, name) && accepted(name) && variableName.MatchString(name) {
				vars[name] = Variable{Name: name, Value: value, Origin: "launch"}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(l.Set)) {
		r.ask("environment.set")
		if !variableName.MatchString(name) {
			return denied("environment.set", "%q is not a variable's name (letters, digits and underscore, no digit first)", name)
		}
		if !matches(p.Accept, name) {
			return denied("environment.set", "the policy of %s does not let a launch set %s", r.d.Name, name).WithCure("add it to policy.environment.accept of the spec, or give it as a credential by role")
		}
		if strings.IndexByte(l.Set[name], 0) >= 0 {
			return denied("environment.set", "the value of %s holds a NUL byte, which no environment can carry", name)
		}
		vars[name] = Variable{Name: name, Value: l.Set[name], Origin: "launch"}
	}
	if err := r.searchPath(vars); err != nil {
		return err
	}
	if len(l.Deny) > 0 {
		r.ask("environment.deny")
	}
	for name := range vars {
		if matches(p.Deny, name) || matches(l.Deny, name) {
			delete(vars, name)
		}
	}
	for _, v := range vars {
		r.req.Env = append(r.req.Env, v)
	}
	if len(vars) > 0 {
		r.ask("environment")
	}
	return nil
}

func (r *resolver) searchPath(vars map[string]Variable) error {
	l := r.l.Env.Path
	if l.Set == "" && len(l.Prepend) == 0 {
		return nil
	}
	r.ask("environment.path")
	value, public := l.Set, false
	if value == "" {
		value = vars["PATH"].Value
		public = vars["PATH"].Public
		if value == "" && r.in.Image != nil {
			value = environMap(r.in.Image.Env)["PATH"]
		}
	}
	for _, d := range slices.Backward(l.Prepend) {
		if !path.IsAbs(d) || strings.ContainsAny(d, ":\x00") {
			return denied("environment.path", "%q is not a directory PATH can hold (absolute, no colon)", d)
		}
		if value == "" {
			value = d
		} else {
			value = d + ":" + value
		}
		public = false
	}
	if strings.IndexByte(value, 0) >= 0 {
		return denied("environment.path", "PATH holds a NUL byte, which no environment can carry")
	}
	vars["PATH"] = Variable{Name: "PATH", Value: value, Public: public, Origin: "launch"}
	return nil
}

func (r *resolver) credentials() error {
	for _, role := range slices.Sorted(maps.Keys(r.l.Credentials)) {
		i := slices.IndexFunc(r.p.Credentials, func(c CredentialRule) bool { return c.Role == role })
		if i < 0 {
			return denied("credentials", "the policy of %s declares no credential role %q", r.d.Name, role).WithCure("declare it under policy.credentials of the spec")
		}
		rule, value := r.p.Credentials[i], slices.Clone(r.l.Credentials[role].Value)
		g := CredentialGrant{Role: role, Env: rule.Env, File: rule.File, Mode: rule.Mode, Value: value}
		switch {
		case rule.Env != "":
			r.ask("credentials.env")
			if slices.Contains(value, 0) {
				return denied("credentials.env", "the credential of role %q holds a NUL byte, which no environment can carry", role)
			}
			if slices.ContainsFunc(r.req.Env, func(v Variable) bool { return v.Name == rule.Env }) {
				return denied("credentials.env", "%s is both a variable and the credential of role %q", rule.Env, role)
			}
			r.req.Env = append(r.req.Env, Variable{Name: rule.Env, Value: string(value), Origin: "credential " + role})
			r.ask("environment")
		case rule.File != "":
			r.ask("credentials.file")
			if g.Mode == 0 {
				g.Mode = 0o400
			}
		default:
			r.ask("credentials.descriptor")
		}
		r.req.Credentials = append(r.req.Credentials, g)
	}
	return nil
}

// descriptors numbers what the command sees beyond its three streams, and tells it by variables of the seam's own.
func (r *resolver) descriptors() error {
	next := FirstDescriptor
	give := func(name string) int {
		fd := next
		next++
		r.req.Env = append(r.req.Env, Variable{Name: name, Value: strconv.Itoa(fd), Public: true, Origin: "seam"})
		r.ask("environment")
		return fd
	}
	if r.l.Heartbeat > 0 {
		r.req.Descriptors.Heartbeat = give("SBX_HEARTBEAT_FD")
	}
	if r.l.Ready != nil && r.l.Ready.Notify {
		r.req.Descriptors.Notify = give("SBX_NOTIFY_FD")
	}
	for i := range r.req.Credentials {
		if c := &r.req.Credentials[i]; c.Env == "" && c.File == "" {
			c.Descriptor = give("SBX_CREDENTIAL_" + strings.ToUpper(strings.NewReplacer("-", "_", ".", "_").Replace(c.Role)) + "_FD")
		}
	}
	return nil
}

func (r *resolver) user() error {
	u := r.l.User
	if u.Kind == UserDefault {
		u = r.p.User
		if r.knobUser != "" {
			uid, gid, _ := strings.Cut(r.knobUser, ":")
			if gid == "" {
				gid = uid
			}
			a, errA := strconv.Atoi(uid)
			b, errB := strconv.Atoi(gid)
			if errA != nil || errB != nil || a < 0 || b < 0 {
				return denied("user.id", "the user knob is %q, not uid or uid:gid", r.knobUser)
			}
			u = User{Kind: UserID, UID: a, GID: b}
		}
	} else if !slices.Contains(r.p.UserAccept, u.Kind) {
		return denied("user."+string(u.Kind), "the policy of %s does not let a launch choose its user by %s", r.d.Name, u.Kind).WithCure("use one of %v", r.p.UserAccept)
	}
	switch u.Kind {
	case UserDefault:
		return nil
	case UserCaller:
		u.UID, u.GID = r.in.CallerUID, r.in.CallerGID
	case UserID:
		if u.UID < 0 || u.GID < 0 || u.UID > 1<<31 || u.GID > 1<<31 {
			return denied("user.id", "%d:%d is not a user and group id", u.UID, u.GID)
		}
	case UserImage:
	default:
		return denied("user", "%q is not a way to name a user", string(u.Kind))
	}
	r.ask("user." + string(u.Kind))
	r.req.User = u
	return nil
}

func (r *resolver) image() error {
	i := r.l.Image
	if i.Ref == "" {
		i.Ref = r.p.Image.Ref
		if r.knobImage != "" {
			i.Ref = r.knobImage
		}
	} else {
		f, _ := r.d.Feature("image")
		if f.How != HowUnsupported && !matches(r.p.ImageAccept, i.Ref) && i.Ref != r.p.Image.Ref && i.Ref != r.knobImage {
			return denied("image", "the policy of %s does not accept the image %q", r.d.Name, i.Ref).WithCure("add it to policy.image.accept of the spec")
		}
		r.ask("image")
	}
	if strings.HasPrefix(i.Ref, "-") || strings.ContainsAny(i.Ref, " \t\r\n\x00") {
		return denied("image", "%q is not an image reference", i.Ref)
	}
	order := []PullPolicy{PullDefault, PullNever, PullMissing, PullAlways}
	want, allowed := slices.Index(order, i.Pull), slices.Index(order, r.p.Image.Pull)
	if want < 0 {
		return denied("image.pull", "%q is not a pull policy", string(i.Pull)).WithCure("use never, missing or always")
	}
	if i.Pull == PullDefault {
		i.Pull = r.p.Image.Pull
	} else {
		r.ask("image.pull")
		if want > max(allowed, 1) {
			return denied("image.pull", "the policy of %s is pull: %s; a launch cannot widen it to %s", r.d.Name, cmpOr(string(r.p.Image.Pull), "never"), i.Pull)
		}
	}
	if i.Pull == PullDefault {
		i.Pull = PullNever
	}
	if i.Platform == "" {
		i.Platform = r.p.Image.Platform
	}
	if i.Platform != "" {
		r.ask("image.platform")
	}
	if i.Ref != "" && r.d.Kind == "engine" {
		r.ask("image")
	}
	if r.d.Kind == "engine" && i.Ref == "" {
		return denied("image", "no image: neither the launch nor the policy of %s names one", r.d.Name).WithCure("set Launch.Image, or sbxctl --image REF")
	}
	r.req.Image = i
	return nil
}

func cmpOr(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

func (r *resolver) mounts() error {
	add := func(m Mount, origin string) error {
		m.Origin = origin
		if m.Kind == MountMask {
			// Which of the two it is, is the planner's to find out; the backend must be able to do both.
			r.ask("mount.mask-file")
			r.ask("mount.mask-dir")
		} else {
			r.ask("mount." + string(m.Kind))
		}
		if m.Scope == "" && m.Kind == MountVolume {
			m.Scope = VolumeRun
		}
		r.req.Mounts = append(r.req.Mounts, m)
		return nil
	}
	for i, m := range r.p.Mounts {
		if err := add(m, fmt.Sprintf("policy.mounts[%d]", i)); err != nil {
			return err
		}
	}
	if w := r.req.Workspace; w != nil && !r.d.Unsandboxed {
		m := Mount{Kind: MountBindRW, Source: w.Source, Target: w.Target}
		switch w.Mode {
		case WorkspaceBindRO:
			m.Kind = MountBindRO
		case WorkspaceCopy:
			m.Source = path.Join(r.in.Run.Dir, "workspace")
			if r.d.Kind == "engine" {
				m = Mount{}
			}
		case WorkspaceVolume:
			m = Mount{Kind: MountVolume, Source: r.in.Run.Name() + "-workspace", Target: w.Target}
		}
		if m.Kind != "" {
			if err := add(m, "workspace"); err != nil {
				return err
			}
		}
	}
	if s := r.req.Script; s != nil && r.d.Kind == "process" && !r.d.Unsandboxed {
		if err := add(Mount{Kind: MountFile, Target: s.Target, Data: s.Text, Mode: 0o444}, "script"); err != nil {
			return err
		}
	}
	for i, m := range r.l.Mounts {
		if !slices.Contains(mountKinds, m.Kind) {
			return denied("mount", "launch.Mounts[%d]: %q is not a kind of mount", i, string(m.Kind)).WithCure("use one of %v", mountKinds)
		}
		if m.Optional && m.Kind != MountBindRO {
			return denied("mount."+string(m.Kind), "launch.Mounts[%d] (%s): only a read-only bind can be optional, since a writable grant that is missing loses work", i, m.Target)
		}
		if err := add(m, fmt.Sprintf("launch.Mounts[%d]", i)); err != nil {
			return err
		}
	}
	return nil
}

var mountKinds = []MountKind{MountBindRO, MountBindRW, MountTmpfs, MountVolume, MountFile, MountSymlink, MountMask, MountDevice, MountSocket, MountProc, MountDev, MountDir}

func (r *resolver) network() error {
	n := r.l.Network
	switch n.Mode {
	case NetworkDefault:
		n.Mode = r.p.Network
		if n.Mode == NetworkDefault {
			n.Mode = NetworkNone
		}
	case NetworkNone, NetworkHost, NetworkPrivate, NetworkEgress, NetworkSession:
		// No network is always a tightening.
		if n.Mode != NetworkNone && n.Mode != r.p.Network && !slices.Contains(r.p.NetworkAccept, n.Mode) {
			return denied("network."+string(n.Mode), "the policy of %s does not accept network %s", r.d.Name, n.Mode).WithCure("add it to policy.network.accept of the spec")
		}
	default:
		return denied("network", "%q is not a kind of network", string(n.Mode))
	}
	r.ask("network." + string(n.Mode))
	for feature, used := range map[string]bool{
		"network.publish": len(n.Publish) > 0, "network.aliases": len(n.Aliases) > 0, "network.hosts": len(n.Hosts) > 0, "network.dns": len(n.DNS) > 0,
	} {
		if !used {
			continue
		}
		r.ask(feature)
		if n.Mode != NetworkPrivate && n.Mode != NetworkSession {
			return denied(feature, "%s needs a private network, and this launch has network %s", feature, n.Mode)
		}
	}
	n.Publish = slices.Clone(n.Publish)
	for i := range n.Publish {
		if err := n.Publish[i].settle(); err != nil {
			return err
		}
	}
	for _, name := range n.Aliases {
		if !hostname.MatchString(name) {
			return denied("network.aliases", "%q is not a host name (letters, digits, dots and hyphens)", name)
		}
	}
	for _, h := range n.Hosts {
		if !hostname.MatchString(h.Name) || !h.Address.IsValid() {
			return denied("network.hosts", "%q at %s is not a host name and an address", h.Name, h.Address)
		}
	}
	for _, server := range n.DNS {
		if !server.IsValid() {
			return denied("network.dns", "a name server has no address")
		}
	}
	if n.Mode == NetworkEgress {
		if !path.IsAbs(n.Socket) {
			return denied("network.egress", "network egress needs the absolute path of the proxy's unix socket")
		}
		// No route leads out but this socket, and the command learns where it is.
		r.ask("mount.socket")
		r.req.Mounts = append(r.req.Mounts, Mount{Kind: MountSocket, Source: n.Socket, Target: EgressTarget, Origin: "network"})
		r.req.Env = append(r.req.Env, Variable{Name: "SBX_EGRESS_SOCKET", Value: EgressTarget, Public: true, Origin: "seam"})
		r.ask("environment")
	}
	r.req.Network = n
	return nil
}

// settle fills in what a published port leaves out: the host's loopback, never all of its addresses, and TCP.
func (p *Port) settle() error {
	if p.Container < 1 || p.Container > 65535 || p.Host < 0 || p.Host > 65535 {
		return denied("network.publish", "port %d:%d is out of range", p.Host, p.Container)
	}
	if p.Address == "" {
		p.Address = "127.0.0.1"
	}
	if _, err := netip.ParseAddr(p.Address); err != nil {
		return denied("network.publish", "%q is not an IP address to publish port %d on", p.Address, p.Container)
	}
	if p.Protocol == "" {
		p.Protocol = "tcp"
	}
	if p.Protocol != "tcp" && p.Protocol != "udp" {
		return denied("network.publish", "port %d cannot be published for %q; use tcp or udp", p.Container, p.Protocol)
	}
	return nil
}

// limits merges each limit: the launch may lower what the policy gives.
func (r *resolver) limits() error {
	if s := r.l.Limits.CPUSet; s != "" {
		if !cpuset.MatchString(s) {
			return denied("limits.cpuset", "%q is not a list of CPUs such as 0-3,7", s)
		}
		r.req.Limits.CPUSet = s
		r.ask("limits.cpuset")
	} else if i := slices.IndexFunc(r.p.Limits, func(x LimitRule) bool { return x.Name == "limits.cpuset" }); i >= 0 && r.p.Limits[i].Text != "" {
		r.req.Limits.CPUSet = r.p.Limits[i].Text
		r.ask("limits.cpuset")
	}
	var asked Limits = r.l.Limits
	for _, f := range limitFields {
		want := *f.of(&asked)
		var rule LimitRule
		if i := slices.IndexFunc(r.p.Limits, func(x LimitRule) bool { return x.Name == f.name }); i >= 0 {
			rule = r.p.Limits[i]
		}
		if n, ok := r.knobLimits[f.name]; ok {
			if rule.Max != nil && n > rule.Max.Hard {
				return denied(f.name, "%s: a knob sets %d, above the policy's %d", f.name, n, rule.Max.Hard).WithCure("set the knob to at most %d, or raise policy.%s in the spec with a because", rule.Max.Hard, f.name)
			}
			rule.Default = AtMost(n)
		}
		top := rule.Max
		if top == nil {
			top = rule.Default
		}
		if want == nil {
			if rule.Default == nil {
				continue
			}
			want = rule.Default
		} else {
			if want.Soft > want.Hard {
				return denied(f.name, "%s: soft %d is above hard %d", f.name, want.Soft, want.Hard)
			}
			if top != nil && want.Hard > top.Hard {
				return denied(f.name, "%s: %d is above the policy's %d; a launch may lower a limit, not raise it", f.name, want.Hard, top.Hard).WithCure("ask for at most %d, or raise policy.%s in the spec with a because", top.Hard, f.name)
			}
		}
		c := *want
		*f.of(&r.req.Limits) = &c
		r.ask(f.name)
	}
	if r.req.Limits.Swap != nil && r.req.Limits.Memory == nil {
		return denied("limits.swap", "swap is bounded together with memory, and there is no limits.memory").WithCure("set Limits.Memory too")
	}
	return nil
}

var cpuset = regexp.MustCompile(`^[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*$`)

// limitFields are the fields of Limits with a number, by vocabulary name, read off the struct once.
var limitFields = func() (out []limitField) {
	t := reflect.TypeFor[Limits]()
	for i := range t.NumField() {
		if f := t.Field(i); f.Type == reflect.TypeFor[*Limit]() {
			out = append(out, limitField{f.Tag.Get("sbx"), func(l *Limits) **Limit { return reflect.ValueOf(l).Elem().Field(i).Addr().Interface().(**Limit) }})
		}
	}
	return out
}()

type limitField struct {
	name string
	of   func(*Limits) **Limit
}

// Get gives the limit of a vocabulary name, nil where it is not set or has none.
func (l *Limits) Get(name string) *Limit {
	for _, f := range limitFields {
		if f.name == name {
			return *f.of(l)
		}
	}
	return nil
}

// Put sets the limit of a vocabulary name and reports whether there is one of that name.
func (l *Limits) Put(name string, v *Limit) bool {
	for _, f := range limitFields {
		if f.name == name {
			*f.of(l) = v
			return true
		}
	}
	return false
}

// LimitNames lists the vocabulary names of every numeric limit.
func LimitNames() []string {
	names := make([]string, len(limitFields))
	for i, f := range limitFields {
		names[i] = f.name
	}
	return names
}

// hardeningFields are the fields of Hardening by vocabulary name: a bool, or the name of a profile.
var hardeningFields = func() map[string]int {
	t := reflect.TypeFor[Hardening]()
	m := make(map[string]int, t.NumField())
	for i := range t.NumField() {
		m[t.Field(i).Tag.Get("sbx")] = i
	}
	return m
}()

// Has reports whether a hardening option is asked for, by its vocabulary name.
func (h *Hardening) Has(name string) bool {
	i, ok := hardeningFields[name]
	return ok && !reflect.ValueOf(h).Elem().Field(i).IsZero()
}

func (h *Hardening) set(name, value string) {
	i, ok := hardeningFields[name]
	if !ok {
		return
	}
	if f := reflect.ValueOf(h).Elem().Field(i); f.Kind() == reflect.Bool {
		f.SetBool(true)
	} else {
		f.SetString(cmpOr(value, "default"))
	}
}

func (h *Hardening) value(name string) string {
	if i, ok := hardeningFields[name]; ok {
		if f := reflect.ValueOf(h).Elem().Field(i); f.Kind() == reflect.String {
			return f.String()
		}
	}
	return ""
}

// hardening takes the policy's options, adds the launch's, and drops a preferred one the host or backend cannot do, saying so.
func (r *resolver) hardening() error {
	out, asked := &r.req.Hardening, r.l.Hardening
	for _, rule := range r.p.Hardening {
		switch rule.Level {
		case LevelRequired:
			out.set(rule.Name, rule.Value)
			r.req.Required = append(r.req.Required, rule.Name)
		case LevelPreferred:
			if f := r.refusal(rule.Name); f != nil {
				r.dropped = append(r.dropped, Dropped{What: rule.Name, Why: f.Message})
			} else {
				out.set(rule.Name, rule.Value)
			}
		}
	}
	for name := range hardeningFields {
		if !asked.Has(name) {
			continue
		}
		if v, p := asked.value(name), out.value(name); v != "" && p != "" && v != p {
			return denied(name, "the policy of %s has %s: %s; a launch cannot change it to %s", r.d.Name, name, p, v)
		}
		out.set(name, asked.value(name))
		if !slices.Contains(r.req.Required, name) {
			r.req.Required = append(r.req.Required, name)
		}
	}
	if r.req.Hostname != "" && r.d.Kind == "process" && !r.d.Unsandboxed {
		out.UTSNamespace = true
	}
	for name := range hardeningFields {
		if out.Has(name) {
			r.ask(name)
		}
	}
	slices.Sort(r.req.Required)
	return nil
}

func (r *resolver) streams() error {
	l := r.l
	switch l.Stdin.Mode {
	case StdinDefault, StdinNone:
		r.req.Stdin = StdinNone
		if l.Stdin.Reader != nil || l.Stdin.File != nil {
			return denied("stdin", "a stdin reader or file needs Stdin.Mode pipe or file")
		}
	case StdinPipe:
		r.req.Stdin = StdinPipe
	case StdinFile:
		if l.Stdin.File == nil {
			return denied("stdin.file", "Stdin.Mode file needs Stdin.File")
		}
		r.req.Stdin = StdinFile
	default:
		return denied("stdin", "%q is not a kind of stdin", string(l.Stdin.Mode))
	}
	r.ask("stdin." + string(r.req.Stdin))
	r.ask("streams.stdout")
	r.ask("streams.stderr")
	if same(l.Stdout, l.Stderr) {
		r.req.SameSink = true
		r.ask("streams.shared")
	}
	if t := l.Terminal; t != nil {
		switch {
		case l.Stdin.Mode != StdinDefault:
			return denied("terminal", "a terminal is its own stdin: it cannot stand beside stdin %s", l.Stdin.Mode).WithCure("write to Run.Stdin, which is the terminal's")
		case l.Stdout == Pipe || l.Stderr == Pipe:
			return denied("terminal", "a terminal changes bytes: it cannot carry a duplex stream").WithCure("leave out the terminal where framing matters")
		case l.Stderr != nil && !r.req.SameSink:
			return denied("terminal", "a terminal has one merged stream: it cannot have a separate stderr").WithCure("set Stdout alone")
		}
		c := *t
		if c.Columns == 0 {
			c.Columns = 80
		}
		if c.Rows == 0 {
			c.Rows = 24
		}
		if c.Term == "" {
			c.Term = "xterm-256color"
		}
		r.ask("terminal")
		r.req.Terminal, r.req.SameSink = &c, true
		r.req.Env = slices.DeleteFunc(r.req.Env, func(v Variable) bool { return v.Name == "TERM" })
		r.req.Env = append(r.req.Env, Variable{Name: "TERM", Value: c.Term, Public: true, Origin: "seam"})
		r.ask("environment")
	}
	return nil
}

// same reports whether two sinks are one and the same, without panicking on a type that cannot be compared.
func same(a, b any) bool {
	if a == nil || b == nil || a == Pipe {
		return false
	}
	ta, tb := reflect.TypeOf(a), reflect.TypeOf(b)
	return ta == tb && reflect.ValueOf(a).Comparable() && reflect.ValueOf(b).Comparable() && a == b
}

func (r *resolver) times() error {
	l, p := r.l.Timeouts, r.p.Timeouts
	for _, t := range []struct {
		name             string
		want, policy     time.Duration
		out              *time.Duration
		lowerOnly, asked bool
	}{
		{"timeouts.start", l.Start, p.Start, &r.req.Timeouts.Start, true, true},
		{"timeouts.wall", l.Wall, p.Wall, &r.req.Timeouts.Wall, true, true},
		{"timeouts.idle", l.Idle, p.Idle, &r.req.Timeouts.Idle, true, true},
		{"timeouts.grace", l.Grace, p.Grace, &r.req.Timeouts.Grace, false, true},
		{"timeouts.liveness", l.Liveness, p.Liveness, &r.req.Timeouts.Liveness, false, r.l.Liveness != nil},
	} {
		if t.want < 0 {
			return denied(t.name, "%s: %v is negative", t.name, t.want)
		}
		*t.out = t.policy
		if t.want > 0 {
			if t.lowerOnly && t.policy > 0 && t.want > t.policy {
				return denied(t.name, "%s: %v is above the policy's %v; a launch may lower it, not raise it", t.name, t.want, t.policy)
			}
			*t.out = t.want
		}
		if *t.out > 0 && t.asked {
			r.ask(t.name)
		}
	}
	if r.l.Liveness != nil {
		r.ask("liveness.hook")
		r.req.Liveness = true
	}
	if r.l.Heartbeat < 0 {
		return denied("liveness.heartbeat", "a heartbeat of %v is negative", r.l.Heartbeat)
	}
	if r.l.Heartbeat > 0 {
		r.ask("liveness.heartbeat")
		r.req.Heartbeat = r.l.Heartbeat
	}
	if y := r.l.Ready; y != nil {
		n := 0
		for _, f := range []struct {
			name string
			set  bool
		}{{"ready.exec", len(y.Exec) > 0}, {"ready.port", y.Port > 0}, {"ready.line", y.Line != ""}, {"ready.notify", y.Notify}, {"ready.health", y.Health}} {
			if f.set {
				n++
				r.ask(f.name)
			}
		}
		if n != 1 {
			return denied("ready", "Ready needs exactly one of exec, port, line, notify and health")
		}
		c := *y
		r.req.Ready = &c
	}
	if a := r.l.Artifacts; a != nil && len(a.Paths) > 0 {
		if err := r.artifacts(*a); err != nil {
			return err
		}
	}
	if r.l.Charge != nil {
		r.ask("charge")
	}
	return nil
}

func (r *resolver) artifacts(a Artifacts) error {
	p := r.p.Artifacts
	for _, b := range []struct {
		name      string
		v, policy *int64
	}{{"bytes", &a.Bytes, &p.Bytes}, {"files", &a.Files, &p.Files}} {
		if *b.v == 0 {
			*b.v = *b.policy
		}
		if *b.policy > 0 && *b.v > *b.policy {
			return denied("artifacts", "artifacts of %d %s are above the policy's %d", *b.v, b.name, *b.policy)
		}
	}
	if a.Depth == 0 {
		a.Depth = p.Depth
	}
	if a.Timeout == 0 {
		a.Timeout = p.Timeout
	}
	a.Paths = slices.Clone(a.Paths)
	for i, q := range a.Paths {
		if !path.IsAbs(q) {
			q = path.Join(cmpOr(r.req.Dir, "/"), q)
		}
		if q = path.Clean(q); q == "/" || strings.IndexByte(q, 0) >= 0 {
			return denied("artifacts", "%q is not a path an artifact can have", a.Paths[i])
		}
		a.Paths[i] = q
	}
	r.ask("artifacts")
	r.req.Artifacts = &a
	return nil
}

func (r *resolver) labels() error {
	for _, name := range slices.Sorted(maps.Keys(r.l.Labels)) {
		if strings.HasPrefix(name, LabelPrefix) {
			return denied("labels", "the label %q has the reserved prefix %s", name, LabelPrefix)
		}
		if name == "" || strings.ContainsAny(name, "=\x00\n") || strings.ContainsAny(r.l.Labels[name], "\x00\n") {
			return denied("labels", "%q is not a label's name, or its value holds a line break", name)
		}
		r.ask("labels")
		r.req.Labels = append(r.req.Labels, Label{name, r.l.Labels[name]})
	}
	r.req.Labels = append(r.req.Labels, Label{LabelPrefix + "run", r.in.Run.ID})
	if r.in.Run.Owner != "" {
		r.req.Labels = append(r.req.Labels, Label{LabelPrefix + "owner", r.in.Run.Owner})
	}
	slices.SortFunc(r.req.Labels, func(a, b Label) int { return strings.Compare(a.Name, b.Name) })
	return nil
}

// refusal says why a feature cannot be had, or nil.
func (r *resolver) refusal(name string) *Failure {
	f, ok := r.d.Feature(name)
	if !ok {
		return Fail(Unsupported, "%s is not known to the backend %s", name, r.d.Name).At(StepPlan).About(name).WithCure("generate the backend again with this version of sbxgen")
	}
	if f.How == HowUnsupported {
		return Fail(Unsupported, "%s: %s", name, f.Reason).At(StepPlan).About(name)
	}
	for _, a := range r.in.Identity.Absent {
		if a.Feature == name {
			u := Fail(Unsupported, "%s: %s", name, a.Why).At(StepPlan).About(name)
			u.Cure = a.Cure
			return u
		}
	}
	return nil
}

func (r *resolver) supported() error {
	for _, name := range slices.Sorted(maps.Keys(r.asked)) {
		if f := r.refusal(name); f != nil {
			return f
		}
	}
	return nil
}
