package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	cerrdefs "github.com/containerd/errdefs"
)

// Volumes and networks go by the same subcommands under another word.

func (c *cli) make(ctx context.Context, what, name string, labels map[string]string) error {
	words := []string{what, "create"}
	for _, l := range slices.Sorted(maps.Keys(labels)) {
		words = append(words, "--label", l+"="+labels[l])
	}
	if _, err := c.call(ctx, c.limit.change, nil, append(words, name)...); err != nil {
		return c.classify(ctx, err, nil)
	}
	return nil
}

func (c *cli) describe(ctx context.Context, what, name string) (found, error) {
	out, err := c.call(ctx, c.limit.look, nil, what, "inspect", name)
	if err != nil {
		return found{}, c.classify(ctx, err, c.listing(what, name))
	}
	var list []struct {
		Name   string
		Labels map[string]string
	}
	if err := json.Unmarshal(out, &list); err != nil {
		return found{}, fmt.Errorf("reading the program's answer: %w", err)
	}
	if len(list) == 0 {
		return found{}, fmt.Errorf("the %s %s: %w", what, name, cerrdefs.ErrNotFound)
	}
	return found{name: list[0].Name, labels: list[0].Labels}, nil
}

// listed is a not-found error where a list does not name it. The filters of the programs match a part of a name too.
func (c *cli) listed(ctx context.Context, what, name string) error {
	out, err := c.call(ctx, c.limit.look, nil, what, "ls", "--filter", "name="+name, "--format", "{{.Name}}")
	if err == nil && !slices.Contains(strings.Fields(string(out)), name) {
		err = fmt.Errorf("the %s %s: %w", what, name, cerrdefs.ErrNotFound)
	}
	return err
}

// listing asks whether a list names it.
func (c *cli) listing(what, name string) func(context.Context) (bool, error) {
	return func(ctx context.Context) (bool, error) {
		err := c.listed(ctx, what, name)
		if cerrdefs.IsNotFound(err) {
			return false, nil
		}
		return err == nil, err
	}
}

func (c *cli) drop(ctx context.Context, what, name string) error {
	if err := c.listed(ctx, what, name); cerrdefs.IsNotFound(err) {
		return err
	}
	if _, err := c.call(ctx, c.limit.change, nil, what, "rm", name); err != nil {
		return c.classify(ctx, err, c.listing(what, name))
	}
	return nil
}

func (c *cli) labelled(ctx context.Context, what, label string) ([]found, error) {
	return c.list(ctx, []string{what, "ls", "--filter", "label=" + label, "--format", "{{.Name}}"}, func(ctx context.Context, name string) (found, error) {
		return c.describe(ctx, what, name)
	})
}

func (c *cli) createVolume(ctx context.Context, name string, labels map[string]string) error {
	return c.make(ctx, "volume", name, labels)
}

func (c *cli) removeVolume(ctx context.Context, name string) error {
	return c.drop(ctx, "volume", name)
}

func (c *cli) findVolumes(ctx context.Context, label string) ([]found, error) {
	return c.labelled(ctx, "volume", label)
}

func (c *cli) createNetwork(ctx context.Context, name string, labels map[string]string) error {
	return c.make(ctx, "network", name, labels)
}

func (c *cli) resolves(ctx context.Context, name string) (bool, error) {
	if !c.isPodman() {
		return true, nil
	}
	out, err := c.call(ctx, c.limit.look, nil, "network", "inspect", name)
	if err != nil {
		return false, c.classify(ctx, err, nil)
	}
	var n podmanNetwork
	if err := decodeFirst(out, &n); err != nil {
		return false, err
	}
	return n.Names, nil
}

func (c *cli) removeNetwork(ctx context.Context, name string) error {
	return c.drop(ctx, "network", name)
}

func (c *cli) findNetworks(ctx context.Context, label string) ([]found, error) {
	return c.labelled(ctx, "network", label)
}
