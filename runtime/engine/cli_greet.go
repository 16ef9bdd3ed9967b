package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/system"
)

// greet asks the program who its engine is. Docker's program prints the engine's own GET /version under Server; Podman's, which needs no
// engine beside itself, prints its version under Client alone, and with OsArch, which Docker's has not got. A program called docker that
// answers as Podman is Podman.
func (c *cli) greet(ctx context.Context) (*types.Version, string, error) {
	socket := c.socket()
	if last := c.met.Load(); last.holds(socket) && c.alive(ctx) {
		v := last.version
		return &v, v.APIVersion, nil
	}
	out, err := c.call(ctx, c.limit.identify, nil, "version", "--format", "{{json .}}")
	if err != nil {
		return nil, "", fmt.Errorf("asking for the version: %w", err)
	}
	var sides struct{ Client, Server json.RawMessage }
	if err := json.Unmarshal(out, &sides); err != nil {
		return nil, "", fmt.Errorf("reading the program's version: %w", err)
	}
	for _, side := range []json.RawMessage{sides.Server, sides.Client} {
		if len(side) == 0 || string(side) == "null" {
			continue
		}
		var v types.Version
		var podman struct{ Version, OsArch string }
		if err := errors.Join(json.Unmarshal(side, &v), json.Unmarshal(side, &podman)); err != nil {
			return nil, "", fmt.Errorf("reading the program's version: %w", err)
		}
		switch {
		case len(v.Components) != 0:
			c.know(engineName(&v), engineVersion(&v))
			c.meet(socket, v)
			return &v, v.APIVersion, nil
		case podman.OsArch != "":
			c.know(podmanEngine, podman.Version)
			v := types.Version{Version: podman.Version, Components: []types.ComponentVersion{{Name: podmanEngine, Version: podman.Version}}}
			c.meet(socket, v)
			return &v, "", nil
		}
	}
	return nil, "", errNoEngine
}

// errNoEngine is a program that works and has no engine behind it.
var errNoEngine = errors.New("the program reaches no engine")

// met is an engine that told its version, with the socket it answered at. Podman's service looks up by the host's package manager what it is
// made of each time it is asked, which takes up to seconds of computing (4.3.1, measured; what lists containers takes a twentieth of one). So
// its answer is believed for as long as a proof is, while the socket is the same one and the engine answers there.
type met struct {
	socket  fs.FileInfo
	at      time.Time
	version types.Version
}

// meet remembers a Podman that answered at a socket, and forgets what was met before.
func (c *cli) meet(socket fs.FileInfo, v types.Version) {
	c.met.Store(nil)
	if socket != nil && c.isPodman() {
		c.met.Store(&met{socket, time.Now(), v})
	}
}

func (m *met) holds(socket fs.FileInfo) bool {
	return m != nil && socket != nil && os.SameFile(m.socket, socket) && m.socket.ModTime().Equal(socket.ModTime()) && time.Since(m.at) < proofAge
}

// socket is the one that the engine listens at; nil for any other way to it.
func (c *cli) socket() fs.FileInfo {
	path, ok := strings.CutPrefix(c.at.host, "unix://")
	if !ok {
		return nil
	}
	i, err := os.Stat(path)
	if err != nil {
		return nil
	}
	return i
}

// alive reports whether the engine answers at all.
func (c *cli) alive(ctx context.Context) bool {
	_, err := c.call(ctx, c.limit.identify, nil, "container", "ls", "--quiet", "--filter", "label="+labelRun+"=nobody's")
	return err == nil
}

// info gives what both programs print in ways of their own.
func (c *cli) info(ctx context.Context) (*system.Info, error) {
	out, err := c.call(ctx, c.limit.identify, nil, "info", "--format", "{{json .}}")
	if err != nil {
		return nil, fmt.Errorf("asking for the engine's information: %w", err)
	}
	var docker system.Info
	var podman struct {
		Host *struct {
			CgroupVersion, CgroupManager, Hostname, Kernel, OS string
			Security                                           struct{ Rootless, SeccompEnabled, AppArmorEnabled bool }
		}
	}
	if err := json.Unmarshal(out, &podman); err != nil {
		return nil, fmt.Errorf("reading the engine's information: %w", err)
	}
	if h := podman.Host; h != nil {
		docker = system.Info{OSType: h.OS, Name: h.Hostname, KernelVersion: h.Kernel, CgroupVersion: map[string]string{"v1": "1", "v2": "2"}[h.CgroupVersion]}
		if h.Security.Rootless {
			docker.SecurityOptions = append(docker.SecurityOptions, "name=rootless")
		}
		if h.Security.AppArmorEnabled {
			docker.SecurityOptions = append(docker.SecurityOptions, "name=apparmor")
		}
		if h.Security.SeccompEnabled {
			docker.SecurityOptions = append(docker.SecurityOptions, "name=seccomp")
		}
		return &docker, nil
	}
	if err := json.Unmarshal(out, &docker); err != nil {
		return nil, fmt.Errorf("reading the engine's information: %w", err)
	}
	return &docker, nil
}
