package rule

import (
	"strings"

	"golang.org/x/tools/go/analysis"
)

// engineClients are the packages, with those below them, that speak to a container engine.
var engineClients = []string{
	"github.com/docker/docker/client",
	"github.com/moby/moby/client",
	"github.com/docker/go-sdk/client",
	"github.com/fsouza/go-dockerclient",
	"github.com/samalba/dockerclient",
	"github.com/containers/podman/v3/pkg/bindings",
	"github.com/containers/podman/v4/pkg/bindings",
	"github.com/containers/podman/v5/pkg/bindings",
	"github.com/containers/podman/v6/pkg/bindings",
	"github.com/containerd/containerd/client",
	"github.com/containerd/containerd/v2/client",
	"github.com/containerd/containerd",
	"github.com/testcontainers/testcontainers-go",
	"github.com/ory/dockertest",
	"k8s.io/cri-client/pkg",
}

// EngineClient reports whether the package of that path is (part of) a container engine's client library, for the package under analysis: where
// the library is made, its own module is not outside the seam of anything.
func EngineClient(pass *analysis.Pass, path string) bool {
	if OwnModule(pass, path) {
		return false
	}
	for _, c := range engineClients {
		if path == c || strings.HasPrefix(path, c+"/") && c != "github.com/containerd/containerd" {
			return true
		}
	}
	return false
}

// OwnModule reports whether the package of that path is of the module of the package under analysis.
func OwnModule(pass *analysis.Pass, path string) bool {
	m := pass.Module
	return m != nil && m.Path != "" && (path == m.Path || strings.HasPrefix(path, m.Path+"/"))
}
