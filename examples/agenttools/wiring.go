// The one file that knows backends by name.
//
//sbx:seam chooses the backend that AGENTTOOLS_BACKEND names, and nothing else
package main

import (
	"github.com/sbxkit/sbxkit/examples/agenttools/tools"
	"github.com/sbxkit/sbxkit/generated/bwrap"
	"github.com/sbxkit/sbxkit/generated/docker"
	"github.com/sbxkit/sbxkit/generated/fake"
	"github.com/sbxkit/sbxkit/generated/podman"
	sbx "github.com/sbxkit/sbxkit/runtime"
)

// backendVariable names the backend. Nothing set is bwrap; a name nobody knows is refused, and there is none that means no sandbox.
const backendVariable = "AGENTTOOLS_BACKEND"

func backend(name string) (sbx.Backend, error) {
	switch name {
	case "", "bwrap":
		return bwrap.New(bwrap.Options{})
	case "docker":
		return docker.New(docker.Options{})
	case "podman":
		return podman.New(podman.Options{})
	case "fake":
		return fake.New(fake.Options{})
	}
	return nil, &tools.BadRequest{
		Message: backendVariable + " is " + sbx.ShellQuote(name) + ", which is no backend",
		Cure:    "set it to bwrap, docker, podman, or fake (which plays that every command succeeds)",
	}
}
