package conformance

import (
	"context"
	"os"
	"sync"
	"testing"

	"github.com/sbxkit/sbxkit/generated/bwrap"
	"github.com/sbxkit/sbxkit/generated/docker"
	"github.com/sbxkit/sbxkit/generated/fake"
	"github.com/sbxkit/sbxkit/generated/local"
	"github.com/sbxkit/sbxkit/generated/podman"
	"github.com/sbxkit/sbxkit/internal/testhost"
	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/sbxtest"
	"github.com/sbxkit/sbxkit/runtime/stage"
)

// column is one backend of the matrix.
type column struct {
	name string
	// need skips a test where this host lacks the backend.
	need func(testing.TB)
	make func() (runtime.Backend, error)
	// image is an engine's.
	image    func() string
	parallel int
	cli      bool // an engine driven by its program
}

// columns are the backends of the matrix, in its order.
func columns() []column {
	image := func() string { return os.Getenv("SBX_TEST_IMAGE") }
	none := func() string { return "" }
	return []column{
		{"fake", func(testing.TB) {}, func() (runtime.Backend, error) { return fake.New(fake.Options{}) }, none, 1, false},
		{"local", func(testing.TB) {}, func() (runtime.Backend, error) { return local.New(local.Options{}) }, none, 2, false},
		{"bwrap", testhost.Bwrap, func() (runtime.Backend, error) { return bwrap.New(bwrap.Options{}) }, none, 2, false},
		{"docker", func(t testing.TB) { testhost.Docker(t) }, func() (runtime.Backend, error) {
			return docker.New(docker.Options{Endpoint: os.Getenv("SBX_TEST_DOCKER_HOST")})
		}, image, 4, false},
		{"docker CLI", func(t testing.TB) { testhost.Docker(t) }, func() (runtime.Backend, error) {
			return docker.New(docker.Options{Endpoint: os.Getenv("SBX_TEST_DOCKER_HOST"), Via: "cli"})
		}, image, 4, true},
		{"podman", func(t testing.TB) { testhost.Podman(t) }, func() (runtime.Backend, error) {
			return podman.New(podman.Options{Endpoint: os.Getenv("SBX_TEST_PODMAN_HOST")})
		}, image, 4, false},
		{"podman CLI", func(t testing.TB) { testhost.Podman(t) }, func() (runtime.Backend, error) {
			return podman.New(podman.Options{Endpoint: os.Getenv("SBX_TEST_PODMAN_HOST"), Via: "cli"})
		}, image, 4, true},
	}
}

// factory makes subjects over one shared backend: its probe is a launch of its own, and is made once.
func (c column) factory() (sbxtest.Factory, func() error) {
	if c.name == "fake" {
		return Fake, func() error { return nil }
	}
	make := sync.OnceValues(c.make)
	return func(context.Context) (*sbxtest.Subject, error) {
			b, err := make()
			if err != nil {
				return nil, err
			}
			return &sbxtest.Subject{Backend: b, Image: c.image(), Stager: stage.New()}, nil
		}, func() error {
			b, err := make()
			if closer, ok := b.(runtime.Closer); ok && err == nil {
				return closer.Close()
			}
			return err
		}
}
