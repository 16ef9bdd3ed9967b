package runtime

import (
	"fmt"
	"path"
	"slices"
)

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

var mountKinds = []MountKind{MountBindRO, MountBindRW, MountTmpfs, MountVolume, MountFile, MountSymlink, MountMask, MountMaskFile, MountMaskDir, MountDevice, MountSocket, MountProc, MountDev, MountDir}
