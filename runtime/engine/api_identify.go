package engine

import (
	"context"
	"fmt"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/system"
)

// answers are what an engine says of itself.
type answers struct {
	version types.Version
	info    system.Info
	// api is the negotiated version.
	api string
}

// name is the engine's own name for itself: Components[0].Name of GET /version, with Docker's plain "Engine" written out.
func (a *answers) name() string {
	if len(a.version.Components) == 0 {
		return ""
	}
	if n := a.version.Components[0].Name; n != "Engine" {
		return n
	}
	return "Docker Engine"
}

func (a *api) identify(ctx context.Context) (*answers, error) {
	ping, cancel := bounded(ctx, a.limit.identify, "GET /_ping")
	defer cancel()
	// The client replaces the cause of a failed connection by a text of its own (client/request.go, doRequest). Dialling once shows
	// the cause, which tells a socket that is not there from one that hangs.
	conn, err := a.dial(ping, "", "")
	if err != nil {
		return nil, fmt.Errorf("connecting: %w", causeOf(ping, err))
	}
	if err := conn.Close(); err != nil {
		return nil, fmt.Errorf("connecting: %w", err)
	}
	if _, err := a.cli.Ping(ping); err != nil {
		return nil, fmt.Errorf("pinging: %w", causeOf(ping, err))
	}
	ask, cancel := bounded(ctx, a.limit.identify, "GET /version and /info")
	defer cancel()
	v, err := a.cli.ServerVersion(ask)
	if err != nil {
		return nil, fmt.Errorf("asking for the version: %w", causeOf(ask, err))
	}
	i, err := a.cli.Info(ask)
	if err != nil {
		return nil, fmt.Errorf("asking for the engine's information: %w", causeOf(ask, err))
	}
	return &answers{version: v, info: i, api: a.cli.ClientVersion()}, nil
}
