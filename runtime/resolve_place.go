package runtime

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// place settles the workspace and the working directory.
func (r *resolver) place() error {
	if w := r.l.Workspace; w != nil {
		c := *w
		if c.Mode == WorkspaceDefault {
			switch {
			case c.Treeish != "":
				c.Mode = WorkspaceCopy
			case r.p.Workspace.Default != "":
				c.Mode = r.p.Workspace.Default
			case r.in.Identity.Remote && slices.Contains(r.p.Workspace.Accept, WorkspaceVolume):
				c.Mode = WorkspaceVolume
				r.dropped = append(r.dropped, Dropped{What: "workspace.bind-rw", Why: "the engine does not see this host's files: a volume is seeded from the workspace, and what the command makes comes back as artifacts"})
			default:
				c.Mode = WorkspaceBindRW
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

var hostname = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$`)
