package spec

import (
	"math"
	"regexp"
	"slices"
	"sort"
)

var (
	cpuList    = regexp.MustCompile(`^[0-9]{1,4}(-[0-9]{1,4})?(,[0-9]{1,4}(-[0-9]{1,4})?)*$`)
	imageRef   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/:@-]{0,254}$`)
	imagePat   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/:@-]{0,254}\*?$|^\*$`)
	volumeName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{1,127}$`)
)

func (c *checker) size(r raw, what string) uint64 {
	if !r.given() {
		return 0
	}
	n, ok := parseSize(r.Text)
	if !ok {
		c.errorf(r.Pos, "", "%s: %s is not bytes, as 65536 or 64KiB", what, quote(r.Text))
	}
	return n
}

func (c *checker) count(r raw, what string, most uint64) uint64 {
	if !r.given() {
		return 0
	}
	n, ok := parseCount(r.Text)
	if !ok || n > most {
		c.errorf(r.Pos, "", "%s: %s is no whole number of at most %d", what, quote(r.Text), most)
		return 0
	}
	return n
}

func (c *checker) mode(r raw, what string) uint32 {
	if !r.given() {
		return 0
	}
	n, ok := parseMode(r.Text)
	if !ok {
		c.errorf(r.Pos, "", "%s: %s is no permission in octal, as 0755", what, quote(r.Text))
	}
	return n
}

func (c *checker) network(d *networkDoc) {
	if d.At.Line == 0 {
		return
	}
	n := &c.b.Policy.Network
	n.Pos = d.At
	c.sentence(d.Because, "because")
	if c.oneOf(d.Default, "policy.network.default", networkRank...) != "" {
		if slices.Index(networkRank, d.Default.Text) > slices.Index(networkRank, n.Default) {
			c.needs(d.Default.Pos, "policy.network.default", d.Default.Text+" is wider than the base's "+n.Default, d.Because)
		}
		n.Default = d.Default.Text
	}
	if d.Accept != nil {
		n.Accept = c.subset(d.Accept, n.Accept, "policy.network.accept", d.Because, networkRank...)
	}
	c.reason(d.Because, "policy.network")
}

// subset reads a list of words of a closed set and asks for a reason for what the base's list does not hold.
func (c *checker) subset(list texts, base []string, what string, because Text, set ...string) []string {
	out := []string{}
	for _, t := range list {
		c.oneOf(t, what, set...)
		if slices.Contains(out, t.Text) {
			c.errorf(t.Pos, "", "%s: %s stands twice", what, quote(t.Text))
		}
		if !slices.Contains(base, t.Text) {
			c.needs(t.Pos, what, quote(t.Text)+" is not allowed by the base", because)
		}
		out = append(out, t.Text)
	}
	return out
}

func (c *checker) credentials(t section[credentialDoc]) {
	p := &c.b.Policy
	c.sentence(t.Because, "because")
	for _, r := range t.Entries {
		d, what := r.Value, "policy.credentials."+r.Key
		if !roleName.MatchString(r.Key) {
			c.errorf(r.Pos, "", "%s is no role: lower-case letters, digits and dashes", quote(r.Key))
		}
		rule := CredentialRule{Pos: r.Pos, Role: r.Key, Env: d.Env.Text, File: d.File.Text, Descriptor: d.Descriptor.Value}
		given := 0
		for _, ok := range []bool{d.Env.given(), d.File.given(), d.Descriptor.Value} {
			if ok {
				given++
			}
		}
		if given != 1 && d.At.Line > 0 {
			c.errorf(d.At, "", "%s is delivered in %d ways; exactly one of env, file and descriptor: true", what, given)
		}
		c.variable(d.Env, what+".env")
		c.path(d.File, what+".file")
		rule.Mode = c.mode(d.Mode, what+".mode")
		switch {
		case d.Mode.given() && !d.File.given():
			c.errorf(d.Mode.Pos, "", "%s.mode is for a file", what)
		case rule.Mode&0o222 != 0 || rule.Mode&0o007 != 0:
			c.errorf(d.Mode.Pos, "write 0400 or 0440", "%s.mode lets the file be written, or read by everybody", what)
		case d.File.given() && !d.Mode.given():
			rule.Mode = 0o400
		}
		if i := slices.IndexFunc(p.Credentials, func(o CredentialRule) bool { return o.Role == r.Key }); i >= 0 {
			p.Credentials[i] = rule
		} else {
			p.Credentials = append(p.Credentials, rule)
		}
	}
	sort.Slice(p.Credentials, func(i, j int) bool { return p.Credentials[i].Role < p.Credentials[j].Role })
	c.reason(t.Because, "policy.credentials")
}

func (c *checker) user(d *userDoc) {
	if d.At.Line == 0 {
		return
	}
	u := &c.b.Policy.User
	u.Pos = d.At
	c.sentence(d.Because, "because")
	if d.Default.given() {
		u.Default = c.oneOf(d.Default, "policy.user.default", userSet...)
		u.UID, u.GID = 0, 0
	}
	if d.UID.given() || d.GID.given() {
		if u.Default != "id" {
			c.errorf(d.At, "", "policy.user has uid or gid, but default is not id")
		}
		u.UID = int(c.count(d.UID, "policy.user.uid", math.MaxInt32))
		u.GID = int(c.count(d.GID, "policy.user.gid", math.MaxInt32))
	}
	if d.Default.Text == "id" && (!d.UID.given() || !d.GID.given()) {
		c.errorf(d.At, "", "policy.user.default: id needs uid and gid")
	}
	if d.Accept != nil {
		u.Accept = c.subset(d.Accept, u.Accept, "policy.user.accept", d.Because, userSet...)
	}
	c.reason(d.Because, "policy.user")
}

func (c *checker) image(d *imageDoc) {
	if d.At.Line == 0 {
		return
	}
	i := &c.b.Policy.Image
	i.Pos = d.At
	c.sentence(d.Because, "because")
	if d.Default.given() {
		if !imageRef.MatchString(d.Default.Text) {
			c.errorf(d.Default.Pos, "", "%s is no reference of an image", quote(d.Default.Text))
		}
		i.Default = d.Default.Text
	}
	if c.oneOf(d.Pull, "policy.image.pull", pullRank...) != "" {
		if slices.Index(pullRank, d.Pull.Text) > max(slices.Index(pullRank, i.Pull), 0) {
			c.needs(d.Pull.Pos, "policy.image.pull", "the base does not fetch images so freely", d.Because)
		}
		i.Pull = d.Pull.Text
	}
	if d.Platform.given() {
		if !platformName.MatchString(d.Platform.Text) {
			c.errorf(d.Platform.Pos, "", "%s is no os/arch[/variant]", quote(d.Platform.Text))
		}
		i.Platform = d.Platform.Text
	}
	if d.Accept != nil {
		for _, t := range d.Accept {
			if !imagePat.MatchString(t.Text) {
				c.errorf(t.Pos, "", "policy.image.accept: %s is no reference of an image, nor the beginning of one with * at its end", quote(t.Text))
			}
		}
		c.widerList(d.Accept, i.Accept, "policy.image.accept", d.Because)
		i.Accept = d.Accept
	}
	c.reason(d.Because, "policy.image")
}

func (c *checker) workspace(d *workspaceDoc) {
	if d.At.Line == 0 {
		return
	}
	w := &c.b.Policy.Workspace
	w.Pos = d.At
	c.sentence(d.Because, "because")
	if d.Target.given() {
		w.Target = c.path(d.Target, "policy.workspace.target")
	}
	if d.Accept != nil {
		w.Accept = c.subset(d.Accept, w.Accept, "policy.workspace.accept", d.Because, below("workspace")...)
	}
	if d.Default.given() {
		mode := c.oneOf(d.Default, "policy.workspace.default", below("workspace")...)
		if mode == "bind-rw" && w.Default != "" && w.Default != mode {
			c.needs(d.Default.Pos, "policy.workspace.default", "it is "+w.Default+" in the base", d.Because)
		}
		w.Default = mode
	}
	if at := d.Default; w.Default != "" && !slices.Contains(w.Accept, w.Default) {
		if !at.given() {
			at.Pos = d.At
		}
		c.errorf(at.Pos, "accept it too", "policy.workspace.default is %s, which policy.workspace.accept does not have", w.Default)
	}
	c.bound(d.Files, false, &w.Files, "policy.workspace.files", d.Because)
	c.bound(d.Bytes, true, &w.Bytes, "policy.workspace.bytes", d.Because)
	c.reason(d.Because, "policy.workspace")
}

// bound reads a bound of a copy; zero is none.
func (c *checker) bound(r raw, bytes bool, out *int64, what string, because Text) {
	if !r.given() {
		return
	}
	n := int64(0)
	if bytes {
		n = int64(c.size(r, what))
	} else {
		n = int64(c.count(r, what, math.MaxInt64))
	}
	if *out != 0 && (n == 0 || n > *out) {
		c.needs(r.Pos, what, "it is raised above the base's", because)
	}
	*out = n
}

func (c *checker) artifacts(d *artifactsDoc) {
	if d.At.Line == 0 {
		return
	}
	a := &c.b.Policy.Artifacts
	a.Pos = d.At
	c.sentence(d.Because, "because")
	c.bound(d.Bytes, true, &a.Bytes, "policy.artifacts.bytes", d.Because)
	c.bound(d.Files, false, &a.Files, "policy.artifacts.files", d.Because)
	depth := int64(a.Depth)
	if d.Depth.given() {
		c.bound(d.Depth, false, &depth, "policy.artifacts.depth", d.Because)
		a.Depth = int(min(depth, math.MaxInt32))
	}
	if v, ok := c.duration(d.Timeout, "policy.artifacts.timeout"); ok {
		if a.Timeout != 0 && (v == 0 || v > a.Timeout) {
			c.needs(d.Timeout.Pos, "policy.artifacts.timeout", "it is raised above the base's "+a.Timeout.String(), d.Because)
		}
		a.Timeout = v
	}
	c.reason(d.Because, "policy.artifacts")
}

func (c *checker) sockets(ds []socketDoc) {
	for _, d := range ds {
		c.path(d.Path, "policy.sockets")
		c.sentence(d.Because, "because")
		c.b.Policy.Sockets = append(c.b.Policy.Sockets, d.Path)
		c.reason(d.Because, "policy.sockets: "+d.Path.Text)
	}
}

func (c *checker) knobs(ds []knobDoc) {
	p := &c.b.Policy
	for _, d := range ds {
		k := Knob{d.At, d.Env.Text, d.Sets.Text, d.Default.Text}
		c.variable(d.Env, "policy.knobs: env")
		c.sentence(d.Because, "because")
		c.oneOf(d.Sets, "policy.knobs: sets", knobSet()...)
		i := slices.IndexFunc(p.Knobs, func(o Knob) bool { return o.Sets == k.Sets })
		other, twice := c.knobSets[k.Sets]
		c.knobSets[k.Sets] = d.At
		switch {
		case twice:
			c.errorf(d.At, "", "two knobs set %s; the other is on line %d", k.Sets, other.Line)
		case (k.Sets == "program" || k.Sets == "endpoint") && (i < 0 || p.Knobs[i].Env != k.Env):
			c.needs(d.At, "policy.knobs: "+k.Env, "the base does not let it set the "+k.Sets, d.Because)
		}
		if i >= 0 {
			p.Knobs[i] = k
		} else {
			p.Knobs = append(p.Knobs, k)
		}
		c.reason(d.Because, "policy.knobs: "+k.Env)
	}
}
