package mounts

import (
	"fmt"
	"io/fs"
	"path"

	"github.com/sbxkit/sbxkit/runtime"
)

const resolvConf = "/etc/resolv.conf"

// nameServers sees to it that /etc/resolv.conf does not dangle. Where it is a link inside whose end is not shown, the directory of that
// end is bound read-only: resolvers replace the file by renaming, and a bind of the file alone would keep the old one. Where the directory
// is not the resolver's own (/run), is taken, or holds a unix socket (systemd-resolved's would answer queries without a network), the
// file alone is bound, with a note.
func (p *planner) nameServers() error {
	if !p.host.looks() || p.in.Tool.Image {
		return nil
	}
	asked := p.askedForResolvConf()
	if asked == nil {
		_, err := p.addNameServers(nil)
		return err
	}
	// The request is for the link itself: put the link there, if its place is free for one, and bind its end.
	before := *asked
	if asked.place == resolvConf && p.free(asked) {
		asked.kind, asked.source = runtime.MountSymlink, asked.link
		p.grow()
	} else {
		p.giveUp(asked)
	}
	added, err := p.addNameServers(asked)
	if err != nil || added {
		return err
	}
	*asked = before
	p.grow()
	return nil
}

// askedForResolvConf finds the bind of the host's /etc/resolv.conf at its own place, where that is a link.
func (p *planner) askedForResolvConf() *request {
	for _, r := range p.requests {
		if !r.gone && r.kind == runtime.MountBindRO && r.link != "" && r.target == resolvConf && clean(r.m.Source) == resolvConf {
			return r
		}
	}
	return nil
}

func (p *planner) addNameServers(asked *request) (added bool, err error) {
	at, err := p.inside(resolvConf, false)
	if err != nil || at.state != present || at.mode.Type() != fs.ModeSymlink {
		return false, nil
	}
	owner := at.cover
	if owner.m.Kind == runtime.MountSymlink {
		return false, nil // somebody asked for this very link
	}
	if asked != nil {
		owner = asked
	}
	end, err := p.inside(resolvConf, true)
	if err != nil || end.state != missing || end.wall != nil {
		return false, nil
	}
	real, e, err := p.host.real(resolvConf)
	if err != nil || !e.mode.IsRegular() {
		p.notes = append(p.notes, fmt.Sprintf("%s: %s is a link to nothing that can be read, on the host as inside", owner, resolvConf))
		return false, nil
	}
	if c := end.cover; c != nil && (c.bind() || c.kind == runtime.MountProc) {
		p.notes = append(p.notes, fmt.Sprintf("%s: %s dangles inside: it leads to %q, below %s; bind %q there to have name servers",
			owner, resolvConf, end.path, c, real))
		return false, nil
	}
	r := &request{kind: runtime.MountBindRO, source: parent(real), place: parent(end.path), mode: fs.ModeDir}
	if why := p.notTheResolversOwn(r, real, end.path); why != "" {
		p.notes = append(p.notes, fmt.Sprintf("%s: only the file %q is bound for %s, and replacing it on the host is not seen inside: its directory %s",
			owner, real, resolvConf, why))
		r.source, r.place, r.mode = real, end.path, e.mode
	}
	r.target = r.place
	r.depth = depth(r.place)
	r.m = runtime.Mount{Kind: r.kind, Source: r.source, Target: r.target, Origin: owner.m.Origin + " for " + resolvConf}
	p.requests = append(p.requests, r)
	p.tree[r.place] = r
	return true, nil
}

// notTheResolversOwn says why the directory of the file real, to be seen as end, is not bound as a whole.
func (p *planner) notTheResolversOwn(dir *request, real, end string) string {
	switch {
	case path.Base(real) != path.Base(end):
		return "has it under another name"
	case depth(dir.source) < 2:
		return "is more than the resolver's own"
	}
	for _, r := range p.requests {
		if !r.gone && within(r.place, dir.place) {
			return fmt.Sprintf("is also where %s stands", r)
		}
	}
	if s := p.socketBelow(dir.source); s != "" {
		return fmt.Sprintf("holds the unix socket %q", s)
	}
	return ""
}
