package b

import (
	"context"
	"fmt"
	"os/exec"

	"github.com/docker/docker/client"
)

// An engine that is asked by its client library is a sandbox that could not be had, as one behind its program is.

func noEngine(argv []string) error {
	_, err := client.NewClientWithOpts(client.FromEnv)
	if err != nil {
		return exec.Command(argv[0], argv[1:]...).Run() // want `where client.NewClientWithOpts has failed`
	}
	return nil
}

func noAnswer(ctx context.Context, api client.APIClient, argv []string) error {
	if _, err := api.Ping(ctx); err != nil {
		return exec.Command(argv[0], argv[1:]...).Run() // want `where APIClient.Ping has failed`
	}
	return nil
}

func notStarted(ctx context.Context, cli *client.Client, argv []string) error {
	if err := started(ctx, cli); err != nil {
		return exec.Command(argv[0], argv[1:]...).Run() // want `where started → Client.ContainerStart has failed`
	}
	return nil
}

func started(ctx context.Context, cli *client.Client) error {
	return cli.ContainerStart(ctx, "x")
}

// Refused; and what has nothing to do with the engine's answer.

func refused(ctx context.Context, cli *client.Client, argv []string) error {
	if _, err := cli.Ping(ctx); err != nil {
		return fmt.Errorf("no engine for %v: %w", argv, err)
	}
	return nil
}

func closed(cli *client.Client, argv []string) error {
	if err := cli.Close(); err != nil {
		return exec.Command(argv[0], argv[1:]...).Run()
	}
	return nil
}

func asked(err error, argv []string) error {
	if client.IsErrNotFound(err) {
		return exec.Command(argv[0], argv[1:]...).Run()
	}
	return nil
}

// Two ways to one engine behind an interface: the next round goes the same way.

type way interface {
	create(ctx context.Context, argv []string) error
}

type byClient struct{ cli *client.Client }

func (w byClient) create(ctx context.Context, _ []string) error { // want create:`result 0 error: Client.ContainerStart`
	return w.cli.ContainerStart(ctx, "x")
}

type byProgram struct{}

func (byProgram) create(ctx context.Context, argv []string) error {
	return exec.CommandContext(ctx, argv[0], argv[1:]...).Run()
}

type maker struct{ way way }

func (m *maker) again(ctx context.Context, argv []string) error { // want again:`result 0 error: Client.ContainerStart`
	for {
		if err := m.way.create(ctx, argv); err == nil || ctx.Err() != nil {
			return err
		}
	}
}

// Going through the ways is something else.
func firstThatWorks(ctx context.Context, ways []way, argv []string) {
	for _, w := range ways {
		if err := w.create(ctx, argv); err != nil { // want `where byClient.create → Client.ContainerStart has failed`
			continue
		}
		return
	}
}
