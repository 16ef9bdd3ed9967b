package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/system"
)

// podmanEngine is Podman's name for itself.
const podmanEngine = "Podman Engine"

// engineName is the engine's own name for itself: Components[0].Name of GET /version, with Docker's plain "Engine" written out.
func engineName(v *types.Version) string {
	if len(v.Components) == 0 {
		return ""
	}
	if n := v.Components[0].Name; n != "Engine" {
		return n
	}
	return "Docker Engine"
}

// engineVersion is the engine's own, which is not that of the API.
func engineVersion(v *types.Version) string {
	if len(v.Components) == 0 {
		return ""
	}
	return v.Components[0].Version
}

func (a *api) greet(ctx context.Context) (*types.Version, string, error) {
	ctx, cancel := bounded(ctx, a.limit.identify, "GET /_ping and /version")
	defer cancel()
	if !a.answering.Load() {
		// The client replaces the cause of a failed connection by a text of its own (client/request.go, doRequest). Dialling once shows
		// the cause, which tells a socket that is not there from one that hangs.
		conn, err := a.dial(ctx, "", "")
		if err != nil {
			return nil, "", fmt.Errorf("connecting: %w", causeOf(ctx, err))
		}
		if err := errors.Join(shake(ctx, conn), conn.Close()); err != nil {
			return nil, "", fmt.Errorf("connecting: %w", causeOf(ctx, err))
		}
		if _, err := a.cli.Ping(ctx); err != nil {
			return nil, "", fmt.Errorf("pinging: %w", causeOf(ctx, err))
		}
	}
	v, err := a.cli.ServerVersion(ctx)
	a.answering.Store(err == nil)
	if err != nil {
		return nil, "", fmt.Errorf("asking for the version: %w", causeOf(ctx, err))
	}
	a.know(engineName(&v), engineVersion(&v))
	return &v, a.cli.ClientVersion(), nil
}

func (a *api) info(ctx context.Context) (*system.Info, error) {
	ctx, cancel := bounded(ctx, a.limit.identify, "GET /info")
	defer cancel()
	i, err := a.cli.Info(ctx)
	if err != nil {
		return nil, fmt.Errorf("asking for the engine's information: %w", causeOf(ctx, err))
	}
	return &i, nil
}
