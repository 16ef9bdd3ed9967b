package engine

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/docker/docker/api/types/image"
)

func (c *cli) image(ctx context.Context, ref string) (*image.InspectResponse, error) {
	out, err := c.call(ctx, c.limit.look, nil, "image", "inspect", ref)
	if err != nil {
		// The one thing that inspecting an image of an engine that answers can fail of.
		return nil, c.classify(ctx, err, func(context.Context) (bool, error) { return false, nil })
	}
	var one json.RawMessage
	if err := decodeFirst(out, &one); err != nil {
		return nil, err
	}
	return decodeImage(one)
}

// decodeImage reads what both programs print of an image, and Podman's own API answers.
func decodeImage(one []byte) (*image.InspectResponse, error) {
	// Podman's differs in fields that are not used, some of other types.
	var v struct {
		ID, Os, Architecture, Variant string
		RepoDigests                   []string
		Config                        struct {
			User, WorkingDir string
			Env              []string
			Healthcheck      *HealthConfig
		}
		// Podman has them beside Config.
		Healthcheck *HealthConfig
	}
	if err := json.Unmarshal(one, &v); err != nil {
		return nil, fmt.Errorf("reading the description of the image: %w", err)
	}
	i := &image.InspectResponse{ID: v.ID, Os: v.Os, Architecture: v.Architecture, Variant: v.Variant, RepoDigests: v.RepoDigests}
	i.Config = &imageConfig{}
	i.Config.User, i.Config.WorkingDir, i.Config.Env, i.Config.Healthcheck = v.Config.User, v.Config.WorkingDir, v.Config.Env, v.Config.Healthcheck
	if v.Healthcheck != nil {
		i.Config.Healthcheck = v.Healthcheck
	}
	return i, nil
}

// pull is bounded by ctx alone.
func (c *cli) pull(ctx context.Context, ref, platform string, progress func(string)) error {
	words := []string{"pull"}
	if platform != "" {
		words = append(words, "--platform", platform)
	}
	cmd := c.client(ctx, append(words, ref)...)
	says := capped{limit: maxSays}
	// Docker's program tells its progress on one stream and Podman's on the other.
	read, write := io.Pipe()
	cmd.Stdout, cmd.Stderr = write, io.MultiWriter(&says, write)
	told := make(chan struct{})
	go func() {
		defer close(told)
		for lines := bufio.NewScanner(read); lines.Scan(); {
			if progress != nil && strings.TrimSpace(lines.Text()) != "" {
				progress(lines.Text())
			}
		}
		_, _ = io.Copy(io.Discard, read) // past a line that is too long for one
	}()
	err := cmd.Run()
	_ = write.Close() // never fails: io.PipeWriter
	<-told
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return c.classify(ctx, &cliError{words: []string{"pull", ref}, says: strings.TrimSpace(says.String()), err: err}, nil)
}
