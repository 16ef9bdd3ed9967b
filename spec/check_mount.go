package spec

import (
	"fmt"
	"slices"
	"strings"
)

// kinds are what a policy's mount can be, with whether the key holds a source.
func (d *mountDoc) kinds() []struct {
	kind   string
	text   Text
	source bool
} {
	return []struct {
		kind   string
		text   Text
		source bool
	}{
		{"bind-ro", d.BindRO, true}, {"bind-rw", d.BindRW, true}, {"tmpfs", d.Tmpfs, false}, {"volume", d.Volume, true},
		{"file", d.File, false}, {"symlink", d.Symlink, true}, {"mask", d.Mask, false}, {"device", d.Device, true},
		{"socket", d.Socket, true}, {"proc", d.Proc, false}, {"dev", d.Dev, false}, {"dir", d.Dir, false},
	}
}

func (c *checker) mount(d mountDoc) {
	m := Mount{Pos: d.At, Optional: d.Optional.Value}
	before := len(c.list)
	c.sentence(d.Because, "because")
	given, hasSource := 0, false
	for _, k := range d.kinds() {
		if !k.text.given() {
			continue
		}
		given++
		hasSource = k.source
		m.Kind = k.kind
		if k.source {
			m.Source = k.text.Text
			c.mountSource(k.kind, k.text)
		} else {
			m.Target = c.path(k.text, "policy.mounts: "+k.kind)
		}
	}
	if given != 1 {
		c.errorf(d.At, "one of "+strings.Join(mountSet, ", "),
			"a mount has exactly one kind, this one has %d", given)
		return
	}
	switch {
	case d.Target.given() && !hasSource:
		c.errorf(d.Target.Pos, "", "a %s has its target beside its kind", m.Kind)
	case d.Target.given():
		m.Target = c.path(d.Target, "policy.mounts: target")
	case hasSource && (m.Kind == "symlink" || m.Kind == "volume"):
		c.errorf(d.At, "", "key \"target\" is missing beside %s", m.Kind)
	case hasSource:
		m.Target = m.Source
	}
	if m.Target == "/" && m.Kind != "bind-ro" {
		c.errorf(d.At, "", "only a read-only bind can be mounted at /")
	}
	c.mountExtras(d, &m)
	if len(c.list) == before {
		c.addMount(d, m)
	}
}

func (c *checker) mountSource(kind string, t Text) {
	switch kind {
	case "symlink":
		if t.Text == "" {
			c.errorf(t.Pos, "", "a symlink's text is empty")
		}
	case "volume":
		if !volumeName.MatchString(t.Text) {
			c.errorf(t.Pos, "", "%s is no name of a volume", quote(t.Text))
		}
	default:
		c.path(t, "policy.mounts: "+kind)
	}
}

// mountExtras checks the keys that only some kinds have.
func (c *checker) mountExtras(d mountDoc, m *Mount) {
	only := func(given bool, p Position, key string, kinds ...string) {
		if given && !slices.Contains(kinds, m.Kind) {
			c.errorf(p, "", "%s is not for a %s", key, m.Kind)
		}
	}
	only(d.Size.given(), d.Size.Pos, "size", "tmpfs")
	only(d.Mode.given(), d.Mode.Pos, "mode", "tmpfs", "file", "dir")
	only(d.Text.given(), d.Text.Pos, "text", "file")
	only(d.Scope.given(), d.Scope.Pos, "scope", "volume")
	if d.Optional.Value && m.Kind != "bind-ro" {
		c.errorf(d.Optional.Pos, "", "optional is for a read-only bind; without a writable grant a run would lose its work in silence")
	}
	if m.Kind == "file" && !d.Text.given() {
		c.errorf(d.At, "", "key \"text\" is missing beside file")
	}
	m.Data = d.Text.Text
	m.Scope = c.oneOf(d.Scope, "scope", scopeSet...)
	m.Size = int64(c.size(d.Size, "policy.mounts: size"))
	m.Mode = c.mode(d.Mode, "policy.mounts: mode")
}

// private reports whether a host path, or what is below it, holds what belongs to others: home directories, running services' sockets and
// processes, the host's own configuration and state as a whole.
func private(source string) bool {
	for _, tree := range []string{"/boot", "/dev", "/home", "/proc", "/root", "/run", "/sys", "/var/run"} {
		if source == tree || strings.HasPrefix(source, tree+"/") {
			return true
		}
	}
	return slices.Contains([]string{"/", "/etc", "/var", "/tmp"}, source)
}

// addMount adds a mount, or puts it in the place of the one with the same target.
func (c *checker) addMount(d mountDoc, m Mount) {
	p := &c.b.Policy
	what := fmt.Sprintf("policy.mounts: %s %s", m.Kind, m.Target)
	i := slices.IndexFunc(p.Mounts, func(o Mount) bool { return o.Target == m.Target })
	other, twice := c.mounts[m.Target]
	c.mounts[m.Target] = m.Pos
	switch {
	case twice:
		c.errorf(d.At, "", "two mounts at %s; the other is on line %d", m.Target, other.Line)
	case slices.Contains(wideMounts, m.Kind) && (i < 0 || p.Mounts[i].Kind != m.Kind || p.Mounts[i].Source != m.Source):
		c.needs(m.Pos, what, "the base does not grant it", d.Because)
	case m.Kind == "bind-ro" && private(m.Source) && (i < 0 || p.Mounts[i].Source != m.Source):
		c.needs(m.Pos, what, "it shows what the host keeps there of others", d.Because)
	case m.Kind == "tmpfs" && m.Size == 0 && (i < 0 || p.Mounts[i].Kind != "tmpfs"):
		c.needs(m.Pos, what, "it has no size, so it can take all memory", d.Because)
	case i >= 0 && m.Kind == "tmpfs" && p.Mounts[i].Kind == "tmpfs" && p.Mounts[i].Size != 0 && (m.Size == 0 || m.Size > p.Mounts[i].Size):
		c.needs(m.Pos, what, "its size is raised above the base's "+formatSize(uint64(p.Mounts[i].Size)), d.Because)
	case i >= 0 && p.Mounts[i].Kind == "mask" && m.Kind != "mask":
		c.needs(m.Pos, what, "the base masks it", d.Because)
	}
	if i >= 0 {
		p.Mounts[i] = m
	} else {
		p.Mounts = append(p.Mounts, m)
	}
	c.reason(d.Because, what)
}
