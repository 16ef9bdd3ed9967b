package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sbxkit/sbxkit/generated/bwrap"
	"github.com/sbxkit/sbxkit/generated/docker"
	"github.com/sbxkit/sbxkit/generated/local"
	"github.com/sbxkit/sbxkit/generated/podman"
	sbx "github.com/sbxkit/sbxkit/runtime"
)

// backends are the ones a command line can name. The fake is none of them: it runs nothing.
var backends = []struct {
	name string
	make func() (sbx.Backend, error)
}{
	{"bwrap", func() (sbx.Backend, error) { return bwrap.New(bwrap.Options{}) }},
	{"docker", func() (sbx.Backend, error) { return docker.New(docker.Options{}) }},
	{"podman", func() (sbx.Backend, error) { return podman.New(podman.Options{}) }},
	{"local", func() (sbx.Backend, error) { return local.New(local.Options{}) }},
}

func backendNames() []string {
	var names []string
	for _, b := range backends {
		names = append(names, b.name)
	}
	return names
}

// newBackend makes the backend of a name.
func newBackend(name string) (sbx.Backend, error) {
	for _, b := range backends {
		if b.name == name {
			return b.make()
		}
	}
	names := backendNames()
	slices.Sort(names)
	return nil, usageError{fmt.Errorf("no backend %q: use one of %s", name, strings.Join(names, ", "))}
}

// newSandbox makes the driver for a backend. One that isolates nothing is used because it was named: openly, as mode disabled.
func newSandbox(b sbx.Backend, opts ...sbx.Option) (*sbx.Sandbox, error) {
	if b.Describe().Unsandboxed {
		return sbx.New(nil, append(opts, sbx.WithMode(sbx.Disabled), sbx.WithUnsandboxed(b))...)
	}
	return sbx.New(b, opts...)
}
