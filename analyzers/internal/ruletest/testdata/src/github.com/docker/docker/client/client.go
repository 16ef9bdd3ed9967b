// Package client is a stub of the engine's client library.
package client

import "context"

type Client struct{}

type Opt func(*Client) error

func FromEnv(*Client) error { return nil }

func NewClientWithOpts(ops ...Opt) (*Client, error) { return nil, nil }

func (*Client) Ping(ctx context.Context) (int, error) { return 0, nil }

func (*Client) ContainerStart(ctx context.Context, id string) error { return nil }

func (*Client) Close() error { return nil }

type APIClient interface {
	Ping(ctx context.Context) (int, error)
}

func IsErrNotFound(err error) bool { return false }
