package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/system"
	"github.com/docker/docker/client"
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
		ping, err := a.cli.Ping(ctx)
		if err != nil {
			return nil, "", fmt.Errorf("pinging: %w", causeOf(ctx, err))
		}
		// Once, as the client itself does at its first call, which may come later: requests that are under way read the version meanwhile.
		a.negotiate.Do(func() { a.cli.NegotiateAPIVersionPing(ping) })
	}
	mark, err := a.mark(ctx)
	if err != nil {
		a.answering.Store(false)
		return nil, "", fmt.Errorf("pinging: %w", causeOf(ctx, err))
	}
	if v := mark.podman(); v != nil {
		a.answering.Store(true)
		a.know(engineName(v), engineVersion(v))
		return v, a.cli.ClientVersion(), nil
	}
	if last := a.versioned.Load(); last != nil && mark.server != "" && last.mark == mark && a.answering.Load() {
		v := last.version
		return &v, a.cli.ClientVersion(), nil
	}
	v, err := a.cli.ServerVersion(ctx)
	a.answering.Store(err == nil)
	if err != nil {
		return nil, "", fmt.Errorf("asking for the version: %w", causeOf(ctx, err))
	}
	a.know(engineName(&v), engineVersion(&v))
	a.versioned.Store(&versioned{mark, v})
	return &v, a.cli.ClientVersion(), nil
}

// versioned is an engine's answer to the question for its version, with the mark it had then.
type versioned struct {
	mark    mark
	version types.Version
}

// mark is what the headers of a ping say of the engine; without a server where they say nothing. Docker's tells only that the engine is the
// same as before: what stands before one may write a header of its own, and its answer for the version costs a millisecond.
type mark struct{ server, api, libpod string }

func (a *api) mark(ctx context.Context) (mark, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+client.DummyHost+"/_ping", nil)
	if err != nil {
		return mark{}, err
	}
	resp, err := a.cli.HTTPClient().Do(req)
	if err != nil {
		return mark{}, err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, io.LimitReader(resp.Body, maxEngineError)); err != nil {
		return mark{}, err
	}
	if resp.StatusCode != http.StatusOK {
		return mark{}, nil
	}
	h := resp.Header
	return mark{h.Get("Server"), h.Get("Api-Version"), h.Get("Libpod-Api-Version")}, nil
}

// podman is the version of an engine whose ping says twice that it is Podman, nil for any other: by "Server: Libpod/4.3.1 (linux)", and by a
// header that no other engine has (podman, pkg/api/handlers/compat/ping.go). Asked for its version, it looks up by the host's package manager
// what it is made of, which computes for a quarter of a second and longer (4.3.1, measured).
func (m mark) podman() *types.Version {
	name, rest, _ := strings.Cut(m.server, "/")
	version, _, _ := strings.Cut(rest, " ")
	if name != "Libpod" || version == "" || m.libpod == "" || m.api == "" {
		return nil
	}
	return &types.Version{Version: version, APIVersion: m.api, Components: []types.ComponentVersion{{Name: podmanEngine, Version: version}}}
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
