package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/docker/client"
)

func (a *api) createNetwork(ctx context.Context, name string, labels map[string]string) error {
	ctx, cancel := bounded(ctx, a.limit.change, "POST /networks/create")
	defer cancel()
	_, err := a.cli.NetworkCreate(ctx, name, network.CreateOptions{Driver: "bridge", Labels: labels})
	return causeOf(ctx, err)
}

// resolves asks Podman's own API, since its Docker API does not tell. Networks that a caller made have names on every Docker.
func (a *api) resolves(ctx context.Context, name string) (_ bool, err error) {
	if !a.isPodman() {
		return true, nil
	}
	ctx, cancel := bounded(ctx, a.limit.look, "GET /libpod/networks/{name}/json")
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+client.DummyHost+"/v4.0.0/libpod/networks/"+url.PathEscape(name)+"/json", nil)
	if err != nil {
		return false, fmt.Errorf("making the request for the network: %w", err)
	}
	resp, err := a.cli.HTTPClient().Do(req)
	if err != nil {
		return false, fmt.Errorf("asking for the network: %w", causeOf(ctx, err))
	}
	defer resp.Body.Close()
	var network podmanNetwork
	body := json.NewDecoder(io.LimitReader(resp.Body, maxOutput))
	if resp.StatusCode != http.StatusOK {
		var e struct{ Message string }
		if err := body.Decode(&e); err != nil {
			e.Message = http.StatusText(resp.StatusCode)
		}
		return false, &statusError{status: resp.StatusCode, message: e.Message}
	}
	if err := body.Decode(&network); err != nil {
		return false, fmt.Errorf("reading the description of the network: %w", err)
	}
	return network.Names, nil
}

// podmanNetwork is what is read of Podman's own description of a network.
type podmanNetwork struct {
	Names bool `json:"dns_enabled"`
}

func (a *api) removeNetwork(ctx context.Context, name string) error {
	ctx, cancel := bounded(ctx, a.limit.change, "DELETE /networks/{name}")
	defer cancel()
	return causeOf(ctx, a.cli.NetworkRemove(ctx, name))
}

func (a *api) findNetworks(ctx context.Context, label string) ([]found, error) {
	ctx, cancel := bounded(ctx, a.limit.look, "GET /networks")
	defer cancel()
	list, err := a.cli.NetworkList(ctx, network.ListOptions{Filters: filters.NewArgs(filters.Arg("label", label))})
	if err != nil {
		return nil, causeOf(ctx, err)
	}
	out := make([]found, 0, len(list))
	for _, n := range list {
		out = append(out, found{name: n.Name, labels: n.Labels})
	}
	return out, nil
}
