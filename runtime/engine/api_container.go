package engine

import (
	"context"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
)

func (a *api) create(ctx context.Context, r *CreateRequest, _ []string) ([]string, error) {
	ctx, cancel := bounded(ctx, a.limit.change, "POST /containers/create")
	defer cancel()
	platform := r.Platform
	if platform != nil && platform.OS == "" && platform.Architecture == "" {
		platform = nil
	}
	made, err := a.cli.ContainerCreate(ctx, r.Config, r.HostConfig, r.Networking, platform, r.Name)
	return made.Warnings, causeOf(ctx, err)
}

func (a *api) inspect(ctx context.Context, name string) (*container.InspectResponse, error) {
	return again(ctx, a.limit.poll, func(ctx context.Context) (*container.InspectResponse, error) {
		ctx, cancel := bounded(ctx, a.limit.look, "GET /containers/{name}/json")
		defer cancel()
		i, err := a.cli.ContainerInspect(ctx, name)
		if err != nil {
			return nil, causeOf(ctx, err)
		}
		return &i, nil
	})
}

func (a *api) missing(ctx context.Context, name string) error {
	_, err := a.inspect(ctx, name)
	return err
}

func (a *api) find(ctx context.Context, label string) ([]found, error) {
	list, err := again(ctx, a.limit.poll, func(ctx context.Context) ([]container.Summary, error) {
		ctx, cancel := bounded(ctx, a.limit.look, "GET /containers/json")
		defer cancel()
		list, err := a.cli.ContainerList(ctx, container.ListOptions{All: true, Filters: filters.NewArgs(filters.Arg("label", label))})
		return list, causeOf(ctx, err)
	})
	if err != nil {
		return nil, err
	}
	out := make([]found, 0, len(list))
	for _, c := range list {
		f := found{name: c.ID, state: c.State, labels: c.Labels}
		if len(c.Names) != 0 {
			f.name = trimSlash(c.Names[0])
		}
		out = append(out, f)
	}
	return out, nil
}

// trimSlash takes off the slash engines put before a container's name.
func trimSlash(name string) string {
	if name != "" && name[0] == '/' {
		return name[1:]
	}
	return name
}

func (a *api) kill(ctx context.Context, name, signal string) error {
	ctx, cancel := bounded(ctx, a.limit.kill, "POST /containers/{name}/kill")
	defer cancel()
	return causeOf(ctx, a.cli.ContainerKill(ctx, name, signal))
}

func (a *api) remove(ctx context.Context, name string) error {
	ctx, cancel := bounded(ctx, a.limit.remove, "DELETE /containers/{name}")
	defer cancel()
	return causeOf(ctx, a.cli.ContainerRemove(ctx, name, container.RemoveOptions{Force: true, RemoveVolumes: true}))
}

func (a *api) resize(ctx context.Context, name string, columns, rows uint16) error {
	ctx, cancel := bounded(ctx, a.limit.look, "POST /containers/{name}/resize")
	defer cancel()
	return causeOf(ctx, a.cli.ContainerResize(ctx, name, container.ResizeOptions{Width: uint(columns), Height: uint(rows)}))
}
