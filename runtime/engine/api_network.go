package engine

import (
	"context"

	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/network"
)

func (a *api) createNetwork(ctx context.Context, name string, labels map[string]string) error {
	ctx, cancel := bounded(ctx, a.limit.change, "POST /networks/create")
	defer cancel()
	_, err := a.cli.NetworkCreate(ctx, name, network.CreateOptions{Driver: "bridge", Labels: labels})
	return causeOf(ctx, err)
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
