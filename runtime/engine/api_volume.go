package engine

import (
	"context"

	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/volume"
)

func (a *api) createVolume(ctx context.Context, name string, labels map[string]string) error {
	ctx, cancel := bounded(ctx, a.limit.change, "POST /volumes/create")
	defer cancel()
	_, err := a.cli.VolumeCreate(ctx, volume.CreateOptions{Name: name, Labels: labels})
	return causeOf(ctx, err)
}

func (a *api) removeVolume(ctx context.Context, name string) error {
	ctx, cancel := bounded(ctx, a.limit.change, "DELETE /volumes/{name}")
	defer cancel()
	return causeOf(ctx, a.cli.VolumeRemove(ctx, name, false))
}

func (a *api) findVolumes(ctx context.Context, label string) ([]found, error) {
	ctx, cancel := bounded(ctx, a.limit.look, "GET /volumes")
	defer cancel()
	list, err := a.cli.VolumeList(ctx, volume.ListOptions{Filters: filters.NewArgs(filters.Arg("label", label))})
	if err != nil {
		return nil, causeOf(ctx, err)
	}
	out := make([]found, 0, len(list.Volumes))
	for _, v := range list.Volumes {
		if v != nil {
			out = append(out, found{name: v.Name, labels: v.Labels})
		}
	}
	return out, nil
}
