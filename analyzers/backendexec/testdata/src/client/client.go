// Package client uses the engine's client library.
package client

import (
	"context"

	"github.com/docker/docker/client"
	"golang.org/x/sys/unix"
)

// Holding the type is no use of it.
type holder struct{ api client.APIClient }

func f(ctx context.Context, h holder) error {
	c, err := client.NewClientWithOpts(client.FromEnv) // want `container engine's client outside the seam \(client.NewClientWithOpts\)`
	if client.IsErrNotFound(err) {
		return err
	}
	c.Ping(ctx)     // want `\(client.Ping\)`
	h.api.Ping(ctx) // want `\(client.Ping\)`
	ping := c.Ping  // want `\(client.Ping\)`
	ping(ctx)
	return unix.Exec("/usr/bin/docker", nil, nil) // want `program "docker"`
}
