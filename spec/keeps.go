package spec

import "slices"

// keeps checks that the policy asks for nothing by default that the dialect refuses: such a backend could never launch.
func (c *checker) keeps() {
	p := &c.b.Policy
	refuse := func(pos Position, what, name string) {
		if f, _ := c.b.Feature(name); f.How == HowUnsupported {
			c.errorf(c.here(pos, f.Pos), "", "%s asks for %s, which is unsupported here: %s", what, name, f.Reason)
		}
	}
	for _, l := range p.Limits {
		if l.Default != nil || l.Text != "" {
			refuse(l.Pos, "policy.limits", l.Name)
		}
	}
	for _, h := range p.Hardening {
		if h.Level == LevelRequired {
			refuse(h.Pos, "policy.hardening", h.Name)
		}
	}
	for _, m := range p.Mounts {
		names := []string{"mount." + m.Kind}
		if m.Kind == "mask" {
			names = []string{"mount.mask-file", "mount.mask-dir"}
		}
		for _, name := range names {
			refuse(m.Pos, "policy.mounts", name)
		}
	}
	for _, mode := range append([]string{p.Network.Default}, p.Network.Accept...) {
		refuse(p.Network.Pos, "policy.network", "network."+mode)
	}
	for _, kind := range append([]string{p.User.Default}, p.User.Accept...) {
		refuse(p.User.Pos, "policy.user", "user."+kind)
	}
	for _, mode := range p.Workspace.Accept {
		refuse(p.Workspace.Pos, "policy.workspace", "workspace."+mode)
	}
	for _, r := range p.Credentials {
		how := "credentials.env"
		switch {
		case r.File != "":
			how = "credentials.file"
		case r.Descriptor:
			how = "credentials.descriptor"
		}
		refuse(r.Pos, "policy.credentials", how)
		if r.Env != "" && slices.ContainsFunc(p.Environment.Deny, func(t Text) bool { return matches(t.Text, r.Env) }) {
			c.errorf(c.here(r.Pos, c.doc.Policy.Environment.At), "", "policy.credentials delivers %s, which policy.environment.deny removes", r.Env)
		}
	}
	if p.Image.Default != "" {
		refuse(p.Image.Pos, "policy.image", "image")
	}
	for _, t := range p.Sockets {
		refuse(t.Pos, "policy.sockets", "mount.socket")
	}
	if p.Network.Default == "" {
		c.errorf(c.doc.At, "write policy: {network: {default: none}}", "policy.network.default is missing")
	}
}
