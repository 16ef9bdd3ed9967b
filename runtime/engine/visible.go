package engine

import (
	"strings"

	"github.com/sbxkit/sbxkit/runtime"
)

// visible refuses what a launch asks for of this host where the engine does not see it. What the policy mounts is meant of the engine's
// host: whoever wrote it knows which engine it is for.
func visible(r *runtime.Request, id runtime.Identity) error {
	if !id.Remote {
		return nil
	}
	for _, m := range r.Mounts {
		if !hostPath(&m) {
			continue
		}
		f := runtime.Fail(runtime.Unsupported, "%s: %s is a path of this host, and the engine at %s does not see its files", m.Origin, m.Source, id.Endpoint).
			About("mount." + string(m.Kind))
		if m.Origin == "workspace" {
			return f.About("workspace."+string(m.Kind)).WithCure("use workspace mode %s or %s, and name what is to come back as artifacts", runtime.WorkspaceVolume, runtime.WorkspaceCopy)
		}
		return f.WithCure("put it into the workspace or the image, or use an engine of this host")
	}
	if r.Ready != nil && r.Ready.Port != 0 {
		return runtime.Fail(runtime.Unsupported, "the network of a container on another host cannot be entered to try port %d", r.Ready.Port).
			About("ready.port").WithCure("let a command inside try it (Ready.Exec), or wait for a line")
	}
	return nil
}

// hostPath reports whether a mount shows a path that a launch means of this host.
func hostPath(m *runtime.Mount) bool {
	switch m.Kind {
	case runtime.MountBindRO, runtime.MountBindRW, runtime.MountSocket:
		return !strings.HasPrefix(m.Origin, "policy")
	}
	return false
}

func hasHostPaths(r *runtime.Request) bool {
	for i := range r.Mounts {
		if hostPath(&r.Mounts[i]) {
			return true
		}
	}
	return false
}
