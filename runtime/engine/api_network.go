package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"

	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/network"
)

func (a *api) createNetwork(ctx context.Context, name string, labels map[string]string) error {
	ctx, cancel := bounded(ctx, a.limit.change, "POST /networks/create")
	defer cancel()
	_, err := a.cli.NetworkCreate(ctx, name, network.CreateOptions{Driver: "bridge", Labels: labels})
	return causeOf(ctx, err)
}

// resolves asks Podman's own API, since its Docker API does not tell. Networks that a caller made have names on every Docker.
func (a *api) resolves(ctx context.Context, name string) (bool, error) {
	if !a.isPodman() {
		return true, nil
	}
	ctx, cancel := bounded(ctx, a.limit.look, "GET /libpod/networks/{name}/json")
	defer cancel()
	body, err := a.libpod(ctx, "/networks/"+url.PathEscape(name)+"/json")
	if err != nil {
		return false, fmt.Errorf("asking for the network: %w", err)
	}
	var network podmanNetwork
	if err := json.Unmarshal(body, &network); err != nil {
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
