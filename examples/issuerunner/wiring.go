// The one file that knows backends by name.
//
//sbx:seam chooses the backend that ISSUERUNNER_BACKEND names, and nothing else
package main

import (
	"fmt"

	"github.com/sbxkit/sbxkit/generated/bwrap"
	"github.com/sbxkit/sbxkit/generated/docker"
	"github.com/sbxkit/sbxkit/generated/podman"
	sbx "github.com/sbxkit/sbxkit/runtime"
)

// backendVariable names the backend. Nothing set is bwrap; a name nobody knows is refused, and there is none that means no sandbox.
const backendVariable = "ISSUERUNNER_BACKEND"

func backend(name string) (sbx.Backend, error) {
	switch name {
	case "", "bwrap":
		return bwrap.New(bwrap.Options{})
	case "docker":
		return docker.New(docker.Options{})
	case "podman":
		return podman.New(podman.Options{})
	}
	return nil, fmt.Errorf("%s is %s, which is no backend; set it to bwrap, docker or podman", backendVariable, sbx.ShellQuote(name))
}
