package mounts

import (
	"github.com/sbxkit/sbxkit/runtime"
)

// relink makes a bind whose source is a link on the host a link inside too, where the plan shows the same content through it: /bin of a
// merged-usr host is then a link to usr/bin, as programs expect, and what is mounted below it is mounted once. Where it would lead
// elsewhere, or to the same content with another right to write, the bind of what the link leads to stays.
func (p *planner) relink() error {
	if !p.host.looks() {
		return nil
	}
	ends := make(map[*request]string) // what each link leads to on the host
	fixed := make(map[*request]bool)  // those that stay binds
	access := make(map[*request]runtime.MountKind)
	for range maxRounds {
		changed := false
		err := p.live(func(r *request) error {
			end, linked := ends[r]
			switch {
			case linked && !p.leadsTo(r, r.source, end, access[r]):
				r.kind, r.source = access[r], end
				delete(ends, r)
				fixed[r], changed = true, true
			case !linked && r.bind() && r.link != "" && !fixed[r] && p.free(r) && p.leadsTo(r, r.link, r.source, r.kind):
				ends[r], access[r] = r.source, r.kind
				r.kind, r.source = runtime.MountSymlink, r.link
				p.grow()
				changed = true
			}
			return nil
		})
		if err != nil || !changed {
			return err
		}
		if err := p.settle(); err != nil {
			return err
		}
	}
	return p.live(func(r *request) error {
		if end, linked := ends[r]; linked && !p.leadsTo(r, r.source, end, access[r]) {
			return r.fail(runtime.Denied, "its source is a link that other mounts move again and again").
				WithCure("name the source by %q", end)
		}
		return nil
	})
}

// free reports whether nothing stands at r's place and a link can be made there without a trace on the host.
func (p *planner) free(r *request) bool {
	s := p.under(r)
	return s.state == missing && s.wall == nil && (s.cover == nil || !s.cover.bind())
}

// leadsTo reports whether a link with the given text at r's place ends, inside, at the host's path end, shown by a bind of the given kind
// that is not r's own.
func (p *planner) leadsTo(r *request, text, end string, kind runtime.MountKind) bool {
	if text[0] != '/' {
		text = parent(r.place) + "/" + text
	}
	s, err := p.inside(text, true)
	return err == nil && s.state == present && s.wall == nil && s.host == end && s.cover != r && s.cover.kind == kind
}
