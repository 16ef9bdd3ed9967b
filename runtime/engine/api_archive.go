package engine

import (
	"context"
	"io"

	"github.com/docker/docker/api/types/container"
)

func (a *api) stat(ctx context.Context, name, path string) (*container.PathStat, error) {
	ctx, cancel := bounded(ctx, a.limit.look, "HEAD /containers/{name}/archive")
	defer cancel()
	s, err := a.cli.ContainerStatPath(ctx, name, path)
	if err != nil {
		return nil, causeOf(ctx, err)
	}
	return &s, nil
}

func (a *api) upload(ctx context.Context, name, dir string, archive io.Reader) error {
	ctx, cancel := bounded(ctx, a.limit.archive, "PUT /containers/{name}/archive")
	defer cancel()
	return causeOf(ctx, a.cli.CopyToContainer(ctx, name, dir, archive, container.CopyToContainerOptions{}))
}

func (a *api) download(ctx context.Context, name, path string) (io.ReadCloser, error) {
	ctx, cancel := bounded(ctx, a.limit.archive, "GET /containers/{name}/archive")
	body, _, err := a.cli.CopyFromContainer(ctx, name, path)
	if err != nil {
		defer cancel()
		return nil, causeOf(ctx, err)
	}
	return &download{ReadCloser: body, cancel: cancel}, nil
}

// download is the body of an archive with the deadline that bounds its reading.
type download struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (d *download) Close() error {
	err := d.ReadCloser.Close()
	d.cancel()
	return err
}
